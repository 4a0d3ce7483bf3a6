"""Activations of hidden layers by PyTorch, in double precision.

    pip install torch==2.15.0

    python activations.py

Prints the table of the test in crates/kernels/src/packed/activation.rs: x, relu, gelu, gelu by tanh, swish.
"""

import torch
from torch.nn.functional import gelu, relu, silu

for x in [-20.0, -6.0, -2.5, -1.0, -0.25, 0.0, 0.5, 1.0, 3.0, 12.0]:
    t = torch.tensor(x, dtype=torch.float64)
    row = [relu(t), gelu(t), gelu(t, approximate="tanh"), silu(t)]
    print(f"({x!r}, [{', '.join(f'{y.item():.10e}' for y in row)}]),")
