#!/usr/bin/env python3
"""Expand the shorthand phrase lists in lists/*.txt into the plain lists *.tsv.

A line of shorthand is `source ;; source => answer | answer`, where an answer may hold alternatives {a/b}
and optional parts [a], nested. The plain list has one line per source: source TAB answer | answer.
Both apostrophes (' and ’) are accepted, and an English contraction stands for its full form too.
"""
import re
import sys
from pathlib import Path

from check import normalise

HERE = Path(__file__).resolve().parent
FULL_FORMS = [
    ("I'm", "I am"), ("you're", "you are"), ("we're", "we are"), ("they're", "they are"), ("it's", "it is"),
    ("that's", "that is"), ("what's", "what is"), ("where's", "where is"), ("how's", "how is"), ("he's", "he is"),
    ("she's", "she is"), ("there's", "there is"), ("who's", "who is"), ("here's", "here is"), ("don't", "do not"),
    ("doesn't", "does not"), ("didn't", "did not"), ("isn't", "is not"), ("aren't", "are not"), ("can't", "cannot"),
    ("couldn't", "could not"), ("won't", "will not"), ("I'd", "I would"), ("we'd", "we would"), ("I'll", "I will"),
    ("we'll", "we will"), ("I've", "I have"), ("we've", "we have"), ("haven't", "have not"),
    ("wasn't", "was not"), ("when's", "when is"),
]


def alternatives(text):
    """All the readings of `text`, in order."""
    out, rest = parse(text, 0, "")
    if rest != len(text):
        raise ValueError(f"unbalanced brackets: {text}")
    return out


def parse(text, at, stops):
    done, now = [], [""]
    while at < len(text) and text[at] not in stops:
        if text[at] in "{[":
            close = "}" if text[at] == "{" else "]"
            inner, start = [], at
            while True:
                part, at = parse(text, at + 1, "/" + close)
                inner += part
                if at >= len(text):
                    raise ValueError(f"no end of {text[start:]}")
                if text[at] == close:
                    break
            at += 1
            if close == "]":
                inner.append("")
            now = [a + b for a in now for b in inner]
        else:
            now = [a + text[at] for a in now]
            at += 1
    return done + now, at


def with_full_forms(answer):
    forms = [answer]
    for short, full in FULL_FORMS:
        pattern = re.compile(rf"\b{short}\b", re.IGNORECASE)
        for form in list(forms):
            for found in pattern.finditer(form):
                long = full[0].upper() + full[1:] if found.group()[0].isupper() else full
                forms.append(form[: found.start()] + long + form[found.end() :])
    return forms


def expand(path, english):
    rows, seen_sources = [], set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            sources, answers = line.split(" => ")
            readings = [a for part in answers.split(" | ") for a in alternatives(part.strip())]
        except ValueError as error:
            sys.exit(f"{path}:{number}: {error}")
        accepted = {}
        for reading in readings:
            reading = " ".join(reading.split()).replace(" ,", ",").replace(" ?", "?").replace(" !", "!")
            for form in with_full_forms(reading) if english else [reading]:
                for variant in (form, form.replace("'", "’")):
                    accepted.setdefault(normalise(variant), variant)
        for source in sources.split(" ;; "):
            if source in seen_sources:
                sys.exit(f"{path}:{number}: {source} is there twice")
            seen_sources.add(source)
            rows.append(source + "\t" + " | ".join(accepted.values()))
    return rows


def main():
    for name in ("dev-en-de", "guard-en-de", "dev-de-en", "guard-de-en"):
        rows = expand(HERE / "lists" / f"{name}.txt", english=name.endswith("-en"))
        (HERE / f"{name}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        print(f"{name}: {len(rows)} sources, {sum(r.count(' | ') + 1 for r in rows)} answers")


if __name__ == "__main__":
    main()
