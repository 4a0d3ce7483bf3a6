"""Train small SentencePiece models with unusual settings, for fidelity.py.

    pip install sentencepiece==0.2.2
    python reference/vocab/variants.py TEXT OUTPUT_DIRECTORY
"""

import os
import sys

import sentencepiece

VARIANTS = {
    "plain": {},
    "bytes": {"byte_fallback": True},
    "symbols": {"user_defined_symbols": ["<ud>", "ab c", "&amp;", "the", "1"], "control_symbols": ["<ctl>"]},
    "spaces": {"remove_extra_whitespaces": False},
    "no-prefix": {"add_dummy_prefix": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "identity": {"normalization_rule_name": "identity"},
    "folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "covered": {"character_coverage": 1.0},
    "no-split": {"split_by_whitespace": False},
    "bytes-spaces": {"byte_fallback": True, "remove_extra_whitespaces": False, "add_dummy_prefix": False},
}

text, directory = sys.argv[1:3]
os.makedirs(directory, exist_ok=True)
for name, settings in VARIANTS.items():
    sentencepiece.SentencePieceTrainer.train(
        input=text, model_prefix=f"{directory}/{name}", vocab_size=1000, hard_vocab_limit=False,
        pad_id=0, eos_id=1, unk_id=2, bos_id=3, minloglevel=2, num_threads=2, **settings)
    print(name)
