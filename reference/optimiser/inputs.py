"""Parameters and gradients that Python and Rust both compute exactly, so that only results are stored.

A number is k / 2^23 - 1 with k the upper 24 bits of SplitMix64 (Steele, Lea and Flood 2014), times
a power of two: single precision holds it without rounding.
"""

import numpy as np


def uniform(seed, count):
    """Numbers in [-1, 1)."""
    with np.errstate(over="ignore"):
        z = (np.uint64(seed) << np.uint64(32)) + np.arange(count, dtype=np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1.0


def parameter(seed, rows, columns):
    return uniform(seed, rows * columns).reshape(rows, columns) / 4.0


def gradient(seed, step, rows, columns):
    """Rows and columns of different size; every seventh row has no gradient at odd steps."""
    g = uniform(seed + 1000 * step, rows * columns).reshape(rows, columns)
    g *= 2.0 ** -(np.arange(rows) % 5)[:, None] * 2.0 ** -(np.arange(columns) % 3)[None, :]
    if step % 2 == 1 and rows > 1:
        g[::7] = 0.0
    return g


def rate(step):
    return float(np.float32(0.01 + 0.005 * (step % 4)))


def sample(array, count=40):
    """Every k-th element to ten digits; k is odd, so that all columns are met."""
    flat = np.asarray(array).reshape(-1)
    stride = max(1, len(flat) // count) | 1
    return [float(f"{x:.10g}") for x in flat[::stride]]
