"""The measures of the attention study by NumPy, on random weights; writes measures.json beside itself.

    python reference/attention/measures.py

Inputs and results are both in the file, so that the test needs no NumPy. Sentences have the attention weights of one layer
(head, query, key) and a token at each position; a pair of neighbours stutters if its tokens are equal.
"""
import itertools
import json
import pathlib

import numpy as np

rng = np.random.default_rng(20240717)
HEADS = 3


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).astype(np.float32)


def top(weights, k):
    return set(np.argsort(-weights, kind="stable")[:k].tolist())


def measure(own, cross, i):
    """All measures of the pair (i, i + 1)."""
    j = i + 1
    there, back = own[:, i, j].astype(float), own[:, j, i].astype(float)
    p, q = cross[:, i].astype(float), cross[:, j].astype(float)
    tv = 0.5 * np.abs(p - q).sum(-1)
    cosine = 1 - (p * q).sum(-1) / (np.linalg.norm(p, axis=-1) * np.linalg.norm(q, axis=-1))
    self_top, cross_top = [], []
    for k in (1, 2):
        hits = [j in top(own[h, i], k) for h in range(HEADS)] + [i in top(own[h, j], k) for h in range(HEADS)]
        self_top.append(float(np.mean(hits)))
        cross_top.append(float(np.mean([bool(top(cross[h, i], k) & top(cross[h, j], k)) for h in range(HEADS)])))
    spread = lambda x: [float(x.min()), float(x.mean()), float(x.max())]
    return {
        "there": spread(there), "back": spread(back), "self_top": self_top,
        "tv": spread(tv), "cosine": spread(cosine), "cross_top": cross_top,
        "self_heads": ((there + back) / 2).tolist(), "tv_heads": tv.tolist(), "cosine_heads": cosine.tolist(),
    }


def auc(failing, others):
    wins = [(a > b) + 0.5 * (a == b) for a in failing for b in others]
    return float(np.mean(wins))


sentences, samples = [], []
for number in range(6):
    n, m = int(rng.integers(4, 8)), int(rng.integers(2, 7))
    own, cross = softmax(2 * rng.normal(size=(HEADS, n, n))), softmax(2 * rng.normal(size=(HEADS, n, m)))
    tokens = rng.integers(5, 8, size=n).tolist()
    pairs = [measure(own, cross, i) for i in range(n - 1)]
    sentences.append({
        "targets": n, "sources": m, "tokens": tokens, "pairs": pairs,
        "self": own.ravel().tolist(), "cross": cross.ravel().tolist(),
    })
    for i, pair in enumerate(pairs):
        samples.append((number, tokens[i] == tokens[i + 1], pair["tv"][1]))

failing = np.array([v for _, f, v in samples if f])
others = np.array([v for _, f, v in samples if not f])
# The bootstrap's statistic for given resamples of sentences.
resamples = rng.integers(0, len(sentences), size=(40, len(sentences)))
differences = []
for resample in resamples:
    a = [v for s in resample for n, f, v in samples if n == s and f]
    b = [v for s in resample for n, f, v in samples if n == s and not f]
    differences.append(float(np.mean(a) - np.mean(b)) if a and b else None)
known = sorted(d for d in differences if d is not None)
# The permutation test by enumeration: all placements of each sentence's failing pairs.
own = [[v for n, _, v in samples if n == s] for s in range(len(sentences))]
fails = [sum(f for n, f, _ in samples if n == s) for s in range(len(sentences))]
total, count = sum(map(sum, own)), sum(fails)
choices = [[sum(c) for c in itertools.combinations(values, k)] for values, k in zip(own, fails)]
sums = np.array([0.0])
for choice in choices:
    sums = (sums[:, None] + np.array(choice)[None, :]).ravel()
law = sums / count - (total - sums) / (len(samples) - count)
centre, observed = law.mean(), failing.mean() - others.mean()
result = {
    "numpy": np.__version__,
    "heads": HEADS,
    "sentences": sentences,
    "tv_avg": {
        "stutter": {"pairs": len(failing), "mean": float(failing.mean()), "sd": float(failing.std())},
        "other": {"pairs": len(others), "mean": float(others.mean()), "sd": float(others.std())},
        "auc": auc(failing, others),
        "difference": float(observed),
        "resamples": resamples.tolist(),
        "differences": differences,
        "quantiles": np.quantile(known, [0.025, 0.975]).tolist(),
        "p": float(np.mean(np.abs(law - centre) >= abs(observed - centre) * (1 - 1e-12))),
    },
}
path = pathlib.Path(__file__).with_name("measures.json")
path.write_text(json.dumps(result, indent=1) + "\n")
print(path, len(samples), "pairs,", len(failing), "stutter")
