"""SciPy's L-BFGS on the same objectives as `padir lab fit`, to compare times and answers.

Requirements: Python 3.11+, numpy 2.4.6, scipy 1.17.1 (pip install numpy==2.4.6 scipy==1.17.1) and a release
build of padir:

    python bench/scipy_fit.py --padir target/release/padir

N = 20 spins on a complete graph (210 parameters), 10,000 samples, k = 1 and k = 2. Both sides
minimise the average of -log p(x_K | x_-K) over all blocks of size k and all samples. The NumPy
objective is vectorised over samples; value and gradient are given, as SciPy wants them. Times are
of the minimisation alone, without reading files or starting programs; the largest difference
between the two answers is printed beside them.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def draw(n, count, h, j, seed):
    """Gibbs samples of a weak complete Ising model: 200 sweeps from random starts."""
    generator = np.random.default_rng(seed)
    x = generator.choice([-1.0, 1.0], size=(count, n))
    for _ in range(200):
        for i in range(n):
            field = h[i] + x @ j[i]
            x[:, i] = np.where(generator.random(count) < 1 / (1 + np.exp(-2 * field)), 1, -1)
    return x


class Objective:
    def __init__(self, x):
        self.x = x
        self.rows, self.n = x.shape
        self.upper = np.triu_indices(self.n, 1)
        self.evaluations = 0

    def unpack(self, theta):
        h = theta[: self.n]
        j = np.zeros((self.n, self.n))
        j[self.upper] = theta[self.n :]
        return h, j + j.T

    def pack(self, fields, pairs):
        return np.concatenate([fields, (pairs + pairs.T)[self.upper]])

    def singles(self, theta):
        self.evaluations += 1
        h, j = self.unpack(theta)
        field = h + self.x @ j
        value = np.logaddexp(0, -2 * self.x * field).mean()
        residual = (np.tanh(field) - self.x) / (self.rows * self.n)
        return value, self.pack(residual.sum(0), residual.T @ self.x)

    def pairs(self, theta):
        self.evaluations += 1
        h, j = self.unpack(theta)
        x = self.x
        field = h + x @ j
        count = self.n * (self.n - 1) / 2
        value = 0.0
        residual = np.zeros_like(x)
        together = np.zeros((self.n, self.n))
        states = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        for a in range(self.n):
            for b in range(a):
                c = j[a, b]
                fa, fb = field[:, a] - c * x[:, b], field[:, b] - c * x[:, a]
                energies = np.stack([s * fa + t * fb + s * t * c for s, t in states])
                total = logsumexp(energies, axis=0)
                value += (total - (x[:, a] * fa + x[:, b] * fb + x[:, a] * x[:, b] * c)).sum()
                p = np.exp(energies - total)
                ra = p[0] + p[1] - p[2] - p[3] - x[:, a]
                rb = p[0] - p[1] + p[2] - p[3] - x[:, b]
                residual[:, a] += ra
                residual[:, b] += rb
                joint = p[0] - p[1] - p[2] + p[3] - x[:, a] * x[:, b]
                together[a, b] += (joint - ra * x[:, b] - rb * x[:, a]).sum()
        scale = self.rows * count
        return value / scale, self.pack(
            residual.sum(0) / scale, (residual.T @ x + together) / scale
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--padir", default="target/release/padir")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    n, count = 20, 10_000
    generator = np.random.default_rng(1)
    j = np.triu(generator.normal(scale=0.1, size=(n, n)), 1)
    x = draw(n, count, generator.normal(scale=0.2, size=n), j + j.T, 2)
    objective = Objective(x)
    dimension = n + n * (n - 1) // 2
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "samples.npy"
        np.save(path, x.astype(np.int8))
        print(f"{'k':>2} {'scipy s':>9} {'evals':>6} {'padir s':>9} {'evals':>6} {'ratio':>7} {'difference':>11}")
        for k, function in ((1, objective.singles), (2, objective.pairs)):
            objective.evaluations = 0
            started = time.perf_counter()
            theirs = minimize(
                function,
                np.zeros(dimension),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9},
            )
            seconds = time.perf_counter() - started
            command = [arguments.padir, "lab", "fit", str(path), "--n", str(n), "--k", str(k)]
            command += ["--threads", str(arguments.threads), "--json"]
            ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            found = np.array([row["estimate"] for row in ours["parameters"]])
            # Parameters come in the order of np.triu_indices: edges row by row.
            difference = np.abs(found - theirs.x).max()
            print(
                f"{k:2} {seconds:9.3f} {objective.evaluations:6} {ours['seconds']:9.3f}"
                f" {ours['evaluations']:6} {seconds / ours['seconds']:7.1f} {difference:11.1e}"
            )


if __name__ == "__main__":
    main()
