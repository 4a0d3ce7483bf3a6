"""Compare the normalisation rules inside two SentencePiece models.

    pip install sentencepiece==0.2.2 protobuf
    python reference/vocab/rule.py REFERENCE.model OURS.model

Decompiles both tries into their replacements and prints what differs.
"""

import struct
import sys
import unicodedata

from sentencepiece import sentencepiece_model_pb2


def replacements(path: str) -> dict:
    model = sentencepiece_model_pb2.ModelProto()
    with open(path, "rb") as file:
        model.ParseFromString(file.read())
    blob = model.normalizer_spec.precompiled_charsmap
    (size,) = struct.unpack_from("<I", blob)
    units = struct.unpack_from(f"<{size // 4}I", blob, 4)
    strings = blob[4 + size:]
    offset = lambda unit: (unit >> 10) << ((unit & 512) >> 6)
    found, stack = {}, [(0, b"")]
    while stack:
        node, key = stack.pop()
        unit = units[node]
        if unit >> 8 & 1:
            place = units[node ^ offset(unit)] & 0x7FFFFFFF
            found[key.decode()] = strings[place:strings.index(b"\0", place)].decode()
        for byte in range(1, 256):
            child = node ^ offset(unit) ^ byte
            if child < len(units) and units[child] & 0x800000FF == byte:
                stack.append((child, key + bytes([byte])))
    return found


def main():
    reference, ours = (replacements(path) for path in sys.argv[1:3])
    show = lambda text: "+".join(f"U+{ord(c):04X}" for c in text) or "nothing"
    differ = [k for k in sorted(reference.keys() | ours.keys()) if reference.get(k) != ours.get(k)]
    for key in differ:
        names = "; ".join(unicodedata.name(c, "?") for c in key)
        left = show(reference[key]) if key in reference else "no rule"
        right = show(ours[key]) if key in ours else "no rule"
        print(f"{show(key)} ({names}): reference {left}, ours {right}")
    print(f"{len(reference)} replacements in the reference, {len(ours)} in ours, {len(differ)} differ")


if __name__ == "__main__":
    main()
