"""Writes what sacrebleu says, for crates/score to say the same.

Requirements: Python 3.11 (Unicode 14), sacrebleu==2.6.0, numpy==2.4.6, regex==2026.11.9
Run:          python reference/score/golden.py [codepoints|segments|significance]...
More cases:   python reference/score/golden.py segments --cases 100000 --seed 7 --out /tmp/big.json
              PADIR_SCORE_SEGMENTS=/tmp/big.json cargo test -p padir-score --test golden segments
"""

import argparse
import hashlib
import json
import os
import random
import sys
from pathlib import Path

import numpy
import regex
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

import sampling

HERE = Path(__file__).parent
ORIGIN = {
    "python": ".".join(map(str, sys.version_info[:3])),
    "sacrebleu": sacrebleu.__version__,
    "numpy": numpy.__version__,
    "regex": regex.__version__,
}

BLEU_TOKENIZERS = ("13a", "intl", "zh", "char", "none")
TERCOM = (
    {},
    {"normalized": True},
    {"no_punct": True},
    {"normalized": True, "asian_support": True},
    {"normalized": True, "no_punct": True},
    {"no_punct": True, "asian_support": True, "case_sensitive": True},
    {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True},
)


def write(path, value):
    """One line for each element of a list, so that a change shows where it is."""
    lines = []
    for key, item in value.items():
        if isinstance(item, list):
            rows = ",\n".join(json.dumps(row, ensure_ascii=True, separators=(",", ":")) for row in item)
            lines.append(f"{json.dumps(key)}:[\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}:{json.dumps(item)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


# Every character of Unicode through every tokeniser, in contexts that make a difference.
CHUNK = 8192


def context(c):
    return f"{c} a{c}b 1{c}2 {c}{c} .{c}, x{c}.5 3.{c} A{c}\u03a3 A\u03a3{c}B \u4e2d{c}'s {c}-1{c}- end{c}"


def codepoints(out):
    functions = [(f"bleu {n}", _get_tokenizer(n)()) for n in BLEU_TOKENIZERS]
    functions = [(n, lambda s, t=t: t(s.rstrip()).split()) for n, t in functions]
    functions.append(("lower", lambda s: [s.lower()]))
    for options in TERCOM:
        name = "tercom" + "".join(f" {key}" for key in options)
        tokenizer = TercomTokenizer(**options)
        functions.append((name, lambda s, t=tokenizer: t(s.rstrip()).split()))
    rows = []
    for name, function in functions:
        hashes = []
        for start in range(0, sys.maxunicode + 1, CHUNK):
            digest = hashlib.sha256()
            for code in range(start, start + CHUNK):
                if not 0xD800 <= code < 0xE000:
                    digest.update("\n".join(function(context(chr(code)))).encode())
                    digest.update(b"\0")
            hashes.append(digest.hexdigest()[:16])
        rows.append([name, hashes])
    write(out or HERE / "codepoints.json", {"origin": ORIGIN, "chunk": CHUNK, "functions": rows})


def metrics():
    """(settings as padir spells them, the metric)"""
    found = []
    for tokenizer in BLEU_TOKENIZERS:
        for lowercase in (False, True):
            case = "lc" if lowercase else "mixed"
            found.append(
                (
                    {"bleu": {"tokenizer": tokenizer, "case": case, "effective_order": True}},
                    BLEU(tokenize=tokenizer, lowercase=lowercase, effective_order=True),
                )
            )
    smoothings = (
        ({"method": "none"}, "none", None),
        ({"method": "floor", "value": 0.1}, "floor", None),
        ({"method": "floor", "value": 0.3}, "floor", 0.3),
        ({"method": "add-k", "value": 1.0}, "add-k", None),
        ({"method": "add-k", "value": 0.5}, "add-k", 0.5),
        ({"method": "exp"}, "exp", None),
    )
    for smoothing, method, value in smoothings:
        for effective in (False, True):
            settings = {"smoothing": smoothing, "effective_order": effective}
            bleu = BLEU(smooth_method=method, smooth_value=value, effective_order=effective)
            found.append(({"bleu": settings}, bleu))
    found.append(({"bleu": {"max_order": 2}}, BLEU(max_ngram_order=2)))
    found.append(({"bleu": {"max_order": 6}}, BLEU(max_ngram_order=6)))
    for settings in (
        {},
        {"word_order": 2},
        {"word_order": 1, "beta": 3, "char_order": 4},
        {"lowercase": True, "word_order": 2},
        {"whitespace": True},
        {"eps_smoothing": True, "word_order": 2, "whitespace": True},
        {"eps_smoothing": True, "beta": 1},
        {"char_order": 0, "word_order": 2},
    ):
        ours = dict(settings)
        if ours.pop("lowercase", False):
            ours["case"] = "lc"
        found.append(({"chrf": ours}, CHRF(**settings)))
    for settings in TERCOM:
        found.append(({"ter": settings}, TER(**settings)))
    return found


def plain(number):
    return int(number) if float(number).is_integer() else float(number)


def segments(out, cases, seed):
    rng = random.Random(seed)
    rows = []
    chosen = metrics()
    for _ in range(cases):
        hypothesis, references = sampling.segment(rng)
        streams = [[r] for r in references]
        found = []
        for _, metric in chosen:
            statistics = metric._extract_corpus_statistics([hypothesis], streams)
            score = metric._aggregate_and_compute([list(statistics[0])]).score
            found.append([[plain(s) for s in statistics[0]], float(score)])
        rows.append([hypothesis, references, found])
    # The statistics of one segment take much room; most files keep only their hash.
    for row in rows:
        text = ";".join(",".join(map(repr_number, s)) for s, _ in row[2])
        row[2] = [hashlib.sha256(text.encode()).hexdigest()[:16], [round(s, 9) for _, s in row[2]]]
    settings = [s for s, _ in chosen]
    # Sums over the whole corpus, with a variable number of references.
    most = max(len(r) for _, r, _ in rows)
    streams = [[r[i] if i < len(r) else None for _, r, _ in rows] for i in range(most)]
    corpus = []
    for _, metric in chosen:
        metric._ref_cache = None
        score = metric.corpus_score([h for h, _, _ in rows], streams)
        corpus.append([float(score.score), score.format(4, False, str(metric.get_signature()))])
    # One score takes ten characters; a few metrics per segment are enough, statistics tell all.
    for row in rows:
        row[2][1] = row[2][1][:: 7]
    value = {"origin": ORIGIN, "metrics": settings, "corpus": corpus, "segments": rows}
    write(out or HERE / "segments.json", value)


def repr_number(number):
    return repr(plain(number))


def significance(out):
    rng = random.Random(5)
    references = [[sampling.wordy(rng, rng.randrange(3, 20)) for _ in range(37)] for _ in range(2)]
    hypotheses = [sampling.mutate(rng, r) for r in references[0]]
    systems = [hypotheses]
    for share in (0.5, 0.12):
        changed = [sampling.mutate(rng, h) if rng.random() < share else h for h in hypotheses]
        systems.append(changed)
    rows = []
    for nrefs in (1, 2):
        chosen = [
            ({"bleu": {}}, BLEU),
            ({"bleu": {"smoothing": {"method": "add-k", "value": 1.0}}}, lambda **k: BLEU(smooth_method="add-k", **k)),
            ({"bleu": {"smoothing": {"method": "floor", "value": 0.1}}}, lambda **k: BLEU(smooth_method="floor", **k)),
            ({"chrf": {}}, CHRF),
            ({"chrf": {"word_order": 2}}, lambda **k: CHRF(word_order=2, **k)),
            ({"chrf": {"eps_smoothing": True}}, lambda **k: CHRF(eps_smoothing=True, **k)),
            ({"ter": {}}, TER),
        ]
        for settings, make in chosen:
            for seed, samples in ((12345, 1000), (7, 129), (1099511627781, 20)):
                os.environ["SACREBLEU_SEED"] = str(seed)
                metric = make(references=references[:nrefs])
                score = metric.corpus_score(systems[0], None, n_bootstrap=samples)
                row = {"metric": settings, "nrefs": nrefs, "seed": seed, "samples": samples}
                row["confidence"] = [float(score._mean), float(score._ci)]
                row["signature"] = str(metric.get_signature()).rsplit("|", 1)[0]
                named = [(str(i), s) for i, s in enumerate(systems)]
                for kind, intervals in (("bs", -1), ("ar", -1), ("ar", 50)):
                    test = PairedTest(named, {"m": make(references=references[:nrefs])}, None, kind, samples, intervals)
                    signatures, scores = test()
                    name = [k for k in scores if k != "System"][0]
                    key = kind + ("_intervals" if intervals > 0 else "")
                    row[key] = [
                        [None if v is None else float(v) for v in (r.score, r.p_value, r.mean, r.ci)]
                        for r in scores[name]
                    ]
                    row[key + "_signature"] = str(signatures[name]).rsplit("|", 1)[0]
                rows.append(row)
    value = {"origin": ORIGIN, "references": references, "systems": systems, "cases": rows}
    write(out or HERE / "significance.json", value)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["codepoints", "segments", "significance"])
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    for what in args.what:
        if what == "codepoints":
            codepoints(args.out)
        elif what == "segments":
            segments(args.out, args.cases, args.seed)
        elif what == "significance":
            significance(args.out)
        else:
            parser.error(f"unknown: {what}")


main()
