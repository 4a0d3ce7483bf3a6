"""Make crates/text/tests/data/sentencepiece.json: what SentencePiece does with small models.

    pip install sentencepiece==0.2.2 protobuf
    python reference/vocab/golden.py crates/text/tests/data/sentencepiece.json

The text is made up here. Each model is stored as its pieces and switches; its compiled rule is
not, because the test uses our own (rule.py compares the two; their digest is stored here).
"""

import hashlib
import json
import random
import sys
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from fidelity import adversarial
from rule import replacements

WORDS = """ein eine der die das und oder nicht haus häuser straße schöne größer mädchen the a an and or
not house houses street beautiful bigger girl running runner ran übermorgen vorgestern zwei drei vier
fünf one two three four five straßenbahn house-boat don't café naïve 12 2024 3.14 100% x² ½""".split()

VARIANTS = {
    "plain": {},
    "bytes": {"byte_fallback": True},
    "symbols": {"user_defined_symbols": ["<ud>", "&amp;", "the"], "control_symbols": ["<ctl>"]},
    "spaces": {"remove_extra_whitespaces": False, "add_dummy_prefix": False},
    "suffix": {"treat_whitespace_as_suffix": True},
}


def sentences(count):
    rng = random.Random(7)
    return [" ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 12))) for _ in range(count)]


def model_of(path):
    model = sentencepiece_model_pb2.ModelProto()
    with open(path, "rb") as file:
        model.ParseFromString(file.read())
    return model


def digest(rule):
    text = "".join(f"{key}\t{rule[key]}\n" for key in sorted(rule, key=lambda k: k.encode()))
    return hashlib.sha256(text.encode()).hexdigest()


def main():
    models = []
    rng = random.Random(11)
    with tempfile.TemporaryDirectory() as directory:
        text = f"{directory}/text"
        with open(text, "w") as file:
            file.write("\n".join(sentences(2000)) + "\n")
        for name, settings in VARIANTS.items():
            prefix = f"{directory}/{name}"
            sentencepiece.SentencePieceTrainer.train(
                input=text, model_prefix=prefix, vocab_size=600, hard_vocab_limit=False, pad_id=0,
                eos_id=1, unk_id=2, bos_id=3, minloglevel=2, **settings)
            processor = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
            model = model_of(f"{prefix}.model")
            lines = sentences(30) + list(adversarial(150))
            ids = processor.encode(lines, out_type=int)
            shuffled = [[rng.randrange(len(model.pieces)) for _ in range(rng.randrange(0, 9))] for _ in range(60)]
            models.append({
                "name": name,
                "pieces": [[p.piece, p.score, p.type] for p in model.pieces],
                "add_dummy_prefix": model.normalizer_spec.add_dummy_prefix,
                "remove_extra_whitespaces": model.normalizer_spec.remove_extra_whitespaces,
                "whitespace_as_suffix": model.trainer_spec.treat_whitespace_as_suffix,
                "byte_fallback": model.trainer_spec.byte_fallback,
                "encoded": [[line, i, processor.decode(i)] for line, i in zip(lines, ids)],
                "decoded": [[i, processor.decode(i)] for i in shuffled],
            })
        rule = replacements(f"{directory}/plain.model")
    golden = {
        "made_by": f"reference/vocab/golden.py, sentencepiece {sentencepiece.__version__}",
        "rule": {"name": "nmt_nfkc", "replacements": len(rule), "sha256": digest(rule)},
        "models": models,
    }
    with open(sys.argv[1], "w") as file:
        json.dump(golden, file, ensure_ascii=True, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
