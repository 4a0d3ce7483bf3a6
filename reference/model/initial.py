"""First initial weights of a seed, computed without padir.

Prints the bits of the first three numbers of parameter 0 under seed 7 with deviation 0.5, which
the tests of crates/checkpoint/src/inventory.rs expect. Needs nothing but Python 3.

Philox 4x32-10 as in Salmon et al. (SC 2011); purpose 6 is "initial parameters"; Box and Muller.
"""

import math
import struct


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def normals(seed, index, purpose=6):
    block = 0
    while True:
        w = philox([block, purpose, index & 0xFFFFFFFF, index >> 32], [seed & 0xFFFFFFFF, seed >> 32])
        first, second = w[0] | w[1] << 32, w[2] | w[3] << 32
        radius = math.sqrt(-2 * math.log(((first >> 12) + 0.5) / 2**52))
        angle = 2 * math.pi * ((second >> 11) / 2**53)
        yield radius * math.cos(angle)
        yield radius * math.sin(angle)
        block += 1


stream = normals(7, 0)
print([struct.unpack("<I", struct.pack("<f", 0.5 * next(stream)))[0] for _ in range(3)])
