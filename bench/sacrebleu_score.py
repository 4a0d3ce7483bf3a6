"""Scores the 21 published outputs with padir and with sacrebleu: how much faster, how different?

Command line against command line, alternating, in one run; the best of several rounds for each
case. The expected scores of `expected_bleu.tsv` are checked as well.

Requirements: sacrebleu==2.6.0 (in the Python that runs this), cargo build --release
Data:         bleu-cases and wmt-tests below ../shared/data or $PADIR_DATA
Run:          python bench/sacrebleu_score.py [--rounds 3] [--metrics bleu|chrf|ter]
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFERENCES = {
    "wmt16-en-ro": "ro-en/newstest2016.ro.gz",
    "wmt16-ro-en": "ro-en/newstest2016.en.gz",
    "wmt17-en-de": "en-de-wmt17/newstest2017.de.gz",
    "wmt17-en-zh": "zh-en/newstest2017.zh.gz",
    "wmt17-zh-en": "zh-en/newstest2017.en.gz",
}


def timed(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "NO_COLOR": "1"})
    return time.perf_counter() - start, json.loads(done.stdout)


def inside(cases, metric):
    """Seconds sacrebleu spends on scoring alone: no start, no reading."""
    import gzip

    from sacrebleu.metrics import METRICS

    total = 0.0
    for reference, hypothesis, tokenizer in cases:
        lines = [gzip.open(p, "rt", encoding="utf-8", newline="\n").read().split("\n")[:-1] for p in (reference, hypothesis)]
        options = {"tokenize": tokenizer} if metric == "bleu" else {}
        start = time.perf_counter()
        METRICS[metric.upper()](**options).corpus_score(lines[1], [lines[0]])
        total += time.perf_counter() - start
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--metrics", default="bleu", choices=("bleu", "chrf", "ter"))
    parser.add_argument("--padir", default=os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")) + "/release/padir")
    parser.add_argument("--cases", type=int, default=21)
    args = parser.parse_args()
    data = Path(os.environ.get("PADIR_DATA", ROOT.parent / "shared" / "data"))
    table = data / "bleu-cases" / "expected_bleu.tsv"
    if not table.exists():
        sys.exit(f"{table} is absent: nothing to measure")
    sacrebleu = shutil.which("sacrebleu", path=os.path.dirname(sys.executable)) or "sacrebleu"

    totals = {"padir": 0.0, "sacrebleu": 0.0}
    worst = 0.0
    pairs = []
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))[: args.cases]
    for row in rows:
        reference = data / "wmt-tests" / REFERENCES[row["system"].split("/")[0]]
        hypothesis = data / "bleu-cases" / (row["system"] + ".gz")
        pairs.append((reference, hypothesis, row["tok"]))
        commands = {
            "padir": [args.padir, "score", reference, hypothesis, "--metrics", args.metrics,
                      "--tokenize", row["tok"], "--width", "9", "--json"],
            "sacrebleu": [sacrebleu, reference, "-i", hypothesis, "-m", args.metrics,
                          "-tok", row["tok"], "-w", "9"],
        }
        best, scores = {}, {}
        for _ in range(args.rounds):
            for tool, command in commands.items():
                seconds, result = timed(list(map(str, command)))
                best[tool] = min(seconds, best.get(tool, seconds))
                scores[tool] = result["score"]
        difference = abs(scores["padir"] - scores["sacrebleu"])
        worst = max(worst, difference)
        for tool in totals:
            totals[tool] += best[tool]
        expected = row["sacrebleu_2.6.0"] if args.metrics == "bleu" else ""
        note = "" if not expected or f"{scores['padir']:.4f}" == expected else f"  EXPECTED {expected}"
        print(f"{row['system']:55} {scores['padir']:9.4f}  padir {best['padir'] * 1e3:7.1f} ms  "
              f"sacrebleu {best['sacrebleu'] * 1e3:7.1f} ms  x{best['sacrebleu'] / best['padir']:.1f}{note}")
    print(f"all: padir {totals['padir']:.3f} s, sacrebleu {totals['sacrebleu']:.3f} s, "
          f"ratio {totals['sacrebleu'] / totals['padir']:.1f}, largest score difference {worst:.1e}")
    alone = inside(pairs, args.metrics)
    print(f"sacrebleu's scoring alone, without start and reading: {alone:.3f} s, "
          f"{alone / totals['padir']:.1f} times padir's whole processes")


main()
