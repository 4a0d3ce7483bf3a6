"""Reference values for AdamW, in double precision.

Requirements: Python 3.11+, numpy 2.4.6; for --check also torch 2.15.0 or optax 0.2.5 with jax 0.10.2.
Usage: python adamw.py > adamw.json
       python adamw.py --check       compares every step with torch.optim.AdamW or optax.adamw

Written from Loshchilov and Hutter 2019 (arXiv:1711.05101, algorithm 2, schedule multiplier folded
into the rate).
"""

import json
import sys

import numpy as np

from inputs import gradient, parameter, rate, sample

STEPS = 20
CASES = [
    # name, rows, columns, gradient scale, beta1, beta2, epsilon, decay
    ("defaults", 24, 200, 1.0, 0.9, 0.999, 1e-8, 0.0),
    ("translation settings, decayed", 1, 300, 0.25, 0.9, 0.98, 1e-9, 0.1),
]


class AdamW:
    def __init__(self, p, beta1, beta2, epsilon, decay):
        self.p, self.t = p.copy(), 0
        self.m, self.v = np.zeros_like(p), np.zeros_like(p)
        self.beta1, self.beta2, self.epsilon, self.decay = beta1, beta2, epsilon, decay

    def step(self, g, lr):
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * g
        self.v = self.beta2 * self.v + (1 - self.beta2) * g * g
        m = self.m / (1 - self.beta1**self.t)
        v = self.v / (1 - self.beta2**self.t)
        self.p = self.p - lr * (m / (np.sqrt(v) + self.epsilon) + self.decay * self.p)

    def record(self):
        return {"p": sample(self.p), ".m": sample(self.m), ".v": sample(self.v)}


def run(seed, rows, columns, scale, constants):
    ours = AdamW(parameter(seed, rows, columns), *constants)
    for step in range(1, STEPS + 1):
        ours.step(scale * gradient(seed, step, rows, columns), rate(step))
        yield ours


def with_torch(p, constants):
    import torch

    beta1, beta2, epsilon, decay = constants
    parameter = torch.nn.Parameter(torch.tensor(p))
    theirs = torch.optim.AdamW([parameter], lr=0.0, betas=(beta1, beta2), eps=epsilon, weight_decay=decay)

    def step(g, lr):
        theirs.param_groups[0]["lr"] = lr
        parameter.grad = torch.tensor(g)
        theirs.step()
        return parameter.detach().numpy()

    return f"torch {torch.__version__}", step


def with_optax(p, constants):
    import jax
    import optax

    jax.config.update("jax_enable_x64", True)
    beta1, beta2, epsilon, decay = constants
    held = {"p": jax.numpy.asarray(p)}
    # All but the rate, which changes from step to step.
    theirs = optax.chain(
        optax.scale_by_adam(beta1, beta2, epsilon), optax.add_decayed_weights(decay)
    )
    held["state"] = theirs.init(held["p"])

    def step(g, lr):
        update, held["state"] = theirs.update(jax.numpy.asarray(g), held["state"], held["p"])
        held["p"] = held["p"] - lr * update
        return np.asarray(held["p"])

    return f"optax {optax.__version__}", step


def check():
    for other in [with_torch, with_optax]:
        for seed, (name, rows, columns, scale, *constants) in enumerate(CASES, 1):
            try:
                version, step_theirs = other(parameter(seed, rows, columns), constants)
            except ImportError as absent:
                print(absent)
                break
            worst = 0.0
            for step, ours in enumerate(run(seed, rows, columns, scale, constants), 1):
                p = step_theirs(scale * gradient(seed, step, rows, columns), rate(step))
                worst = max(worst, float(np.max(np.abs(ours.p - p))))
            print(f"{version}, {name}: largest difference {worst:.1e}")
            assert worst < 1e-6, name


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        check()
    else:
        cases = [
            {"name": name, "rows": rows, "columns": columns, "scale": scale, "seed": seed,
             "beta1": constants[0], "beta2": constants[1], "epsilon": constants[2], "decay": constants[3],
             "steps": [ours.record() for ours in run(seed, rows, columns, scale, constants)]}
            for seed, (name, rows, columns, scale, *constants) in enumerate(CASES, 1)
        ]
        json.dump({"made_by": f"adamw.py, numpy {np.__version__}", "cases": cases}, sys.stdout)
        print()
