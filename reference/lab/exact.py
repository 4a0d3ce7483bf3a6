"""High-precision reference values for the laboratory, from the definitions and nothing else.

Requirements: Python 3.11+, mpmath 1.4.1 (pip install mpmath==1.4.1).
Usage: python exact.py > exact.json

Every transition matrix is written down state by state, every expectation is a plain sum; the
linear algebra runs with 1500 digits for hitting times (where a float solve returns negative
numbers) and 60 elsewhere. Nothing here is shared with the Rust code: no lumping, no
subtraction-free elimination, no log space.
"""

import itertools
import json
import sys

import mpmath
from mpmath import mp, mpf


def spins(n):
    return list(itertools.product([-1, 1], repeat=n))


def probabilities(states, h, edges):
    weights = [
        mp.exp(sum(hi * xi for hi, xi in zip(h, x)) + sum(j * x[a] * x[b] for a, b, j in edges))
        for x in states
    ]
    total = mp.fsum(weights)
    return [w / total for w in weights]


def block_matrix(states, p, blocks):
    """blocks: list of (set of sites, weight)."""
    size = len(states)
    matrix = mp.zeros(size)
    for block, weight in blocks:
        groups = {}
        for index, x in enumerate(states):
            groups.setdefault(tuple(v for i, v in enumerate(x) if i not in block), []).append(index)
        for group in groups.values():
            mass = mp.fsum(p[y] for y in group)
            for x in group:
                for y in group:
                    matrix[x, y] += weight * p[y] / mass
    return matrix


def parallel_matrix(states, p):
    position = {x: i for i, x in enumerate(states)}
    n, size = len(states[0]), len(states)
    up = []
    for x in states:
        row = []
        for i in range(n):
            plus = p[position[x[:i] + (1,) + x[i + 1 :]]]
            minus = p[position[x[:i] + (-1,) + x[i + 1 :]]]
            row.append(plus / (plus + minus))
        up.append(row)
    matrix = mp.zeros(size)
    for a in range(size):
        for b, y in enumerate(states):
            value = mpf(1)
            for i in range(n):
                value *= up[a][i] if y[i] == 1 else 1 - up[a][i]
            matrix[a, b] = value
    return matrix


def subsets(n, k):
    sets = [frozenset(s) for s in itertools.combinations(range(n), k)]
    return [(s, mpf(1) / len(sets)) for s in sets]


def inside(n, c, k):
    """What a uniform k-subset of n sites leaves inside of the first c."""
    total = mp.binomial(n, k)
    return [
        (frozenset(s), mp.binomial(n - c, k - j) / total)
        for j in range(max(0, k - (n - c)), min(c, k) + 1)
        for s in itertools.combinations(range(c), j)
    ]


def hitting(matrix, start, target):
    keep = [i for i in range(matrix.rows) if i not in target]
    a = mp.eye(len(keep))
    for i, x in enumerate(keep):
        for j, y in enumerate(keep):
            a[i, j] -= matrix[x, y]
    times = mp.lu_solve(a, mp.ones(len(keep), 1))
    return times[keep.index(start)]


def clique_edges(c, j):
    return [(a, b, j) for a in range(c) for b in range(a + 1, c)]


def hitting_case(n, c, h, j):
    states = spins(c)
    p = probabilities(states, h[:c], clique_edges(c, j))
    start, target = 0, {len(states) - 1}
    times = [
        hitting(block_matrix(states, p, inside(n, c, k)), start, target) for k in range(1, n + 1)
    ]
    parallel = hitting(parallel_matrix(states, p), start, target)
    return {
        "n": n,
        "clique": c,
        "h": [float(v) for v in h],
        "j": float(j),
        "k": [mp.nstr(t, 17) for t in times],
        "independent_parallel": mp.nstr(parallel, 17),
    }


def hitting_full(n, c, h, j):
    """The same with the free vertices present: slow, and a check of leaving them out."""
    states = spins(n)
    p = probabilities(states, h, clique_edges(c, j))
    target = {i for i, x in enumerate(states) if all(v == 1 for v in x[:c])}
    times = [
        hitting(block_matrix(states, p, subsets(n, k)), 0, target) for k in range(1, n + 1)
    ]
    return {
        "n": n,
        "clique": c,
        "h": [float(v) for v in h],
        "j": float(j),
        "k": [mp.nstr(t, 17) for t in times],
        "independent_parallel": mp.nstr(hitting(parallel_matrix(states, p), 0, target), 17),
    }


