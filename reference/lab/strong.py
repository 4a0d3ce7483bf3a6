"""High-precision reference values at strong coupling and on degenerate tables.

Requirements: Python 3.11+, mpmath 1.4.1, numpy, scipy 1.17 (pip install mpmath==1.4.1 scipy).
Usage: python strong.py > strong.json

From the definitions, with 300 digits: Fisher information and k-pseudolikelihood Hessians are sums
over states, orders between them are eigenvalues found in the same precision, Poincare constants
eigenvalues of the transition matrix. Constants of entropy inequalities are searched by scipy from
many starts; the quotient of the best density is then evaluated with 60 digits, so that it is a
lower bound of the constant whatever scipy did.
"""

import itertools
import json
import sys

import mpmath
import numpy
import scipy.optimize
from mpmath import mp, mpf

from exact import block_matrix, clique_edges, inside, probabilities, spins, subsets


def hessian(states, p, stats, blocks):
    """E Cov(T | x outside of K), summed group by group."""
    d = len(stats[0])
    total = mp.zeros(d)
    for block, weight in blocks:
        groups = {}
        for index, x in enumerate(states):
            key = tuple(v for i, v in enumerate(x) if i not in block)
            groups.setdefault(key, []).append(index)
        for group in groups.values():
            mass = mp.fsum(p[y] for y in group)
            first = [mp.fsum(p[y] if stats[y][i] > 0 else -p[y] for y in group) for i in range(d)]
            scaled = [weight * f / mass for f in first]
            for a in range(d):
                for b in range(a + 1):
                    total[a, b] -= scaled[a] * first[b]
    for a in range(d):
        for b in range(a + 1):
            total[a, b] += mp.fsum(q if s[a] == s[b] else -q for q, s in zip(p, stats))
            total[b, a] = total[a, b]
    return total


def second_eigenvalue(states, p, blocks):
    matrix = block_matrix(states, p, blocks)
    size = len(states)
    symmetric = mp.zeros(size)
    for x in range(size):
        for y in range(size):
            symmetric[x, y] = mp.sqrt(p[x]) * matrix[x, y] / mp.sqrt(p[y])
    symmetric = (symmetric + symmetric.T) / 2
    return sorted(mp.eigsy(symmetric, eigvals_only=True))[-2]


def clique_constant(n, c, h, j, k):
    """Free vertices are independent: their slowest function decays like 1 - k/n."""
    states = spins(c)
    p = probabilities(states, [h] * c, clique_edges(c, j))
    gap = 1 - second_eigenvalue(states, p, inside(n, c, k))
    return max(1 / gap, mpf(n) / k)


def relative(small, large):
    """The smallest eigenvalue of large^-1 (large - small)."""
    factor = mp.cholesky(large)
    left = factor ** -1
    middle = left * (large - small) * left.T
    return min(mp.eigsy((middle + middle.T) / 2, eigvals_only=True))


def variance_case(n, c, h, j):
    states = spins(n)
    edges = clique_edges(c, j)
    p = probabilities(states, [h] * n, edges)
    stats = [list(x) + [x[a] * x[b] for a, b, _ in edges] for x in states]
    d = len(stats[0])
    gammas = [hessian(states, p, stats, subsets(n, k)) ** -1 for k in range(1, n + 1)]
    gammas = [(g + g.T) / 2 for g in gammas]
    rows = []
    for k in range(1, n + 1):
        constant = clique_constant(n, c, h, j, k)
        gamma, best = gammas[k - 1], constant * gammas[-1]
        row = {
            "k": k,
            "trace": mp.fsum(gamma[i, i] for i in range(d)),
            "trace_j": mp.fsum(gamma[i, i] for i in range(n, d)),
            "poincare": constant,
            "mono_min_eig": None,
            "mono_relative": None,
        }
        if k < n:
            row["mono_min_eig"] = min(mp.eigsy(gamma - gammas[k], eigvals_only=True))
            row["mono_relative"] = relative(gammas[k], gamma)
            row["bound_min_eig"] = min(mp.eigsy(best - gamma, eigvals_only=True))
            row["bound_relative"] = relative(gamma, best)
        rows.append({a: b if b is None or a == "k" else mp.nstr(b, 17) for a, b in row.items()})
    return {"n": n, "clique": c, "h": float(h), "j": float(j), "k": rows}


