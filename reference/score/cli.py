"""Writes cli.json: what the sacrebleu command prints, for `padir score` to print the same.

Requirements: as golden.py; `sacrebleu` beside the Python that runs this
Run:          python reference/score/cli.py
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import sampling

HERE = Path(__file__).parent
SACREBLEU = Path(sys.executable).with_name("sacrebleu")

# (name, arguments of padir, arguments of sacrebleu); sacrebleu takes the systems after -i.
CASES = [
    ("bleu as text", "ref a", "ref -i a -f text"),
    ("bleu as json", "ref a --json", "ref -i a"),
    ("four decimals", "ref a -w 4", "ref -i a -f text -w 4"),
    ("score only", "ref a -b -m bleu,chrf,ter", "ref -i a -f text -b -m bleu chrf ter"),
    ("three metrics", "ref a -m ter,chrf,bleu", "ref -i a -f text -m ter chrf bleu"),
    ("three metrics as json", "ref a -m ter,chrf,bleu --json", "ref -i a -m ter chrf bleu"),
    ("short signature", "ref a --short -m bleu,chrf,ter", "ref -i a -f text --short -m bleu chrf ter"),
    ("two references", "ref --ref ref2 a -m bleu,chrf,ter -w 3", "ref ref2 -i a -f text -m bleu chrf ter -w 3"),
    ("references between tabs", "tabs a --num-refs 2", "tabs -i a -f text -nr 2"),
    ("lowercase intl floor", "ref a --lowercase --tokenize intl --smooth-method floor",
     "ref -i a -f text -lc -tok intl -s floor"),
    ("add-k value", "ref a --smooth-method add-k --smooth-value 0.25", "ref -i a -f text -s add-k -sv 0.25"),
    ("no smoothing, char", "ref a --smooth-method none --tokenize char", "ref -i a -f text -s none -tok char"),
    ("zh", "ref a --tokenize zh", "ref -i a -f text -tok zh"),
    ("chrf options", "ref a -m chrf --chrf-word-order 2 --chrf-beta 3 --chrf-char-order 4 --chrf-lowercase --chrf-whitespace --chrf-eps-smoothing",
     "ref -i a -f text -m chrf --chrf-word-order 2 --chrf-beta 3 --chrf-char-order 4 --chrf-lowercase --chrf-whitespace --chrf-eps-smoothing"),
    ("chrf++", "ref a -m chrf++", "ref -i a -f text -m chrf --chrf-word-order 2"),
    ("ter options", "ref a -m ter --ter-normalized --ter-no-punct --ter-asian-support --ter-case-sensitive",
     "ref -i a -f text -m ter --ter-normalized --ter-no-punct --ter-asian-support --ter-case-sensitive"),
    ("confidence", "ref a --confidence -m bleu,chrf,ter -w 2", "ref -i a -f text --confidence -m bleu chrf ter -w 2"),
    ("confidence as json", "ref a --confidence -m bleu,chrf --samples 100 --json",
     "ref -i a --confidence -m bleu chrf --confidence-n 100"),
    ("sentences", "ref a --sentence", "ref -i a --sentence-level"),
    ("sentence scores", "ref a --sentence -m ter -b -w 3", "ref -i a --sentence-level -m ter -b -w 3"),
    ("several systems", "ref a b c -m ter,bleu,chrf", "ref -i a b c -f text -m ter bleu chrf"),
    ("several systems as json", "ref a b c -m ter,bleu,chrf --json", "ref -i a b c -m ter bleu chrf"),
    ("paired bootstrap", "ref a b c -m ter,bleu,chrf --paired bs", "ref -i a b c -f text -m ter bleu chrf --paired-bs"),
    ("paired bootstrap as json", "ref a b c --paired bs --json --samples 200", "ref -i a b c --paired-bs --paired-bs-n 200"),
    ("randomisation", "ref a b c -m chrf,bleu --paired ar --samples 500",
     "ref -i a b c -f text -m chrf bleu --paired-ar --paired-ar-n 500"),
    ("randomisation as json", "ref a b -m bleu,ter --paired ar --samples 500 --json",
     "ref -i a b -m bleu ter --paired-ar --paired-ar-n 500"),
]


def page(output):
    """The table and the signatures, without the explanation between them."""
    if not output.startswith("╒"):
        return output
    table, _, rest = output.partition("\n\n")
    return table + "\n\n" + rest[rest.index("-----------------\nMetric signatures"):]


def main():
    rng = random.Random(3)
    ref = [sampling.wordy(rng, rng.randrange(3, 18)) for _ in range(22)] + ["中国 的 Haus 3.5", ""]
    files = {"ref": ref, "ref2": [sampling.mutate(rng, r) for r in ref]}
    files["a"] = [sampling.mutate(rng, r) for r in ref]
    files["b"] = [sampling.mutate(rng, h) for h in files["a"]]
    files["c"] = [h if rng.random() < 0.8 else sampling.mutate(rng, h) for h in files["a"]]
    files["tabs"] = ["\t".join(pair) for pair in zip(files["ref"][:-1], files["ref2"][:-1])] + ["x\ty"]
    texts = {name: "".join(line + "\n" for line in lines) for name, lines in files.items()}
    found = []
    with tempfile.TemporaryDirectory() as directory:
        for name, text in texts.items():
            Path(directory, name).write_text(text, encoding="utf-8", newline="\n")
        for name, ours, theirs in CASES:
            done = subprocess.run(
                [SACREBLEU, *theirs.split(), "-q", "--no-color"],
                cwd=directory, capture_output=True, encoding="utf-8", check=True,
                env={**os.environ, "NO_COLOR": "1"},
            )
            found.append({"name": name, "padir": ours.split(), "stdout": page(done.stdout)})
    value = {"origin": "sacrebleu 2.6.0", "files": texts, "cases": found}
    (HERE / "cli.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"cli.json: {(HERE / 'cli.json').stat().st_size} bytes")


main()
