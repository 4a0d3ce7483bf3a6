#!/usr/bin/env python3
"""Share of accepted translations: check.py LIST.tsv TRANSLATIONS [--quiet] [--train SOURCES]...

LIST has one line per source: source TAB answer | answer. TRANSLATIONS has one line per source, in order.
Two texts are equal if they are so after Unicode NFC, case folding, collapse of white space and removal of leading
and trailing punctuation. With --train (a file of training sources, plain or .gz, repeatable) the share is also given
for the phrases that are in the training data and for those that are not.
"""
import argparse
import gzip
import sys
import unicodedata


def normalise(text):
    """NFC, case-folded, one space between words, no punctuation or white space at the ends."""
    text = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    start, end = 0, len(text)
    while start < end and strippable(text[start]):
        start += 1
    while end > start and strippable(text[end - 1]):
        end -= 1
    # A text of nothing but punctuation stays as it is.
    return text[start:end] or text


def strippable(character):
    return character == " " or unicodedata.category(character).startswith("P")


def read_list(path):
    """[(source, [answer])]"""
    rows = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            source, tab, answers = line.rstrip("\r\n").partition("\t")
            if not tab:
                sys.exit(f"{path}:{number}: no tab")
            rows.append((source, answers.split(" | ")))
    return rows


def read_lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as lines:
        return [line.rstrip("\r\n") for line in lines]


def share(name, verdicts):
    accepted = sum(verdicts)
    print(f"{name}{accepted} of {len(verdicts)} accepted ({100 * accepted / max(1, len(verdicts)):.1f} %)")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("list")
    options.add_argument("translations")
    options.add_argument("--quiet", action="store_true", help="print no rejected translations")
    options.add_argument("--train", action="append", default=[], metavar="SOURCES")
    options = options.parse_args()
    rows, translations = read_list(options.list), read_lines(options.translations)
    if len(rows) != len(translations):
        sys.exit(f"{len(rows)} sources, but {len(translations)} translations")
    verdicts = []
    for (source, answers), translation in zip(rows, translations):
        verdicts.append(normalise(translation) in {normalise(a) for a in answers})
        if not verdicts[-1] and not options.quiet:
            more = " | …" if len(answers) > 3 else ""
            print(f"{source}\t{translation}\t(accepted: {' | '.join(answers[:3])}{more})")
    share("", verdicts)
    if options.train:
        trained = {normalise(line) for path in options.train for line in read_lines(path)}
        seen = [normalise(source) in trained for source, _ in rows]
        share("in the training data: ", [v for v, s in zip(verdicts, seen) if s])
        share("not in it: ", [v for v, s in zip(verdicts, seen) if not s])


if __name__ == "__main__":
    main()