def quotient(kind, states, q, blocks, density, log, sqrt):
    """Ent(w) and its energy for w >= 0 with mean one."""
    size = len(q)
    total = sum(q[x] * density[x] for x in range(size))
    w = [v / total for v in density]
    entropy = sum(q[x] * w[x] * log(w[x]) for x in range(size) if w[x] > 0)
    energy = 0
    for block, weight in blocks:
        groups = {}
        for index, x in enumerate(states):
            key = tuple(v for i, v in enumerate(x) if i not in block)
            groups.setdefault(key, []).append(index)
        for group in groups.values():
            mass = sum(q[y] for y in group)
            mean = sum(q[y] * w[y] for y in group) / mass
            if kind == "tensorisation":
                part = sum(q[y] * w[y] * log(w[y] / mean) for y in group if w[y] > 0)
            elif kind == "log_sobolev":
                root = sum(q[y] * sqrt(w[y]) for y in group) / mass
                part = sum(q[y] * (sqrt(w[y]) - root) ** 2 for y in group)
            else:
                part = sum(q[y] * (w[y] - mean) * log(w[y]) for y in group)
            energy += weight * part
    return entropy, energy


def constant_case(name, states, q, k):
    keep = [x for x in range(len(states)) if q[x] > 0]
    states, q = [states[x] for x in keep], [q[x] for x in keep]
    blocks = subsets(len(states[0]), k)
    floats = [float(v) for v in q]
    coarse = [(b, float(w)) for b, w in blocks]
    gap = 1 - second_eigenvalue(states, q, blocks)
    out = {"name": name, "n": len(states[0]), "k": k, "poincare": mp.nstr(1 / gap, 17)}
    limits = {"tensorisation": 1, "log_sobolev": 2, "modified": mpf(1) / 2}
    for kind, limit in limits.items():
        def loss(logits):
            density = numpy.exp(logits - numpy.max(logits)) + 1e-290
            up, down = quotient(kind, states, floats, coarse, density, numpy.log, numpy.sqrt)
            return -up / down if up > 1e-9 and down > 0 else 0.0
        best = None
        generator = numpy.random.default_rng(1)
        for start in range(60):
            first = generator.normal(size=len(q)) * [0.3, 1, 3, 8][start % 4]
            found = scipy.optimize.minimize(loss, first, method="Nelder-Mead",
                options={"maxiter": 20000, "maxfev": 20000, "xatol": 1e-10, "fatol": 1e-14,
                         "adaptive": True})
            if best is None or found.fun < best.fun:
                best = found
        top = max(best.x)
        density = [mp.exp(mpf(float(v - top))) for v in best.x]
        up, down = quotient(kind, states, q, blocks, density, mp.log, mp.sqrt)
        out[kind] = mp.nstr(max(up / down, limit / gap), 17)
    return out


def table(values):
    n = len(values).bit_length() - 1
    # The first site counts fastest.
    states = [tuple(index >> i & 1 for i in range(n)) for index in range(len(values))]
    return states, [mpf(v) for v in values]


def main():
    out = {"made_by": "reference/lab/strong.py", "mpmath": mpmath.__version__}
    mp.dps = 60
    out["phi"] = [
        {"u": u, "phi": mp.nstr((1 + mpf(u)) * mp.log(1 + mpf(u)) - mpf(u), 17)}
        for u in [1e-8, -1e-4, 0.124, -0.126, -0.999, 3.0]
    ]
    chain = [(0, 1, mpf(1)), (1, 2, mpf(1))]
    three = spins(3)
    out["constants"] = [
        constant_case("0.001, 0.07, 0, 0.929", *table(["0.001", "0.07", "0", "0.929"]), 1),
        constant_case("1/2, 1/6, 1/3, 0", *table([mpf(1) / 2, mpf(1) / 6, mpf(1) / 3, 0]), 1),
        constant_case("chain", three, probabilities(three, [mpf("0.3")] * 3, chain), 1),
        constant_case("chain", three, probabilities(three, [mpf("0.3")] * 3, chain), 2),
    ]
    mp.dps = 300
    out["slow"] = [
        {"n": 12, "clique": 4, "h": 5.0, "j": j, "k": k,
         "poincare": mp.nstr(clique_constant(12, 4, mpf(5), mpf(j), k), 17)}
        for j, k in [(6.0, 1), (6.5, 1), (25.0, 2), (6.0, 5)]
    ]
    out["variance"] = [
        variance_case(4, 4, mpf("0.5"), mpf(9)),
        variance_case(5, 3, mpf(1), mpf(30)),
        variance_case(10, 4, mpf(5), mpf(6)),
    ]
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
