"""Names and shapes of the parameters of public model families, as Hugging Face transformers writes them.

    pip install torch==2.15.0 transformers==5.23.0 safetensors==0.8.0

    python layers.py > layers.json

{model: {"config": config.json, "parameters": {name: shape}}}, which the tests of
crates/checkpoint/src/layers compare with what they derive from the same configuration. Depths,
widths and heads all differ, lest they be confused.
"""

import json
import pathlib
import sys
import tempfile

import transformers
from safetensors import safe_open
from transformers import (
    BertConfig, BertForSequenceClassification, MarianConfig, MarianMTModel, RemBertConfig,
    RemBertForSequenceClassification, T5Config, T5ForConditionalGeneration,
)

T5 = dict(
    vocab_size=60, d_model=24, d_kv=10, d_ff=40, num_layers=2, num_decoder_layers=3, num_heads=3,
    relative_attention_num_buckets=8, relative_attention_max_distance=12, feed_forward_proj="relu",
    decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
)
MARIAN = dict(
    vocab_size=60, decoder_vocab_size=50, d_model=24, encoder_layers=3, decoder_layers=2,
    encoder_attention_heads=3, decoder_attention_heads=2, encoder_ffn_dim=40, decoder_ffn_dim=36,
    max_position_embeddings=32, static_position_embeddings=True, pad_token_id=49, eos_token_id=0,
    decoder_start_token_id=49,
)
BERT = dict(
    vocab_size=60, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
    max_position_embeddings=32, type_vocab_size=2, num_labels=1, pad_token_id=0,
)

MODELS = {
    "t5": (T5ForConditionalGeneration, T5Config(**T5)),
    "marian": (MarianMTModel, MarianConfig(**{**MARIAN, "decoder_vocab_size": 60})),
    "marian separate": (MarianMTModel, MarianConfig(**MARIAN, share_encoder_decoder_embeddings=False)),
    "marian untied": (
        MarianMTModel,
        MarianConfig(**MARIAN, share_encoder_decoder_embeddings=False, tie_word_embeddings=False),
    ),
    "bert": (BertForSequenceClassification, BertConfig(**BERT)),
    "rembert": (
        RemBertForSequenceClassification,
        RemBertConfig(**BERT, input_embedding_size=14, output_embedding_size=20),
    ),
}


def describe(model_class, config):
    with tempfile.TemporaryDirectory() as directory:
        model_class(config).save_pretrained(directory)
        directory = pathlib.Path(directory)
        with safe_open(directory / "model.safetensors", "pt") as tensors:
            shapes = {name: tensors.get_slice(name).get_shape() for name in sorted(tensors.keys())}
        return {"config": json.loads((directory / "config.json").read_text()), "parameters": shapes}


models = {name: describe(*made) for name, made in MODELS.items()}
json.dump({"transformers": transformers.__version__, "models": models}, sys.stdout, indent=None)
print()
