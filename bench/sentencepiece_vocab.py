"""padir vocab against the reference SentencePiece: training, quality and encoding, in one run.

    pip install sentencepiece==0.2.2
    cargo build --release
    python bench/sentencepiece_vocab.py target/release/padir TRAIN_TEXT... --held-out TEXT... [--sizes 8000 32000]

Texts may be .gz. Both tools train on the same plain files with 2 threads and the same settings,
then encode the training text with the reference's model. Reported: wall time of training
(command line against Python call, reading included), tokens of the held-out text under each
tool's own model, and wall time of encoding, where the reference is timed inside Python without
reading, start-up or printing, and ours as a whole process that also reads and prints.
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import time

import sentencepiece


def plain(paths, directory):
    found = []
    for index, path in enumerate(paths):
        target = f"{directory}/{index}-{os.path.basename(path).removesuffix('.gz')}"
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rb") as source, open(target, "wb") as sink:
            shutil.copyfileobj(source, sink)
        found.append(target)
    return found


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("padir")
    parser.add_argument("train", nargs="+")
    parser.add_argument("--held-out", nargs="+", required=True)
    parser.add_argument("--sizes", nargs="+", type=int, default=[8000, 32000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    report = []
    with tempfile.TemporaryDirectory() as directory:
        train = plain(options.train, directory)
        held_out = plain(options.held_out, directory)
        lines = [line for path in train for line in open(path, encoding="utf-8", newline="\n").read().split("\n")[:-1]]
        held_lines = [line for path in held_out for line in open(path, encoding="utf-8", newline="\n").read().split("\n")[:-1]]
        for size in options.sizes:
            prefix, ours = f"{directory}/sp{size}", f"{directory}/padir{size}"
            theirs_seconds, _ = timed(lambda: sentencepiece.SentencePieceTrainer.train(
                input=train, model_prefix=prefix, vocab_size=size, pad_id=0, eos_id=1, unk_id=2, bos_id=3,
                max_sentence_length=100000, num_threads=2, minloglevel=2))
            ours_seconds, _ = timed(lambda: subprocess.run(
                [options.padir, "vocab", "train", *train, "--size", str(size), "--output", ours, "--threads", "2", "-q"],
                check=True))
            reference = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
            trained = sentencepiece.SentencePieceProcessor(model_file=f"{ours}/spiece.model")
            count = lambda model: sum(map(len, model.encode(held_lines, num_threads=2)))
            theirs_tokens, ours_tokens = count(reference), count(trained)
            encode = [options.padir, "vocab", "encode", "--vocab", f"{prefix}.model", "--threads", "2", *train]
            theirs_encode = min(timed(lambda: reference.encode(lines, num_threads=2))[0] for _ in range(options.repeats))
            ours_encode = min(timed(lambda: subprocess.run(encode, check=True, stdout=subprocess.DEVNULL))[0]
                              for _ in range(options.repeats))
            row = {
                "size": size,
                "train_seconds": {"sentencepiece": theirs_seconds, "padir": ours_seconds,
                                  "ratio": theirs_seconds / ours_seconds},
                "held_out_tokens": {"sentencepiece": theirs_tokens, "padir": ours_tokens,
                                    "excess_percent": 100 * (ours_tokens / theirs_tokens - 1)},
                "encode_seconds": {"sentencepiece": theirs_encode, "padir": ours_encode,
                                   "ratio": theirs_encode / ours_encode},
            }
            report.append(row)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
