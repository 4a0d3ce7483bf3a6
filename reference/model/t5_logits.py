"""What Hugging Face transformers makes of a checkpoint: logits, loss and gradients of T5.

    pip install torch==2.15.0 transformers==5.22.2 safetensors==0.8.0

    python t5_logits.py CHECKPOINT < inputs.json > outputs.json
    python t5_logits.py --golden DIRECTORY

The first opens a checkpoint directory and answers a JSON object
{"source": [[id..]..], "target": [[id..]..]} (both without padding, ends included) with
{"logits": [sentence][position][id], "loss", "losses": [sentence], "gradient_norms": {name: norm}}.
Decoder inputs are the targets shifted right behind decoder_start_token_id; "loss" is the mean
cross-entropy over all target tokens, and the gradients are those of "loss". Sentences are padded
and masked into one batch, so the answer also says that padding does not matter: each sentence is
run alone, too, and the largest difference of logits is reported as "padding_error".
It fails if the checkpoint lacks a tensor or has one too many.

The second writes the goldens of crates/checkpoint and crates/model: a tiny random T5 in
float32, inputs.json and outputs.json. Norm scales are random too, lest their places be confused.
"""

import argparse
import json
import pathlib
import sys

import torch
import transformers
from transformers import T5Config, T5ForConditionalGeneration

PAD = 0


def open_model(directory):
    model, info = T5ForConditionalGeneration.from_pretrained(
        directory, output_loading_info=True, dtype=torch.float32
    )
    faults = {key: sorted(map(str, value)) for key, value in info.items() if value}
    if faults:
        sys.exit(f"{directory}: {faults}")
    return model.eval()


def pad(rows, value):
    width = max(map(len, rows))
    return torch.tensor([row + [value] * (width - len(row)) for row in rows])


def run(model, sources, targets):
    """Logits [sentence, position, id] of one padded batch, and the loss of each token."""
    start = model.config.decoder_start_token_id
    source, target = pad(sources, PAD), pad(targets, -100)
    shifted = pad([[start] + row[:-1] for row in targets], PAD)
    lengths = torch.tensor([len(row) for row in sources])
    mask = (torch.arange(source.shape[1])[None] < lengths[:, None]).long()
    out = model(input_ids=source, attention_mask=mask, decoder_input_ids=shifted)
    token_losses = torch.nn.functional.cross_entropy(
        out.logits.transpose(1, 2), target, ignore_index=-100, reduction="none"
    )
    return out.logits, token_losses


def answer(model, inputs):
    sources, targets = inputs["source"], inputs["target"]
    lengths = [len(row) for row in targets]
    model.zero_grad()
    logits, losses = run(model, sources, targets)
    loss = losses.sum() / sum(lengths)
    loss.backward()
    alone = [run(model, [s], [t])[0][0] for s, t in zip(sources, targets)]
    error = max(
        (a - logits[i, : len(a)]).abs().max().item() for i, a in enumerate(alone)
    )
    return {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "loss": loss.item(),
        "losses": [row[:n].sum().item() / n for row, n in zip(losses, lengths)],
        "padding_error": error,
        "gradient_norms": {
            name: p.grad.norm().item() for name, p in model.named_parameters() if p.grad is not None
        },
        "logits": [
            [[float(f"{x:.7g}") for x in position] for position in row[:n].tolist()]
            for row, n in zip(logits, lengths)
        ],
    }


def write_golden(directory):
    torch.manual_seed(20)
    config = T5Config(
        vocab_size=60, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_decoder_layers=2,
        num_heads=3, relative_attention_num_buckets=8, relative_attention_max_distance=12,
        feed_forward_proj="relu", decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )
    model = T5ForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("layer_norm.weight"):
                parameter.copy_(1 + 0.2 * torch.randn_like(parameter))
            if name.endswith("relative_attention_bias.weight"):
                parameter.copy_(torch.randn_like(parameter))
    directory.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(directory)
    generator = torch.Generator().manual_seed(21)
    draw = lambda n: torch.randint(3, 60, (n,), generator=generator).tolist() + [1]
    # Longer than the largest relative distance; a lone end; a pair.
    inputs = {
        "source": [draw(9), draw(0), draw(17), draw(2)],
        "target": [draw(7), draw(3), draw(0), draw(15)],
    }
    outputs = answer(open_model(directory), inputs)
    (directory / "inputs.json").write_text(json.dumps(inputs) + "\n")
    (directory / "outputs.json").write_text(json.dumps(outputs) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("--golden", action="store_true", help="write the goldens there")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.golden:
        write_golden(arguments.checkpoint)
    else:
        json.dump(answer(open_model(arguments.checkpoint), json.load(sys.stdin)), sys.stdout)
        print()
