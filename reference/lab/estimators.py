"""Reference values for sandwiches, regularity and scans, from the definitions with mpmath.

Requirements: Python 3.11+, mpmath 1.4.1 (pip install mpmath==1.4.1).
Usage: python estimators.py > estimators.json

Nothing is shared with the Rust code: states are tuples, conditionals are ratios of plain sums, minima come
from mpmath's multidimensional Newton iteration on the gradient, eigenvalues from mpmath's QR iteration, and
hitting times of scans from a dense solve on pairs of a state and a place in the sweep, all with 50 digits.
"""

import itertools
import json

import mpmath
from mpmath import mp, mpf

mp.dps = 50


def text(x):
    return mp.nstr(x, 20, strip_zeros=False)


def spins(n):
    # The first site counts fastest, as in the laboratory.
    return [tuple(reversed(x)) for x in itertools.product([-1, 1], repeat=n)]


def ising(n, h, edges):
    states = spins(n)
    weights = [mp.exp(sum(a * b for a, b in zip(h, x)) + sum(j * x[a] * x[b] for a, b, j in edges)) for x in states]
    total = mp.fsum(weights)
    return states, [w / total for w in weights]


def subsets(n, k):
    return [frozenset(c) for c in itertools.combinations(range(n), k)]


def outside(x, block):
    return tuple(v for i, v in enumerate(x) if i not in block)


def statistics(n, edges):
    return lambda x: [mpf(v) for v in x] + [mpf(x[a] * x[b]) for a, b in edges]


def sandwich(states, p, stat, blocks):
    """Best parameters and H⁻¹VH⁻¹, one mask per sample and averaged."""
    t = [stat(x) for x in states]
    d = len(t[0])
    groups = []
    for block in blocks:
        sets = {}
        for index, x in enumerate(states):
            sets.setdefault(outside(x, block), []).append(index)
        groups.append(list(sets.values()))
    share = mpf(1) / len(blocks)

    def conditionals(theta):
        weight = [mp.exp(mp.fdot(theta, row)) for row in t]
        for sets in groups:
            for group in sets:
                total = mp.fsum(weight[y] for y in group)
                law = [weight[y] / total for y in group]
                mean = [mp.fsum(q * t[y][i] for q, y in zip(law, group)) for i in range(d)]
                yield group, law, mean

    def gradient(theta):
        g = [mpf(0)] * d
        for group, _, mean in conditionals(theta):
            for x in group:
                for i in range(d):
                    g[i] += share * p[x] * (mean[i] - t[x][i])
        return g

    def hessian(theta):
        matrix = mp.zeros(d)
        for group, law, mean in conditionals(theta):
            mass = share * mp.fsum(p[x] for x in group)
            for i in range(d):
                for j in range(d):
                    second = mp.fsum(q * t[y][i] * t[y][j] for q, y in zip(law, group))
                    matrix[i, j] += mass * (second - mean[i] * mean[j])
        return matrix

    theta = [mpf(0)] * d
    for _ in range(60):
        step = mp.lu_solve(hessian(theta), mp.matrix(gradient(theta)))
        theta = [a - b for a, b in zip(theta, step)]
        if max(abs(s) for s in step) < mpf(10) ** -40:
            break
    single, means = mp.zeros(d), [[mpf(0)] * d for _ in states]
    for group, _, mean in conditionals(theta):
        for x in group:
            score = [a - b for a, b in zip(t[x], mean)]
            for i in range(d):
                means[x][i] += share * score[i]
                for j in range(d):
                    single[i, j] += share * p[x] * score[i] * score[j]
    averaged = mp.zeros(d)
    for x, mean in enumerate(means):
        for i in range(d):
            for j in range(d):
                averaged[i, j] += p[x] * mean[i] * mean[j]
    inverse = hessian(theta) ** -1
    best = [mp.exp(mp.fdot(theta, row)) for row in t]
    total = mp.fsum(best)
    divergence = mp.fsum(a * mp.log(a / (b / total)) for a, b in zip(p, best) if a > 0)
    matrix = lambda m: [[text(m[i, j]) for j in range(d)] for i in range(d)]
    return {
        "parameters": [text(v) for v in theta],
        "divergence": text(divergence),
        "variance": matrix(inverse * single * inverse),
        "averaged": matrix(inverse * averaged * inverse),
    }


