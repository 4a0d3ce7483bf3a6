"""Compare `padir vocab` with the reference SentencePiece, line by line.

    pip install sentencepiece==0.2.2 tokenizers==0.23.3
    python reference/vocab/fidelity.py PADIR MODEL [TEXT ...] [--adversarial N] [--tokenizer-json FILE]

For every line of every text (plain or .gz), and for N generated lines of nasty Unicode, the ids
of `PADIR vocab encode --vocab MODEL` must equal those of SentencePiece for the same `.model`, and
decoding those ids must give the same text. With --tokenizer-json the ids of that file under the
`tokenizers` library are compared too (reported, not required: that library breaks ties and
unknown runs differently). Exit code 1 on any difference.
"""

import argparse
import gzip
import random
import subprocess
import sys
import tempfile

import sentencepiece

NASTY = [
    " ", "  ", "\t", "\u00a0", "\u3000", "\u2581", "\u2581\u2581", "\u200b", "\u200c", "\u200d",
    "\u200e", "\ufeff", "\ufffd", "\u00ad", "\x01", "\x07", "\x1f", "\x7f", "\x85", "\u2028",
    "e\u0301", "a\u0308", "u\u0308\u0304", "\u0344", "\u1e9b\u0323", "\ufb01", "\ufb03", "\u2026",
    "\u2103", "\u2460", "\u33a1", "\uff21", "\uff5e", "\uff76\uff9e", "\u304b\u3099", "\u1100\u1161\u11a8",
    "\uac00", "\u0e33", "\u0f77", "\u1f82", "\U0001d400", "\U0001f600", "\U0001f468\u200d\U0001f469",
    "\u0130", "\u00df", "\u017f", "\u03a3", "\u0345", "<unk>", "<s>", "</s>", "<pad>", "<0x41>",
    "\u2047", "\u2585", "\u4e2d\u6587", "\u0627\u0644", "\ufdfa", "\ue000", "\U0010fffd", "the", "The", "Haus",
    "\u00e4", "\u00f6\u00fc", "1", "23", "4.5", ",", "-", "'", '"', "\\", "&amp;",
]


def adversarial(count: int):
    rng = random.Random(20261115)
    for index in range(count):
        parts = []
        for _ in range(rng.randrange(0, 30)):
            if rng.random() < 0.7:
                parts.append(rng.choice(NASTY))
            else:
                while True:
                    code = rng.choice([rng.randrange(1, 0x250), rng.randrange(1, 0x3100), rng.randrange(1, 0x110000)])
                    if not 0xD800 <= code <= 0xDFFF and code != 0x0A:
                        break
                parts.append(chr(code))
        yield "".join(parts).replace("\r", "")


def lines_of(path: str):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r").decode("utf-8") for line in lines]


def run(padir: str, arguments: list, lines: list):
    with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
        file.write("".join(line + "\n" for line in lines).encode("utf-8"))
        file.flush()
        out = subprocess.run([padir, "vocab", *arguments, file.name], capture_output=True, check=True)
    return out.stdout.decode("utf-8").split("\n")[:-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("padir")
    parser.add_argument("model")
    parser.add_argument("texts", nargs="*")
    parser.add_argument("--adversarial", type=int, default=0)
    parser.add_argument("--tokenizer-json")
    options = parser.parse_args()
    reference = sentencepiece.SentencePieceProcessor(model_file=options.model)
    tokenizer = None
    if options.tokenizer_json:
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_file(options.tokenizer_json)
    jobs = [(path, lines_of(path)) for path in options.texts]
    if options.adversarial:
        jobs.append(("adversarial", list(adversarial(options.adversarial))))
    failures = 0
    for name, lines in jobs:
        expected = reference.encode(lines, out_type=int, num_threads=2)
        found = run(options.padir, ["encode", "--vocab", options.model], lines)
        found = [[int(id) for id in line.split()] for line in found]
        assert len(found) == len(lines), (name, len(found), len(lines))
        wrong = [i for i in range(len(lines)) if found[i] != expected[i]]
        for i in wrong[:3]:
            print(f"{name}:{i + 1}: {lines[i]!r}\n  padir     {found[i]}\n  reference {expected[i]}")
        decoded = run(options.padir, ["decode", "--json", "--vocab", options.model],
                      [" ".join(map(str, ids)) for ids in expected])
        import json

        texts = reference.decode(expected)
        bad = [i for i in range(len(lines)) if json.loads(decoded[i]) != texts[i]]
        for i in bad[:3]:
            print(f"{name}:{i + 1}: decoded {decoded[i]!r}, reference {texts[i]!r}")
        failures += len(wrong) + len(bad)
        note = ""
        if tokenizer is not None:
            theirs = [e.ids[:-1] for e in tokenizer.encode_batch(lines)]
            note = f", {sum(a != b for a, b in zip(theirs, expected))} differ under tokenizers"
        print(f"{name}: {len(lines)} lines, {len(wrong)} encoded and {len(bad)} decoded differently{note}", flush=True)
    print(f"{failures} differences")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
