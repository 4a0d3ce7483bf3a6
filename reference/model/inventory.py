"""The inventory of a T5-style model with a parallel decoder, written down without padir.

    python inventory.py > inventory.txt

One parameter a line, in the order of the format: name, shape, and the standard deviation of its
initial law (or "ones", "zeros"). Parameter number i is drawn from stream i of a seed, so neither
the order nor a deviation may ever change. Needs nothing but Python 3.
"""

from math import sqrt

D, K, F, H, V, BUCKETS, POSITIONS, CLASSES = 24, 10, 40, 3, 60, 32, 50, 20
INNER = H * K


def show(name, shape, law):
    print(name, "x".join(map(str, shape)), law if isinstance(law, str) else repr(law))


def matrix(name, shape, variance):
    show(name, shape, 1 / sqrt(variance))


def attention(layer, kind):
    matrix(f"{layer}.{kind}.q.weight", [INNER, D], D * K)
    matrix(f"{layer}.{kind}.k.weight", [INNER, D], D)
    matrix(f"{layer}.{kind}.v.weight", [INNER, D], D)
    matrix(f"{layer}.{kind}.o.weight", [D, INNER], INNER)
    show(f"{layer}.layer_norm.weight", [D], "ones")


def feed_forward(layer):
    matrix(f"{layer}.DenseReluDense.wi.weight", [F, D], D)
    matrix(f"{layer}.DenseReluDense.wo.weight", [D, F], F)
    show(f"{layer}.layer_norm.weight", [D], "ones")


def relative_bias(block, i):
    if i == 0:
        name = f"{block}.layer.0.SelfAttention.relative_attention_bias.weight"
        matrix(name, [BUCKETS, H], D)


matrix("shared.weight", [V, D], 1)
for i in range(2):
    block = f"encoder.block.{i}"
    attention(f"{block}.layer.0", "SelfAttention")
    relative_bias(block, i)
    feed_forward(f"{block}.layer.1")
show("encoder.final_layer_norm.weight", [D], "ones")
matrix("decoder.position_embedding.weight", [POSITIONS, D], 1)
for i in range(3):
    block = f"decoder.block.{i}"
    attention(f"{block}.layer.0", "SelfAttention")
    relative_bias(block, i)
    attention(f"{block}.positional", "PositionalAttention")
    attention(f"{block}.layer.1", "EncDecAttention")
    feed_forward(f"{block}.layer.2")
show("decoder.final_layer_norm.weight", [D], "ones")
matrix("lm_head.weight", [V, D], D)
matrix("length_predictor.weight", [CLASSES, D], 1)
matrix("rejecter.weight", [2, D], D)
