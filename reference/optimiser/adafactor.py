"""Reference values for Adafactor with the settings of T5X, in double precision.

Requirements: Python 3.11+, numpy 2.4.6; for --check also optax 0.2.5 and jax 0.10.2.
Usage: python adafactor.py > adafactor.json
       python adafactor.py --check       compares every step with optax.adafactor, which has the
                                         same options (T5X's optimiser has no package of its own)

Written from Shazeer and Stern 2018 (arXiv:1804.04235, algorithms 4 and 5) and the list of T5X's
settings: decay exponent 0.8, clipping threshold 1, eps 1e-30 and 1e-3, factored when both sides
have at least 128 entries, update multiplied by max(eps2, RMS(parameter)), no momentum.
"""

import json
import sys

import numpy as np

from inputs import gradient, parameter, rate, sample

STEPS = 20
CASES = [
    # name, rows, columns, gradient scale
    ("factored", 128, 160, 1.0),
    ("factored tall, scaled", 300, 128, 0.125),
    ("matrix too narrow to factor", 24, 200, 1.0),
    ("vector", 1, 300, 4.0),
]


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


class Adafactor:
    def __init__(self, p):
        self.p, self.t = p.copy(), 0
        n, m = p.shape
        self.factored = min(n, m) >= 128
        self.r, self.c, self.v = np.zeros(n), np.zeros(m), np.zeros((n, m))

    def step(self, g, lr):
        self.t += 1
        beta = 1.0 - self.t**-0.8
        g2 = g * g + 1e-30
        if self.factored:
            self.r = beta * self.r + (1 - beta) * g2.mean(axis=1)
            self.c = beta * self.c + (1 - beta) * g2.mean(axis=0)
            v = np.outer(self.r, self.c) / self.r.mean()
        else:
            self.v = beta * self.v + (1 - beta) * g2
            v = self.v
        u = g / np.sqrt(v)
        u /= max(1.0, rms(u))
        self.p -= lr * max(1e-3, rms(self.p)) * u

    def record(self):
        if self.factored:
            return {"p": sample(self.p), ".v_row": sample(self.r), ".v_col": sample(self.c)}
        return {"p": sample(self.p), ".v": sample(self.v)}


def run(seed, rows, columns, scale):
    ours = Adafactor(parameter(seed, rows, columns))
    for step in range(1, STEPS + 1):
        ours.step(scale * gradient(seed, step, rows, columns), rate(step))
        yield ours


def check():
    import jax
    import optax

    jax.config.update("jax_enable_x64", True)
    for seed, (name, rows, columns, scale) in enumerate(CASES, 1):
        squeeze = (lambda x: x[0]) if rows == 1 else (lambda x: x)
        p = jax.numpy.asarray(squeeze(parameter(seed, rows, columns)))
        theirs = optax.adafactor(lambda count: jax.numpy.asarray([rate(s) for s in range(1, STEPS + 1)])[count])
        state, worst = theirs.init(p), 0.0
        for step, ours in enumerate(run(seed, rows, columns, scale), 1):
            g = jax.numpy.asarray(squeeze(scale * gradient(seed, step, rows, columns)))
            update, state = theirs.update(g, state, p)
            p = optax.apply_updates(p, update)
            worst = max(worst, float(np.max(np.abs(squeeze(ours.p) - p) / (np.abs(p) + 1e-3))))
        print(f"{name}: largest relative difference {worst:.1e}")
        assert worst < 1e-5, name  # optax computes beta in single precision.


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        check()
    else:
        cases = [
            {"name": name, "rows": rows, "columns": columns, "scale": scale, "seed": seed,
             "steps": [ours.record() for ours in run(seed, rows, columns, scale)]}
            for seed, (name, rows, columns, scale) in enumerate(CASES, 1)
        ]
        json.dump({"made_by": f"adafactor.py, numpy {np.__version__}", "cases": cases}, sys.stdout)
        print()
