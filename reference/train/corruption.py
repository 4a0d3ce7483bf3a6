"""Corrupted targets, computed independently of the Rust code: the constants of crates/train/src/objective/corruption.rs.

The stream is Philox 4x32-10 (Salmon et al. 2011) with key = seed and counter = (block, purpose, index); a number in [0, 1) is
the upper 53 of 64 bits. A rate is drawn for the sequence, then one number for each position, then one for each position under noise.

    python reference/train/corruption.py
"""

SEED, PURPOSE, INDEX = 7, 5, 3  # Purpose::Corruption
MASK, RANDOM = 99, range(3, 100)
SENTENCE = [*range(40, 52), 1]
LOW = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for round in range(10):
        if round:
            k = [(k[0] + 0x9E3779B9) & LOW, (k[1] + 0xBB67AE85) & LOW]
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & LOW, (a >> 32) ^ c[3] ^ k[1], a & LOW]
    return c


def words():
    block = 0
    while True:
        yield from philox([block, PURPOSE, INDEX & LOW, INDEX >> 32], [SEED & LOW, SEED >> 32])
        block += 1


class Stream:
    def __init__(self):
        self.words = words()

    def u64(self):
        low = next(self.words)
        return next(self.words) << 32 | low

    def uniform(self):
        return (self.u64() >> 11) / 2**53

    def below(self, n):  # Lemire: reject what would make some numbers likelier
        while True:
            product = self.u64() * n
            if product % 2**64 >= (2**64 - n) % n:
                return product >> 64


def corrupt(density, kept, random):
    """Rates are numbers; `None` is one that is drawn."""
    stream = Stream()
    density = stream.uniform() if density is None else density
    kept = 0.5 * stream.uniform() if kept is None else kept
    random = 0.5 * stream.uniform() if random is None else random
    noise = [i for i in range(len(SENTENCE) - 1) if stream.uniform() < density]
    tokens = list(SENTENCE)
    for i in noise:
        u = stream.uniform()
        if kept <= u < kept + random:
            tokens[i] = RANDOM[0] + stream.below(len(RANDOM))
        elif u >= kept + random:
            tokens[i] = MASK
    return tokens


print(corrupt(0.6, 0.3, None))
print(corrupt(None, 0.3, None))
