"""Random segments made to find differences: nasty characters, repeated words, shifted blocks."""

import sys
import unicodedata

import regex

SCALARS = [c for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]


def pool(pattern):
    found = regex.compile(pattern)
    return [chr(c) for c in SCALARS if found.match(chr(c))]


SPACES = [chr(c) for c in SCALARS if chr(c).isspace()]
NUMBERS, MARKS, SYMBOLS = pool(r"\p{N}"), pool(r"\p{P}"), pool(r"\p{S}")
COMBINING, UPPER = pool(r"\p{M}"), pool(r"\p{Lu}|\p{Lt}")
ASCII_MARKS = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
EDGES = [
    chr(c + d)
    for c in (
        0x1C, 0x85, 0x2000, 0x2001, 0x2A6D, 0x2E80, 0x2EFF, 0x2F81, 0x2FA1, 0x2FDF, 0x2FF0, 0x3000,
        0x303F, 0x3040, 0x309F, 0x30FB, 0x30FF, 0x312F, 0x31A0, 0x31BF, 0x31EF, 0x31F0, 0x3200,
        0x33FF, 0x3400, 0x3F22, 0x4DB5, 0x4DBF, 0x4E00, 0x9FA5, 0x9FBB, 0x9FFF, 0xD7FF, 0xE000,
        0xF900, 0xFA2D, 0xFA6A, 0xFAD9, 0xFAFF, 0xFE10, 0xFE30, 0xFE4F, 0xFEFF, 0xFF00, 0xFF65,
        0xFFEF, 0x20000, 0x2A6D6, 0x2F800, 0x2FA1D, 0x10FFFE,
    )
    for d in (-1, 0, 1)
    if not 0xD800 <= c + d < 0xE000
]
PIECES = [
    "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;quot;", "&amp;amp;gt;", "&AMP;", "&", "&apos;",
    "<skipped>", "<skip<skipped>ped>", "-\n", "\n-", "\n", "'s", "'S", "'s ", "'s.", "'s!", "...", "..",
    ".,.", "1.5", "1,000.00", "a.b", "-1-", "1-2", "5--6", "U.S.", "…", "don't", "中国", "的的", "好。",
    "\u03a3", "\u0391\u03a3", "\u0130", "I\u0131", "\u1e9e", "\u00df", "\u01c5", "\ufb01", "e\u0301",
    "\u200d", "\u200b", "\u00ad", "\ufe0f", "👩\u200d👩", "🏳\ufe0f",
]
WORDS = ["the", "The", "cat", "sat", "on", "a", "mat", ".", ",", "is", "very", "12", "3.5", "Haus"]


def nasty(rng, length):
    """A string of the worst characters there are."""
    out = []
    for _ in range(length):
        kind = rng.random()
        if kind < 0.25:
            out.append(rng.choice(ASCII_MARKS))
        elif kind < 0.40:
            out.append(rng.choice("0123456789abAB"))
        elif kind < 0.50:
            out.append(" ")
        elif kind < 0.54:
            out.append(rng.choice(SPACES))
        elif kind < 0.70:
            out.append(rng.choice(PIECES))
        elif kind < 0.78:
            out.append(rng.choice(EDGES))
        else:
            out.append(rng.choice(rng.choice((NUMBERS, MARKS, SYMBOLS, COMBINING, UPPER))))
    return "".join(out)


def wordy(rng, length):
    """A sentence of few words, so that n-grams repeat."""
    return " ".join(rng.choice(WORDS) for _ in range(length))


def mutate(rng, text):
    """A hypothesis for a reference: words dropped, doubled, replaced; blocks moved."""
    words = text.split(" ")
    for _ in range(rng.randrange(5)):
        at = rng.randrange(len(words) + 1)
        kind = rng.random()
        if kind < 0.4 and len(words) > 2:
            size = rng.randrange(1, min(12, len(words)))
            start = rng.randrange(len(words) - size + 1)
            block = words[start : start + size]
            del words[start : start + size]
            at = rng.randrange(len(words) + 1)
            words[at:at] = block
        elif kind < 0.6 and words:
            del words[at - 1]
        elif kind < 0.8:
            words.insert(at, rng.choice(words or WORDS))
        else:
            words.insert(at, rng.choice(WORDS))
    return " ".join(words)


def segment(rng):
    """(hypothesis, references)"""
    kind = rng.random()
    if kind < 0.35:
        references = [nasty(rng, rng.randrange(0, 30)) for _ in range(rng.choice((1, 1, 2, 3)))]
    elif kind < 0.9:
        references = [wordy(rng, rng.randrange(0, 25)) for _ in range(rng.choice((1, 1, 1, 2, 4)))]
    else:
        references = [wordy(rng, rng.randrange(25, 90)) for _ in range(rng.choice((1, 1, 2)))]
    if rng.random() < 0.05:
        references[-1] = rng.choice(("", " ", "\u3000"))
    draw = rng.random()
    if draw < 0.8:
        hypothesis = mutate(rng, rng.choice(references))
    elif draw < 0.85:
        hypothesis = rng.choice(("", " ", references[0]))
    elif draw < 0.9:
        hypothesis = nasty(rng, rng.randrange(0, 20))
    else:
        hypothesis = wordy(rng, rng.randrange(0, 60))
    return hypothesis, references


assert unicodedata.unidata_version == "14.0.0", "the goldens are those of Python 3.11"
