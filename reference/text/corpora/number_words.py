"""Writes the number words that crates/text/src/synthesis is tested against.

    pip install num2words==0.5.14
    python reference/text/corpora/number_words.py > crates/text/src/synthesis/golden/numbers.tsv

num2words differs from what we want in three ways, all repaired below:
- English groups are separated by commas; spoken words have none.
- 101000 comes out as "einhunderteinstausend"; it is "einhunderteintausend".
- 101 million comes out as "einhunderteins Millionen"; the noun is feminine and wants "eine", as
  in the rules for spelling out numbers of Unicode's CLDR.
"""

import random
import re

from num2words import num2words


def english(n):
    return num2words(n, lang="en").replace(",", "")


def german(n):
    words = num2words(n, lang="de").replace("einstausend", "eintausend")
    return re.sub(r"eins (?=Million|Milliard|Billion)", "eine ", words)


def main():
    random.seed(1)
    numbers = set(range(130)) | {10**k + d for k in range(2, 13) for d in (-1, 0, 1, 21)}
    numbers |= {k * 10**e for k in (1, 21, 101, 201, 999) for e in range(10)}
    for digits in range(3, 13):
        numbers |= {random.randrange(10 ** (digits - 1), 10**digits) for _ in range(12)}
    for n in sorted(numbers):
        if n <= 10**12:
            print(n, english(n), german(n), sep="\t")


if __name__ == "__main__":
    main()
