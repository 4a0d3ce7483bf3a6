#!/usr/bin/env python3
"""What transformers makes of int8 checkpoints: quantised.py ORIGINAL INT8 DEQUANTISED

ORIGINAL is an autoregressive checkpoint, INT8 what `padir quantize` made of it, DEQUANTISED what `padir dequantize` made of that. Fails unless
transformers refuses INT8, by its own class and by AutoModel, and loads DEQUANTISED with logits that differ from the original's by rounding only.
"""
import sys

import torch
import transformers
from transformers import AutoModelForSeq2SeqLM, T5ForConditionalGeneration


def refuses(load, path):
    try:
        load.from_pretrained(path)
    except ValueError as error:
        print(f"{load.__name__} refuses {path}: {error}")
        return
    sys.exit(f"{load.__name__} loads {path}")


def logits(path):
    model, report = T5ForConditionalGeneration.from_pretrained(path, output_loading_info=True)
    missing = [name for name in report["missing_keys"]] + [name for name in report["unexpected_keys"]]
    if missing:
        sys.exit(f"{path}: {missing}")
    source = torch.tensor([[5, 6, 7, 8, 1]])
    target = torch.tensor([[0, 9, 10, 11]])
    with torch.no_grad():
        return model.eval()(input_ids=source, decoder_input_ids=target).logits


def main():
    original, int8, dequantised = sys.argv[1:]
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    refuses(T5ForConditionalGeneration, int8)
    refuses(AutoModelForSeq2SeqLM, int8)
    expected, found = logits(original), logits(dequantised)
    difference = (expected - found).abs().max() / expected.abs().max()
    print(f"greatest difference of logits, relative to the greatest logit: {difference:.4f}")
    if not difference < 0.05:
        sys.exit("the dequantised model is another one")


if __name__ == "__main__":
    main()