def update(states, p, block):
    size = len(states)
    matrix = mp.zeros(size)
    sets = {}
    for index, x in enumerate(states):
        sets.setdefault(outside(x, block), []).append(index)
    for group in sets.values():
        mass = mp.fsum(p[y] for y in group)
        for x in group:
            for y in group:
                matrix[x, y] = p[y] / mass
    return matrix


def scan(states, p, sweep):
    size, m = len(states), len(sweep)
    stages = [update(states, p, frozenset(block)) for block in sweep]
    product = mp.eye(size)
    for stage in stages:
        product = product * stage
    values = sorted((abs(v) for v in mp.eig(product, left=False, right=False)), reverse=True)
    root = mp.diag([mp.sqrt(v) for v in p])
    symmetric = root * product * (root ** -1)
    squares = sorted(mp.eigsy(symmetric * symmetric.T, eigvals_only=True), reverse=True)
    # Pairs (state, place in the sweep), the last state being the target.
    target = size - 1
    index = {(x, s): i for i, (x, s) in enumerate(itertools.product([x for x in range(size) if x != target], range(m)))}
    matrix = mp.eye(len(index))
    for (x, s), i in index.items():
        for y in range(size):
            if y != target:
                matrix[i, index[y, (s + 1) % m]] -= stages[s][x, y]
    ones = mp.matrix([mpf(1)] * len(index))
    times = mp.lu_solve(matrix, ones)
    after = [mpf(0)] * len(index)
    for (x, s), i in index.items():
        after[i] = mp.fsum(stages[s][x, y] * times[index[y, (s + 1) % m]] for y in range(size) if y != target)
    squares_of = mp.lu_solve(matrix, mp.matrix([1 + 2 * v for v in after]))
    mean = times[index[0, 0]]
    return {
        "sweep": sweep,
        "second": text(values[1]),
        "contraction": text(squares[1]),
        "expected": text(mean),
        "deviation": text(mp.sqrt(squares_of[index[0, 0]] - mean ** 2)),
    }


def main():
    ring = [(0, 1, mpf("0.8")), (1, 2, mpf("-0.5")), (2, 3, mpf("0.6")), (0, 3, mpf("0.3"))]
    field = [mpf(v) for v in ("0.2", "-0.1", "0.4", "0")]
    states, p = ising(4, field, ring)
    fitted = [(0, 1), (1, 2), (2, 3)]
    cases = []
    for k in range(1, 5):
        case = sandwich(states, p, statistics(4, fitted), subsets(4, k))
        cases.append({"k": k, **case})
    chain = [(i, i + 1, mpf("1.2")) for i in range(3)]
    strong = [(i, i + 1, mpf(5)) for i in range(3)]
    scans = []
    for name, edges in (("chain", chain), ("strong", strong)):
        states, p = ising(4, [mpf("0.25")] * 4, edges)
        for sweep in ([[0], [1], [2], [3]], [[0, 1], [2, 3]], [[0, 2], [1, 3]], [[3], [1], [0], [2]]):
            scans.append({"model": name, "h": 0.25, "j": float(edges[0][2]), **scan(states, p, sweep)})
    chi = []
    for d in (1, 2, 5, 10, 40):
        for x in (0.01, 0.7, 4.5, 18.0, 60.0):
            chi.append({"degrees": d, "x": x, "p": float(mp.gammainc(mpf(d) / 2, 0, mpf(x) / 2, regularized=True))})
    result = {
        "made_by": f"reference/lab/estimators.py, mpmath {mpmath.__version__}",
        "sandwich": {"h": [float(v) for v in field], "edges": [[a, b, float(j)] for a, b, j in ring], "fitted": fitted, "k": cases},
        "scans": scans,
        "chi_squared": chi,
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
