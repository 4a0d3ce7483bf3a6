"""What Hugging Face transformers makes of a Marian model: logits, loss, gradients and greedy tokens.

    pip install torch==2.15.0 transformers==5.23.0 safetensors==0.8.0

    python marian_logits.py DIRECTORY

Writes tiny random MarianMT models into DIRECTORY/shared (one vocabulary, swish, scaled embeddings)
and DIRECTORY/separate (two vocabularies of different sizes, gelu), each with inputs.json and outputs.json as t5_logits.py describes them, and
"greedy": the tokens that greedy search generates for each source, ends included.

All parameters are random, biases and norms too, lest their places be confused. The bias of the
logits is a buffer in transformers; its gradient is asked for all the same.
"""

import json
import pathlib
import sys

import torch
from transformers import MarianConfig, MarianMTModel

from t5_logits import answer

# Seeds whose greedy search says different things.
SEEDS = {"shared": 78, "separate": 38}
CASES = {
    "shared": dict(
        vocab_size=50, decoder_vocab_size=50, share_encoder_decoder_embeddings=True,
        activation_function="swish", scale_embedding=True,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
    ),
    "separate": dict(
        vocab_size=60, decoder_vocab_size=50, share_encoder_decoder_embeddings=False,
        activation_function="gelu", scale_embedding=False,
        encoder_attention_heads=4, decoder_attention_heads=2, encoder_ffn_dim=20, decoder_ffn_dim=28,
    ),
}
LONGEST = 24
GREEDY = 16


def randomise(model):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" in name:
                continue
            noise = torch.randn_like(parameter)
            if "layer_norm.weight" in name:
                parameter.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.3 * noise)
            elif "embed_tokens" in name or "shared" in name:
                parameter.copy_(0.4 * noise)
            else:
                parameter.copy_(noise * 3 / parameter.shape[1] ** 0.5)
        model.final_logits_bias.copy_(0.7 * torch.randn_like(model.final_logits_bias))
        # So that greedy search ends now and then.
        model.final_logits_bias[0, 0] = 2


def greedy(model, source):
    out = model.generate(
        torch.tensor([source]), num_beams=1, do_sample=False, max_new_tokens=GREEDY,
        forced_eos_token_id=None,
    )
    return out[0, 1:].tolist()


def write(directory, case):
    torch.manual_seed(SEEDS[directory.name])
    config = MarianConfig(
        d_model=16, encoder_layers=1, decoder_layers=2, max_position_embeddings=LONGEST,
        static_position_embeddings=True, pad_token_id=49, eos_token_id=0, decoder_start_token_id=49,
        **case,
    )
    model = MarianMTModel(config).eval()
    randomise(model)
    directory.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(directory)
    model, info = MarianMTModel.from_pretrained(
        directory, output_loading_info=True, dtype=torch.float32
    )
    faults = {key: value for key, value in info.items() if value}
    assert not faults, faults
    model.eval()
    model.final_logits_bias.requires_grad_(True)
    # The start token is the padding token, and its embedding is read and learnt like any other.
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    generator = torch.Generator().manual_seed(31)
    draw = lambda n: torch.randint(1, 49, (n,), generator=generator).tolist() + [0]
    # As long as there are positions; a lone end; a pair.
    inputs = {
        "source": [draw(9), draw(0), draw(LONGEST - 1), draw(2)],
        "target": [draw(7), draw(3), draw(0), draw(15)],
    }
    outputs = answer(model, inputs)
    outputs["gradient_norms"]["final_logits_bias"] = model.final_logits_bias.grad.norm().item()
    outputs["greedy"] = [greedy(model, source) for source in inputs["source"]]
    (directory / "inputs.json").write_text(json.dumps(inputs) + "\n")
    (directory / "outputs.json").write_text(json.dumps(outputs) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, case in CASES.items():
        write(pathlib.Path(sys.argv[1]) / name, case)