def asymptotics(n, h, edges):
    states = spins(n)
    p = probabilities(states, h, edges)
    stats = [list(x) + [x[a] * x[b] for a, b, _ in edges] for x in states]
    d = len(stats[0])
    couplings = range(n, d)
    rows = []
    gammas, constants = [], []
    for k in range(1, n + 1):
        hessian = mp.zeros(d)
        for block, weight in subsets(n, k):
            groups = {}
            for index, x in enumerate(states):
                groups.setdefault(tuple(v for i, v in enumerate(x) if i not in block), []).append(
                    index
                )
            for group in groups.values():
                mass = mp.fsum(p[y] for y in group)
                mean = [mp.fsum(p[y] * stats[y][i] for y in group) / mass for i in range(d)]
                for y in group:
                    centred = [stats[y][i] - mean[i] for i in range(d)]
                    for a in range(d):
                        for b in range(d):
                            hessian[a, b] += weight * p[y] * centred[a] * centred[b]
        gammas.append(hessian ** -1)
        matrix = block_matrix(states, p, subsets(n, k))
        symmetric = mp.zeros(len(states))
        for x in range(len(states)):
            for y in range(len(states)):
                symmetric[x, y] = mp.sqrt(p[x]) * matrix[x, y] / mp.sqrt(p[y])
        symmetric = (symmetric + symmetric.T) / 2
        values = sorted(mp.eigsy(symmetric, eigvals_only=True))
        constants.append(1 / (1 - values[-2]))
    for k in range(1, n + 1):
        gamma = gammas[k - 1]
        mono = None
        if k < n:
            mono = min(mp.eigsy(gamma - gammas[k], eigvals_only=True))
        bound = min(mp.eigsy(constants[k - 1] * gammas[-1] - gamma, eigvals_only=True))
        rows.append(
            {
                "k": k,
                "trace": mp.nstr(mp.fsum(gamma[i, i] for i in range(d)), 17),
                "trace_j": mp.nstr(mp.fsum(gamma[i, i] for i in couplings), 17),
                "poincare": mp.nstr(constants[k - 1], 17),
                "mono_min_eig": None if mono is None else mp.nstr(mono, 17),
                "bound_min_eig": mp.nstr(bound, 17),
            }
        )
    return rows


def clique_asymptotics(n, c, h, j):
    return {
        "n": n,
        "clique": c,
        "h": float(h),
        "j": float(j),
        "k": asymptotics(n, [h] * n, clique_edges(c, j)),
    }


def slow_constant(n, c, h, j, k):
    """A Poincare constant far beyond what 1 - lambda holds in a float."""
    states = spins(n)
    p = probabilities(states, [h] * n, clique_edges(c, j))
    matrix = block_matrix(states, p, subsets(n, k))
    size = len(states)
    symmetric = mp.matrix(size)
    for x in range(size):
        for y in range(size):
            symmetric[x, y] = mp.sqrt(p[x]) * matrix[x, y] / mp.sqrt(p[y])
    symmetric = (symmetric + symmetric.T) / 2
    values = sorted(mp.eigsy(symmetric, eigvals_only=True))
    return {
        "n": n,
        "clique": c,
        "h": float(h),
        "j": float(j),
        "k": k,
        "poincare": mp.nstr(1 / (1 - values[-2]), 17),
    }


def main():
    out = {"made_by": "reference/lab/exact.py", "mpmath": mpmath.__version__}
    mp.dps = 1500
    couplings = ["0", "0.5", "1", "2", "3", "6", "10", "25", "50", "100"]
    out["hitting"] = [hitting_case(10, 4, [mpf(5)] * 10, mpf(j)) for j in couplings]
    out["hitting"].append(hitting_case(7, 3, [mpf("0.25")] * 7, mpf("1.75")))
    # Unequal fields inside of the clique: nothing can be lumped.
    unequal = [mpf(v) for v in ["0.5", "-0.25", "1.5", "0", "0.75"]]
    out["hitting"].append(hitting_case(5, 3, unequal, mpf("2.5")))
    out["hitting"].append(hitting_case(5, 3, unequal, mpf(40)))
    mp.dps = 400
    out["hitting_full"] = [
        hitting_full(5, 3, unequal, mpf("2.5")),
        hitting_full(5, 3, [mpf("0.5")] * 5, mpf(8)),
    ]
    mp.dps = 60
    out["exact"] = [
        clique_asymptotics(4, 4, mpf(0), mpf("0.3")),
        clique_asymptotics(4, 4, mpf(0), mpf("0.05")),
        clique_asymptotics(4, 3, mpf("0.25"), mpf("0.75")),
    ]
    mp.dps = 700
    out["slow"] = [
        slow_constant(4, 4, mpf(5), mpf(6), 1),
        slow_constant(4, 4, mpf(5), mpf(6), 2),
        slow_constant(4, 3, mpf(1), mpf(60), 1),
    ]
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
