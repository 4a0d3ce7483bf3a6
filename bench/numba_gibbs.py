"""The same chains in numba, to compare rates with `padir lab sample`.

Requirements: Python 3.11+, numba 0.68.1, numpy 2.4.6 (pip install numba==0.68.1 numpy==2.4.6) and a release
build of padir:

    python bench/numba_gibbs.py --padir target/release/padir

Two chains, both with one thread and with two (two independent chains):

* single-site Gibbs with a random scan on a torus of 64 x 64 spins, J = 0.3, h = 0.1;
* 20-Gibbs on a clique model, N = 100, |C| = 40, J = 0.05, h = 0.1, in O(k) by exchangeability.

numba draws from its own generator (Mersenne twister), padir from Philox streams; the chains are
the same, the numbers drawn are not. Means of the magnetisation are printed beside the rates: they
must agree within their error.
"""

import argparse
import json
import math
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def single_site(spins, neighbours, h, j, steps, seed):
    np.random.seed(seed)
    n = spins.size
    degree = neighbours.shape[1]
    total = 0.0
    for step in range(steps):
        i = np.random.randint(n)
        field = h
        for b in range(degree):
            field += j * spins[neighbours[i, b]]
        up = np.random.random() * (1.0 + math.exp(-2.0 * field)) < 1.0
        spins[i] = 1 if up else -1
    for i in range(n):
        total += spins[i]
    return total / n


@njit(cache=True, nogil=True)
def clique_blocks(spins, c, k, laws, free_up, steps, seed):
    """laws[j, rest] is the cumulative law of how many of j hidden clique spins come up."""
    np.random.seed(seed)
    n = spins.size
    order = np.arange(n)
    inside = np.empty(k, dtype=np.int64)
    up = 0
    for i in range(c):
        up += spins[i] == 1
    for step in range(steps):
        count = 0
        hidden_up = 0
        for i in range(k):
            other = i + np.random.randint(n - i)
            order[i], order[other] = order[other], order[i]
            v = order[i]
            if v < c:
                hidden_up += spins[v] == 1
                inside[count] = v
                count += 1
            else:
                spins[v] = 1 if np.random.random() < free_up else -1
        if count > 0:
            rest = up - hidden_up
            u = np.random.random()
            b = 0
            while u >= laws[count, rest, b]:
                b += 1
            for r in range(count):
                spins[inside[r]] = 1 if r < b else -1
            up = rest + b
    return spins.mean()


def torus(side):
    rows = []
    for r in range(side):
        for q in range(side):
            rows.append(
                [
                    r * side + (q + 1) % side,
                    r * side + (q - 1) % side,
                    ((r + 1) % side) * side + q,
                    ((r - 1) % side) * side + q,
                ]
            )
    return np.array(rows, dtype=np.int64)


def clique_laws(c, h, j):
    laws = np.ones((c + 1, c + 1, c + 2))
    for hidden in range(c + 1):
        for rest in range(c + 1 - hidden):
            logs = []
            for b in range(hidden + 1):
                s = 2 * (rest + b) - c
                logs.append(
                    math.lgamma(hidden + 1)
                    - math.lgamma(b + 1)
                    - math.lgamma(hidden - b + 1)
                    + h * s
                    + j * (s * s - c) / 2
                )
            weights = np.exp(np.array(logs) - max(logs))
            laws[hidden, rest, : hidden + 1] = np.cumsum(weights) / weights.sum()
            laws[hidden, rest, hidden] = 1.0
    return laws


def rate(work, steps, threads):
    """Steps a second over independent chains, one per thread."""
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        means = list(pool.map(lambda t: work(steps, 100 + t), range(threads)))
        return threads * steps / (time.perf_counter() - started), float(np.mean(means))


def padir(binary, arguments, steps, threads):
    command = [binary, "lab", "sample", *arguments, "--samples", "1", "--from", "up", "--json"]
    command += ["--burn-in", str(steps), "--chains", str(threads), "--threads", str(threads)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return report["steps_per_second"], float(np.mean(report["means"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--padir", default="target/release/padir")
    parser.add_argument("--steps", type=int, default=50_000_000)
    arguments = parser.parse_args()
    neighbours = torus(64)
    laws = clique_laws(40, 0.1, 0.05)
    free_up = 1 / (1 + math.exp(-0.2))

    def site(steps, seed):
        return single_site(np.ones(4096, dtype=np.int64), neighbours, 0.1, 0.3, steps, seed)

    def block(steps, seed):
        return clique_blocks(np.ones(100, dtype=np.int64), 40, 20, laws, free_up, steps, seed)

    cases = [
        (
            "single-site, torus 64x64",
            site,
            arguments.steps,
            ["--n", "4096", "--graph", "torus", "--rows", "64", "--j", "0.3", "--h", "0.1"],
        ),
        (
            "20-Gibbs, N = 100, |C| = 40",
            block,
            arguments.steps // 20,
            ["--n", "100", "--clique", "40", "--j", "0.05", "--h", "0.1", "--k", "20"],
        ),
    ]
    print(f"{'chain':30} {'threads':>7} {'numba /s':>12} {'padir /s':>12} {'ratio':>6}  means")
    for name, work, steps, flags in cases:
        work(1000, 1)  # compile
        for threads in (1, 2):
            theirs, their_mean = rate(work, steps, threads)
            ours, our_mean = padir(arguments.padir, flags, steps, threads)
            print(
                f"{name:30} {threads:7} {theirs:12.3e} {ours:12.3e} {ours / theirs:6.2f}"
                f"  {their_mean:.3f} {our_mean:.3f}"
            )


if __name__ == "__main__":
    main()
