#!/usr/bin/env python3
"""Write the everyday phrasebook: short English-German pairs for training, made from the tables below (CC0).

    python3 phrasebook.py [--lists DIR] [--out DIR] [--held-out FILE]...

Writes phrasebook.en-de.{en,de} and phrasebook.de-en.{de,en}, one pair per line. Each source has one target: where a
table offers several, the first one wins, so the preferred pair stands first (du before Sie before ihr). A pair whose
source is in a phrase list (dev or guard) of its direction is dropped; the comparison ignores case, punctuation,
emoji, contractions (I'm = I am) and the spelling of numbers (ten = 10), so that no guard phrase is trained on. A source
with a listed phrase of three words or more as one of its parts is dropped too ("Hi Tom, how are you?"), and so is a pair
with either side in a held-out file, such as the dev and test sets of the corpus that the phrasebook is added to.
The hand-written phrases come first in each file and the templates after them; the report says where.
Deterministic; needs the standard library alone.
"""
import argparse
import gzip
import re
import unicodedata
from pathlib import Path

from phrasebook_tables import *  # noqa: F403  (tables only)

# ---------------------------------------------------------------------------------------------------- German grammar

DEFINITE = {
    "m": {"nom": "der", "acc": "den", "dat": "dem"},
    "f": {"nom": "die", "acc": "die", "dat": "der"},
    "n": {"nom": "das", "acc": "das", "dat": "dem"},
    "p": {"nom": "die", "acc": "die", "dat": "den"},
}
# Endings of ein, kein, mein, dein, sein, ihr.
EIN = {
    "m": {"nom": "", "acc": "en", "dat": "em"},
    "f": {"nom": "e", "acc": "e", "dat": "er"},
    "n": {"nom": "", "acc": "", "dat": "em"},
    "p": {"nom": "e", "acc": "e", "dat": "en"},
}
DIESER = {
    "m": {"nom": "dieser", "acc": "diesen"},
    "f": {"nom": "diese", "acc": "diese"},
    "n": {"nom": "dieses", "acc": "dieses"},
    "p": {"nom": "diese", "acc": "diese"},
}
# Endings of an adjective after ein/kein/mein.
MIXED = {"m": {"nom": "er", "acc": "en"}, "f": {"nom": "e", "acc": "e"}, "n": {"nom": "es", "acc": "es"}}
# Nouns with -n or -en outside the nominative singular.
WEAK = {
    "Junge": "Jungen", "Nachbar": "Nachbarn", "Kollege": "Kollegen", "Student": "Studenten", "Name": "Namen",
    "Neffe": "Neffen", "Herr": "Herrn", "Elefant": "Elefanten", "Bär": "Bären", "Löwe": "Löwen", "Affe": "Affen",
    "Hase": "Hasen", "Polizist": "Polizisten", "Journalist": "Journalisten", "Kunde": "Kunden",
}
ZU = {"m": "zum", "n": "zum", "f": "zur", "p": "zu den"}


def inflect(noun, gender, case):
    return WEAK.get(noun, noun) if gender == "m" and case != "nom" else noun


def the(noun, gender, case="nom"):
    return f"{DEFINITE[gender][case]} {inflect(noun, gender, case)}"


def ein(noun, gender, case="nom", stem="ein"):
    return f"{stem}{EIN[gender][case]} {inflect(noun, gender, case)}"


def this(noun, gender, case="nom"):
    return f"{DIESER[gender][case]} {inflect(noun, gender, case)}"


def ein_new(adjective, noun, gender, case="acc", stem="ein"):
    return f"{stem}{EIN[gender][case]} {adjective}{MIXED[gender][case]} {inflect(noun, gender, case)}"


def to_the(noun, gender):
    return f"{ZU[gender]} {inflect(noun, gender, 'dat')}"


def a(noun):
    """The English noun with a or an."""
    vowel = noun[0].lower() in "aeiou" and not re.match(r"(uni|use|euro|one)", noun) or noun.startswith("hour")
    return ("an " if vowel else "a ") + noun


def plural(noun):
    irregular = {
        "man": "men", "woman": "women", "child": "children", "foot": "feet", "tooth": "teeth", "mouse": "mice",
        "fish": "fish", "sheep": "sheep", "knife": "knives", "wife": "wives", "person": "people", "leaf": "leaves",
        "potato": "potatoes", "tomato": "tomatoes", "goose": "geese", "policeman": "policemen", "half": "halves",
    }
    head, _, last = noun.rpartition(" ")
    if last in irregular:
        last = irregular[last]
    elif re.search(r"[^aeiou]y$", last):
        last = last[:-1] + "ies"
    elif re.search(r"(s|x|ch|sh)$", last):
        last += "es"
    else:
        last += "s"
    return f"{head} {last}".strip()


def in_case_of(model, text):
    """`text` with a capital unless `model` starts with a small letter."""
    return text if model[:1].islower() else upper(text)


def upper(text):
    return text[:1].upper() + text[1:]


# ------------------------------------------------------------------------------------------------------------ numbers

EN_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
DE_UNITS = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
).split()
DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english(n):
    if n < 20:
        return EN_UNITS[n]
    if n < 100:
        return EN_TENS[n // 10 - 2] + ("-" + EN_UNITS[n % 10] if n % 10 else "")
    if n < 1000:
        return EN_UNITS[n // 100] + " hundred" + (" and " + english(n % 100) if n % 100 else "")
    return english(n // 1000) + " thousand" + (" " + english(n % 1000) if n % 1000 else "")


def german(n, one="eins"):
    """`one` is the form of a final 1: eins alone, ein or eine before a noun."""
    if n == 1:
        return one
    if n < 20:
        return DE_UNITS[n]
    if n < 100:
        unit = "ein" if n % 10 == 1 else DE_UNITS[n % 10]
        return (unit + "und" if n % 10 else "") + DE_TENS[n // 10 - 2]
    if n < 1000:
        return german(n // 100, "ein") + "hundert" + (german(n % 100, one) if n % 100 else "")
    return german(n // 1000, "ein") + "tausend" + (german(n % 1000, one) if n % 1000 else "")


# ----------------------------------------------------------------------------------------------------- keys and lists

CONTRACTIONS = [
    (r"\bcan't\b", "can not"), (r"\bcannot\b", "can not"), (r"\bwon't\b", "will not"), (r"n't\b", " not"),
    (r"'m\b", " am"), (r"'re\b", " are"), (r"'ll\b", " will"), (r"'d\b", " would"), (r"'ve\b", " have"),
    (r"\bgeht's\b", "geht es"), (r"\bgehts\b", "geht es"), (r"\bgibt's\b", "gibt es"), (r"\bläuft's\b", "läuft es"),
    (r"\b(it|that|what|where|how|he|she|there|who|here|when|name)'s\b", r"\1 is"),
]
NUMBER_WORDS = {word: str(n) for n in range(2, 101) for word in (english(n), german(n))}


def loose(text):
    """What a source is compared by: no case, punctuation, emoji, contractions or number words."""
    text = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    for pattern, full in CONTRACTIONS:
        text = re.sub(pattern, full, text)
    words = re.findall(r"[^\W_]+(?:[-.,:@/][^\W_]+)*", text)
    return " ".join(NUMBER_WORDS.get(w, w) for w in words) or text.strip()


def listed(directory, direction):
    """The keys of the dev and the guard list of a direction."""
    keys = {}
    for part in ("dev", "guard"):
        path = directory / f"{part}-{direction}.tsv"
        for line in path.read_text(encoding="utf-8").splitlines():
            keys[loose(line.split("\t")[0])] = part
    return keys


# ------------------------------------------------------------------------------------------------------------ phrases


def rows(table):
    """Fields of the lines of a table, `a | b | c`."""
    return [[f.strip() for f in line.split("|")] for line in table.strip().splitlines() if line.strip()]


def some(items, count, seed):
    """`count` of the items, another choice for every seed."""
    step = max(1, len(items) // count)
    return [items[(seed * 5 + i * step + i // len(items)) % len(items)] for i in range(min(count, len(items)))]


def lower_german(text):
    """The German phrase as part of a lower-case text: nouns keep their capital, the first word only if it is one."""
    return text if text.split()[0].strip(",.!?") in NOUN_STARTS else text[:1].lower() + text[1:]


NOUN_STARTS = set(FIRST_NOUNS.split())


def variants(en, de):
    """A short phrase as people type it: with another mark or none, in lower case."""
    yield en, de
    if len(en.split()) > 4:
        return
    bare_en, bare_de = en.rstrip(".!"), de.rstrip(".!")
    question = en.endswith("?")
    if question:
        bare_en, bare_de = en.rstrip("?"), de.rstrip("?")
        yield bare_en, bare_de
    else:
        for mark in (".", "!", "") if len(en.split()) <= 2 or en.endswith("!") else (".", ""):
            yield bare_en + mark, bare_de + mark
    if not NAME.search(bare_en):
        yield bare_en.lower(), lower_german(bare_de)
        # A German text typed without capitals.
        yield bare_en.lower(), bare_de.lower()


NAME = re.compile(r"\b(" + "|".join(re.escape(n) for n in NAMES.split()) + r")\b|\b(Mr|Mrs|Dr)\b")


def hand_written():
    for en, de in rows(PHRASES):
        yield from variants(en, de)
    for i, (en, de) in enumerate(rows(PHRASES)):
        if i % 2 == 0:
            face = EMOJI.split()[i * 7 % len(EMOJI.split())]
            yield f"{en} {face}", f"{de} {face}"
    for face in EMOJI.split():
        yield face, face
        yield face * 2, face * 2
    for line in COPIED.strip().splitlines():
        yield line.strip(), line.strip()
    for en, de in rows(WORDS):
        yield en, de
        yield upper(en), upper(de)
        yield upper(en) + ".", upper(de) + "."
        yield en, de.lower()


def nouns():
    tables = (ITEMS, CLOTHES, THINGS, ANIMALS, PEOPLE, FAMILY, FOOD_NOUNS)
    places = [(en, de, g, many) for en, de, g, _at, many in rows(PLACES)]
    for en, de, gender, many in [tuple(r[:4]) for t in tables for r in rows(t)] + places:
        yield en, de
        yield upper(en), de
        yield en, de.lower()
        yield f"the {en}", the(de, gender)
        yield a(en), ein(de, gender)
        if many != "-":
            yield plural(en), many
            n = 2 + len(en) % 8
            if n % 2:
                yield f"{english(n)} {plural(en)}", f"{german(n)} {many}"


def greetings():
    names = NAMES.split()
    for t, (en, de) in enumerate(rows(NAME_TEMPLATES)):
        for name in some(names, 9, t):
            yield en.replace("NAME", name), de.replace("NAME", name)
    for t, (en, de) in enumerate(rows(TITLE_TEMPLATES)):
        for name in some(SURNAMES.split(), 4, t):
            for title, anrede in (("Mr.", "Herr"), ("Mrs.", "Frau"), ("Ms.", "Frau")):
                yield en.replace("NAME", f"{title} {name}"), de.replace("NAME", f"{anrede} {name}")
    for greet_en, greet_de in rows(GREETINGS):
        for en, de in rows(FOLLOW_UPS):
            yield f"{greet_en}! {en}", f"{greet_de}! {de}"
            yield f"{greet_en}, {en if en.startswith('I') else en[:1].lower() + en[1:]}", f"{greet_de}, {de[:1].lower() + de[1:]}"
    for reason_en, reason_de in rows(THANKS_FOR):
        for en, de in rows(THANKS):
            mark = ".!"[len(reason_en) % 2]
            yield f"{en} for {reason_en}{mark}", f"{de} für {reason_de}{mark}"
    for en, de, gender in rows(WISHES):
        article, ending = "ein" + EIN[gender]["acc"], {"m": "en", "f": "e", "n": "es"}[gender]
        for adj_en, adj_de in (("nice", "schön"), ("good", "schön"), ("great", "toll"), ("wonderful", "wunderschön")):
            wish = f"{adj_de}{ending} {de}"
            yield f"Have {a(adj_en)} {en}!", f"{upper(wish)}!"
            yield f"have {a(adj_en)} {en}", wish
            yield f"Have {a(adj_en)} {en}.", f"{upper(article)} {wish}."
            yield f"I wish you {a(adj_en)} {en}.", f"Ich wünsche dir {article} {wish}."
            yield f"I wish you {a(adj_en)} {en}.", f"Ich wünsche Ihnen {article} {wish}."
    for en, de in rows(SEE_YOU):
        yield f"See you {en}.", f"Bis {de}."
        yield f"See you {en}!", f"Bis {de}!"
        yield f"see you {en}", f"bis {de}"
        yield f"I'll see you {en}.", f"Dann bis {de}."


def places():
    for i, (en, de, gender, at, _many) in enumerate(rows(PLACES)):
        for e, d in some(rows(PLACE_TEMPLATES), 15, i):
            yield in_case_of(e, e.replace("A_PLACE", a(en)).replace("PLACE", f"the {en}")), in_case_of(
                e, d.replace("ZU_PLACE", to_the(de, gender)).replace("AT_PLACE", at)
                .replace("EIN_ACC", ein(de, gender, "acc")).replace("THE_ACC", the(de, gender, "acc"))
                .replace("THE_NOM", the(de, gender))
            )
    cities = rows(CITIES)
    for en, de in cities:
        yield en, de
    for t, (e, d) in enumerate(rows(CITY_TEMPLATES)):
        for en, de in some(cities, 11, t):
            yield e.replace("CITY", en), d.replace("CITY", de)
    for i, (en, de, out_of, inside, into) in enumerate(rows(COUNTRIES)):
        yield upper(en), upper(de)
        yield en.lower(), de
        for e, d in some(rows(COUNTRY_TEMPLATES), 9, i):
            yield e.replace("COUNTRY", en), upper(d.replace("AUS", out_of).replace("INSIDE", inside).replace("INTO", into))
    for i, (en, de) in enumerate(rows(LANGUAGES)):
        yield en, de
        for e, d in some(rows(LANGUAGE_TEMPLATES), 14, i):
            yield e.replace("LANGUAGE", en), d.replace("LANGUAGE", de)


def shopping():
    things = rows(ITEMS) + rows(CLOTHES)
    for i, (en, de, gender, _many) in enumerate(things):
        for e, d in some(rows(ITEM_TEMPLATES), 15, i):
            yield fill_item(e, d, en, de, gender)
        for c, (color_en, color_de) in enumerate(some(rows(COLORS), 2, i)):
            yield f"The {en} is {color_en}.", f"{upper(the(de, gender))} ist {color_de}."
            yield f"I'm looking for a {color_en} {en}.", f"Ich suche {ein_new(color_de, de, gender)}."
            if c:
                yield f"Do you have this {en} in {color_en}?", f"Haben Sie {this(de, gender, 'acc')} in {upper(color_de)}?"
        for adj_en, adj_de in some(rows(ITEM_ADJECTIVES), 2, i):
            yield f"This {en} is too {adj_en}.", f"{upper(this(de, gender))} ist zu {adj_de}."
            yield f"The {en} is very {adj_en}.", f"{upper(the(de, gender))} ist sehr {adj_de}."
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 30, 35, 40, 50, 60, 75, 80, 99, 100, 120, 200, 250, 500, 1000]:
        unit = "euro" if n == 1 else "euros"
        for e, d in rows(PRICE_TEMPLATES):
            if n == 1 and "are" in e:
                continue
            yield e.replace("PRICE", f"{n} {unit}"), d.replace("PRICE", f"{n} Euro")
            yield e.replace("PRICE", f"{english(n)} {unit}"), d.replace("PRICE", f"{german(n, 'ein')} Euro")
        yield f"€{n}", f"{n} €"
        yield f"${n}", f"{n} $"
        yield f"{n} dollars" if n > 1 else "1 dollar", f"{n} Dollar"
        yield f"{n}%", f"{n} %"
        yield f"{n} percent", f"{n} Prozent"
        yield f"{n}.50 euros", f"{n},50 Euro"
        yield f"It costs {n}.99 euros.", f"Es kostet {n},99 Euro."


STEMS = {"EIN": "ein", "KEIN": "kein", "MEIN": "mein", "DEIN": "dein", "IHR": "Ihr"}


def fill_item(e, d, en, de, gender):
    """The templates with the noun: THE_ACC is den Stift, MEIN_NOM mein Stift, BARE Stift; ITEM and A_ITEM in English."""

    def form(found):
        word, case = found.group(1), found.group(2).lower()
        if word in STEMS:
            return ein(de, gender, case, STEMS[word])
        return {"THE": the, "THIS": this}[word](de, gender, case)

    e = e.replace("A_ITEM", a(en)).replace("ITEM", en)
    d = d.replace("EIN_NEW_ACC", ein_new("neu", de, gender)).replace("BARE", de)
    return e, upper(re.sub(r"\b([A-Z]+)_(NOM|ACC|DAT)\b", form, d))


def food():
    for i, (en, de) in enumerate(rows(ORDERS)):
        for e, d in some(rows(ORDER_TEMPLATES), 11, i):
            yield upper(e.replace("FOOD", en)), upper(d.replace("FOOD", de))
    for i, (en, de, gender) in enumerate(rows(MASS_FOOD)):
        for e, d in some(rows(MASS_TEMPLATES), 14, i):
            yield upper(e.replace("FOOD", en)), upper(
                d.replace("KEIN_ACC", ein(de, gender, "acc", "kein")).replace("THE_NOM", the(de, gender)).replace("FOOD", de)
            )
    for n in range(2, 11):
        for en, de in rows(COUNTED_ORDERS):
            yield f"{upper(english(n))} {en}, please.", f"{upper(german(n))} {de}, bitte."
            yield f"{n} {en}, please", f"{n} {de}, bitte"
        yield f"A table for {english(n)}, please.", f"Einen Tisch für {german(n)}, bitte."
        yield f"A table for {n} people, please.", f"Einen Tisch für {n} Personen, bitte."
        yield f"Do you have a table for {english(n)}?", f"Haben Sie einen Tisch für {german(n)}?"


def numbers():
    for n in list(range(0, 101)) + [101, 110, 111, 120, 150, 199, 200, 222, 250, 300, 333, 365, 400, 500, 600, 700, 750, 800, 900, 999, 1000, 2000, 5000, 10000]:
        yield str(n), str(n)
        yield english(n), german(n)
        yield upper(english(n)), upper(german(n))
        if n % 3 == 0:
            yield f"Number {n}", f"Nummer {n}"
            yield f"Number {english(n)}.", f"Nummer {german(n)}."
    yield "1", "1"
    yield "a hundred", "hundert"
    yield "one hundred", "hundert"
    yield "a thousand", "tausend"
    yield "one million", "eine Million"
    for n in (1990, 1999, 2000, 2010, 2015, 2020, 2024, 2025, 4711, 12345, 65536):
        yield str(n), str(n)
    for n in range(1, 13):
        yield f"{n}.5", f"{n},5"
        yield f"{n},000", f"{n}.000"
        yield f"{n} kg", f"{n} kg"
        yield f"{n} km", f"{n} km"
        yield f"Room {n + 100}", f"Zimmer {n + 100}"
        yield f"The {ORDINALS_EN.split()[n - 1]} street on the left.", f"Die {ORDINALS_DE.split()[n - 1]} Straße links."
        yield f"the {ORDINALS_EN.split()[n - 1]} of May", f"der {n}. Mai"
        yield ORDINALS_EN.split()[n - 1], ORDINALS_DE.split()[n - 1] + "r"
    for x in range(1, 6):
        for y in range(1, 6):
            yield f"{upper(english(x))} plus {english(y)} is {english(x + y)}.", f"{upper(german(x))} plus {german(y)} ist {german(x + y)}."
    for n in range(1, 91):
        years = "year" if n == 1 else "years"
        jahre = "Jahr" if n == 1 else "Jahre"
        word = german(n, "ein")
        yield f"I'm {n} {years} old.", f"Ich bin {n} {jahre} alt."
        if 3 < n < 90 and n % 2:
            yield f"I am {english(n)} years old.", f"Ich bin {word} Jahre alt."
            yield f"I'm {n}.", f"Ich bin {n}."
            yield f"She's {english(n)}.", f"Sie ist {german(n)}."
        who_en, who_de = some(rows(WHO), 1, n)[0]
        yield f"{who_en} is {n} {years} old.", f"{who_de} ist {n} {jahre} alt."
        yield f"{who_en} is {english(n)} {years} old.", f"{who_de} ist {word} {jahre} alt."
        if n % 5 == 0:
            yield f"I'll turn {english(n)} tomorrow.", f"Ich werde morgen {german(n)}."


def clock():
    hours = list(range(1, 13))
    for h in hours:
        en, de, after = english(h), german(h), german(h % 12 + 1)
        ein_uhr = german(h, "ein")
        yield f"It's {en} o'clock.", f"Es ist {ein_uhr} Uhr."
        yield f"It is {h} o'clock.", f"Es ist {h} Uhr."
        yield f"It's already {en} o'clock.", f"Es ist schon {ein_uhr} Uhr."
        yield f"It's almost {en} o'clock.", f"Es ist fast {ein_uhr} Uhr."
        yield f"It's half past {en}.", f"Es ist halb {after}."
        yield f"It's {en} thirty.", f"Es ist halb {after}."
        yield f"It's a quarter past {en}.", f"Es ist Viertel nach {de}."
        yield f"It's a quarter to {english(h % 12 + 1)}.", f"Es ist Viertel vor {after}."
        yield f"It's quarter past {en}.", f"Es ist Viertel nach {de}."
        yield f"It's quarter to {english(h % 12 + 1)}.", f"Es ist Viertel vor {after}."
        yield f"It's ten past {en}.", f"Es ist zehn nach {de}."
        yield f"It's five to {en}.", f"Es ist fünf vor {de}."
        yield f"It's twenty past {en}.", f"Es ist zwanzig nach {de}."
        yield f"It's {h}:30.", f"Es ist {h}:30 Uhr."
        yield f"It's {h}:15.", f"Es ist {h}:15 Uhr."
        yield f"It's {h}:05.", f"Es ist {h}:05 Uhr."
        yield f"At {en} o'clock", f"Um {ein_uhr} Uhr"
        yield f"at {h} o'clock", f"um {h} Uhr"
        yield f"At half past {en}", f"Um halb {after}"
        if h < 12:
            yield f"{h} a.m.", f"{h} Uhr"
            yield f"{h} p.m.", f"{h + 12} Uhr"
        yield f"{upper(en)} o'clock.", f"{upper(ein_uhr)} Uhr."
        yield f"See you at {en}.", f"Bis um {de}."
        yield f"See you at {en} o'clock.", f"Bis um {ein_uhr} Uhr."
        for i, (e, d) in enumerate(rows(TIME_TEMPLATES)):
            if (i + h) % 2 == 0:
                yield e.replace("TIME", f"{en} o'clock"), d.replace("TIME", f"{ein_uhr} Uhr")
                yield e.replace("TIME", f"{h}:45"), d.replace("TIME", f"{h}:45 Uhr")
            else:
                yield e.replace("TIME", f"half past {en}"), d.replace("TIME", f"halb {after}")
                yield e.replace("TIME", f"{h}"), d.replace("TIME", f"{h} Uhr")
    for en, de in rows(DURATIONS):
        for e, d in rows(DURATION_TEMPLATES):
            yield e.replace("SPAN", en), d.replace("SPAN", de)


def calendar():
    days, months = rows(WEEKDAYS), rows(MONTHS)
    for i, (en, de) in enumerate(days):
        yield en, de
        yield en.lower(), de
        yield en.lower(), de.lower()
        for e, d in rows(DAY_TEMPLATES):
            yield e.replace("DAY", en), d.replace("DAY", de)
        after_en, after_de = days[(i + 2) % 7]
        yield f"From {en} to {after_en}", f"Von {de} bis {after_de}"
        yield f"{en} or {after_en}?", f"{de} oder {after_de}?"
    for m, (en, de) in enumerate(months):
        yield en, de
        yield en.lower(), de
        for e, d in rows(MONTH_TEMPLATES):
            yield e.replace("MONTH", en), d.replace("MONTH", de)
        for day in some([1, 2, 3, 5, 8, 11, 12, 14, 17, 20, 23, 26, 30], 6, m):
            day = min(28, day) if en == "February" else day
            ordinal = f"{day}{'th' if 10 < day < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
            weekday_en, weekday_de = days[(day + m) % 7]
            yield f"{en} {day}", f"{day}. {de}"
            yield f"On {en} {ordinal}", f"Am {day}. {de}"
            yield f"Today is {en} {day}.", f"Heute ist der {day}. {de}."
            yield f"My birthday is on {en} {ordinal}.", f"Ich habe am {day}. {de} Geburtstag."
            yield f"My birthday is on {en} {day}.", f"Mein Geburtstag ist am {day}. {de}."
            yield f"{weekday_en}, {en} {day}", f"{weekday_de}, {day}. {de}"
            yield f"See you on {en} {ordinal}.", f"Bis zum {day}. {de}."
            yield f"I was born on {en} {day}, {1950 + 2 * day + m}.", f"Ich wurde am {day}. {de} {1950 + 2 * day + m} geboren."
    for year in range(1950, 2016, 3):
        yield f"I was born in {year}.", f"Ich wurde {year} geboren."
        yield f"He was born in {year + 1}.", f"Er wurde {year + 1} geboren."
        yield f"In {year}", f"Im Jahr {year}"


def weather():
    for en, de in rows(WEATHER_ADJECTIVES):
        for e, d in rows(WEATHER_TEMPLATES):
            yield e.replace("ADJ", en), d.replace("ADJ", de)
    for i, (en, de) in enumerate(rows(WEATHER_ADJECTIVES)):
        for city_en, city_de in some(rows(CITIES), 4, i):
            yield f"It's {en} in {city_en}.", f"In {city_de} ist es {de}."
    for n in range(-10, 40, 3):
        minus = "minus " if n < 0 else ""
        yield f"It's {minus}{abs(n)} degrees.", f"Es sind {minus}{abs(n)} Grad."


def health():
    for en, de, gender in rows(BODY):
        hurts, hurt_de = ("hurt", "tun") if gender == "p" else ("hurts", "tut")
        mine, yours = ein(de, gender, "nom", "mein"), ein(de, gender, "nom", "dein")
        polite = ein(de, gender, "nom", "Ihr")
        yield f"My {en} {hurts}.", f"{upper(mine)} {hurt_de} weh."
        yield f"My {en} {hurts}.", f"Mir {hurt_de} {the(de, gender)} weh."
        yield f"My {en} still {hurts}.", f"{upper(mine)} {hurt_de} immer noch weh."
        yield f"Does your {en} hurt?" if gender != "p" else f"Do your {en} hurt?", f"{upper(hurt_de)} {yours} weh?"
        yield f"Does your {en} hurt?" if gender != "p" else f"Do your {en} hurt?", f"{upper(hurt_de)} {polite} weh?"
        if gender != "p":
            yield f"I broke my {en}.", f"Ich habe mir {the(de, gender, 'acc')} gebrochen."
            yield f"I have a pain in my {en}.", f"Mir tut {the(de, gender)} weh."
        yield f"my {en} {hurts}", f"{mine} {hurt_de} weh"
    for en, de in rows(AILMENTS):
        yield f"I have {en}.", f"Ich habe {de}."
        yield f"i have {en}", f"ich habe {de}"
        yield f"Do you have {en}?", f"Hast du {de}?"
        yield f"Do you have {en}?", f"Haben Sie {de}?"
        yield f"He has {en}.", f"Er hat {de}."
        yield f"She has {en}.", f"Sie hat {de}."
        yield f"My son has {en}.", f"Mein Sohn hat {de}."
        yield f"My daughter has {en}.", f"Meine Tochter hat {de}."
        yield f"I've had {en} since yesterday.", f"Ich habe seit gestern {de}."
        yield f"I need something for {en}.".replace("for a ", "for a "), f"Ich brauche etwas gegen {de}."


def people():
    names = NAMES.split()
    for i, (en, men, women) in enumerate(rows(JOBS)):
        job = a(en)
        yield f"I'm {job}.", f"Ich bin {men}."
        yield f"I'm {job}.", f"Ich bin {women}."
        yield f"I am {job}.", f"Ich bin {men}."
        yield f"He is {job}.", f"Er ist {men}."
        yield f"She is {job}.", f"Sie ist {women}."
        yield f"Are you {job}?", f"Bist du {men}?"
        yield f"Are you {job}?", f"Sind Sie {men}?"
        yield f"My father is {job}.", f"Mein Vater ist {men}."
        yield f"My mother is {job}.", f"Meine Mutter ist {women}."
        yield f"My brother works as {job}.", f"Mein Bruder arbeitet als {men}."
        yield f"My sister works as {job}.", f"Meine Schwester arbeitet als {women}."
        yield f"I want to be {job}.", f"Ich möchte {men} werden."
        yield f"I work as {job}.", f"Ich arbeite als {men}."
    for i, (en, de, gender, many) in enumerate(rows(FAMILY)):
        name = [n for n in names if (n in WOMEN.split()) == (gender == "f")][i * 3 % 12]
        for e, d in rows(FAMILY_TEMPLATES):
            yield fill_item(e.replace("NAME", name), d.replace("NAME", name), en, de, gender)
        if many != "-":
            for n in (2, 3, 4):
                yield f"I have {english(n)} {plural(en)}.", f"Ich habe {german(n)} {many}."


SUBJECTS = [
    ("I", "am", "Ich", "bin"), ("You", "are", "Du", "bist"), ("He", "is", "Er", "ist"), ("She", "is", "Sie", "ist"),
    ("We", "are", "Wir", "sind"), ("They", "are", "Sie", "sind"), ("You", "are", "Sie", "sind"), ("You", "are", "Ihr", "seid"),
]
SHORT = {"I am": "I'm", "You are": "You're", "He is": "He's", "She is": "She's", "We are": "We're", "They are": "They're"}


def states():
    for i, (en, de, kind) in enumerate(rows(STATES)):
        for who_en, be, who_de, bin_ in SUBJECTS:
            short = SHORT[f"{who_en} {be}"]
            yield f"{short} {en}.", f"{who_de} {bin_} {de}."
            yield f"{short} not {en}.", f"{who_de} {bin_} nicht {de}."
            if who_en == "I":
                yield f"I am {en}.", f"Ich bin {de}."
                yield f"i'm {en}", f"ich bin {de}"
                yield f"I was {en}.", f"Ich war {de}."
            else:
                question = f"{bin_} {who_de if who_de == 'Sie' and who_en == 'You' else who_de.lower()}"
                yield f"{upper(be)} {who_en.lower()} {en}?", f"{upper(question)} {de}?"
                if who_en in ("You", "He"):
                    yield f"Why {be} {who_en.lower()} {en}?", f"Warum {question} {de}?"
        yield f"Tom is {en}.", f"Tom ist {de}."
        if kind == "gradable":
            yield f"I'm very {en}.", f"Ich bin sehr {de}."
            yield f"I'm so {en}!", f"Ich bin so {de}!"
            yield f"I'm a little {en}.", f"Ich bin ein bisschen {de}."
            yield f"Don't be so {en}.", f"Sei nicht so {de}."
    for en, de in rows(HAVE_STATES):
        forms = [("I'm", "Ich habe"), ("You're", "Du hast"), ("He's", "Er hat"), ("She's", "Sie hat"), ("We're", "Wir haben"), ("They're", "Sie haben")]
        for who, habe in forms:
            yield f"{who} {en}.", f"{habe} {de}."
            yield f"{who} very {en}.", f"{habe} {'großen' if de in ('Hunger', 'Durst') else 'große'} {de}." 
        yield f"Are you {en}?", f"Hast du {de}?"
        yield f"Are you {en}?", f"Haben Sie {de}?"
        yield f"Are you {en}?", f"Habt ihr {de}?"
        yield f"Is he {en}?", f"Hat er {de}?"
        yield f"I'm not {en}.", f"Ich habe {'keine' if de == 'Angst' else 'keinen'} {de}."
        yield f"I'm so {en}!", f"Ich habe so {'große' if de == 'Angst' else 'großen'} {de}!"


def verbs():
    """Simple statements and questions from verb phrases: of each every other form, of the next one the others."""
    for i, row in enumerate(rows(VERBS)):
        yield from [pair for k, pair in enumerate(verb_forms(*row)) if (i + k) % 2]


def verb_forms(en, third, past, ing, inf, du, er, part, rest, neg, prefix):
    """All the forms of a verb phrase; see VERBS for the columns."""
    stem_ich = ICH.get(inf, inf[:-1] if inf.endswith("en") else inf[:-1] + "e")
    we, ihr = inf, IHR.get(inf, du_to_ihr(inf))
    rest, neg, prefix = (t and " " + t for t in (rest, neg, prefix))
    full = f"{rest} {prefix.strip()}{inf}"
    not_full = f"{neg} {prefix.strip()}{inf}"
    aux, participle = part.split()
    tail = rest + prefix
    yield f"I {en}.", f"Ich {stem_ich}{tail}."
    yield f"I don't {en}.", f"Ich {stem_ich}{neg}{prefix}."
    yield f"You {en}.", f"Du {du}{tail}."
    yield f"He {third}.", f"Er {er}{tail}."
    yield f"She {third}.", f"Sie {er}{tail}."
    yield f"We {en}.", f"Wir {we}{tail}."
    yield f"They {en}.", f"Sie {we}{tail}."
    yield f"He doesn't {en}.", f"Er {er}{neg}{prefix}."
    yield f"We don't {en}.", f"Wir {we}{neg}{prefix}."
    yield f"Do you {en}?", f"{upper(du)} du{tail}?"
    yield f"Do you {en}?", f"{upper(we)} Sie{tail}?"
    yield f"Do you {en}?", f"{upper(ihr)} ihr{tail}?"
    yield f"Does he {en}?", f"{upper(er)} er{tail}?"
    yield f"Does she {en}?", f"{upper(er)} sie{tail}?"
    yield f"Does Tom {en}?", f"{upper(er)} Tom{tail}?"
    yield f"Don't you {en}?", f"{upper(du)} du{neg}{prefix}?"
    yield f"I want to {en}.", f"Ich möchte{full}."
    yield f"I want to {en}.", f"Ich will{full}."
    yield f"I'd like to {en}.", f"Ich würde gern{full}."
    yield f"I can't {en}.", f"Ich kann{not_full}."
    yield f"Can you {en}?", f"Kannst du{full}?"
    yield f"Can you {en}?", f"Können Sie{full}?"
    yield f"I have to {en}.", f"Ich muss{full}."
    yield f"I must {en}.", f"Ich muss{full}."
    yield f"Do you want to {en}?", f"Möchtest du{full}?"
    yield f"Would you like to {en}?", f"Möchten Sie{full}?"
    yield f"We can {en}.", f"Wir können{full}."
    yield f"Let's {en}.", f"Lass uns{full}."
    yield f"I will {en}.", f"Ich werde{full}."
    yield f"I'm going to {en} tomorrow.", f"Ich werde morgen{full}."
    yield f"I'm {ing}.", f"Ich {stem_ich} gerade{tail}."
    yield f"He's {ing}.", f"Er {er} gerade{tail}."
    yield f"She is {ing}.", f"Sie {er} gerade{tail}."
    yield f"Are you {ing}?", f"{upper(du)} du gerade{tail}?"
    yield f"I like {ing}." if "like" not in en else f"I {en} very much.", f"Ich {stem_ich} gern{tail}." if "like" not in en else f"Ich {stem_ich}{tail} sehr."
    perfect = {"habe": ("habe", "hast", "hat", "haben"), "bin": ("bin", "bist", "ist", "sind")}[aux]
    yield f"I {past}.", f"Ich {perfect[0]}{rest} {participle}."
    yield f"He {past}.", f"Er {perfect[2]}{rest} {participle}."
    yield f"We {past}.", f"Wir {perfect[3]}{rest} {participle}."
    yield f"Did you {en}?", f"{upper(perfect[1])} du{rest} {participle}?"
    yield f"Did you {en}?", f"{upper(perfect[3])} Sie{rest} {participle}?"
    yield f"I didn't {en}.", f"Ich {perfect[0]}{neg} {participle}."
    yield f"I {past} yesterday.", f"Ich {perfect[0]} gestern{rest} {participle}."


def requests():
    for i, (en, de_du, de_sie, inf) in enumerate(rows(REQUESTS)):
        informal = re.sub(r"\bsich\b", "dir", re.sub(r"\bIhre", "deine", inf))
        yield f"Please {en}.", f"{upper(de_du)}."
        yield f"Please {en}.", f"{upper(de_sie)}."
        yield f"{upper(en)}.", f"{upper(de_du.replace(' bitte', '', 1))}."
        yield f"{upper(en)}, please.", f"{upper(de_sie)}."
        yield f"Could you please {en}?", f"Könnten Sie bitte {inf}?"
        yield f"Could you {en}?", f"Könnten Sie {inf}?"
        yield f"Can you {en}?", f"Kannst du {informal}?"
        yield f"Can you please {en}?", f"Kannst du bitte {informal}?"
        yield f"Would you please {en}?", f"Würden Sie bitte {inf}?"
        yield f"Excuse me, could you {en}?", f"Entschuldigung, könnten Sie {inf}?"


# First person and ihr forms that the rule does not give.
ICH = {"tun": "tue", "sein": "bin"}
IHR = {"tun": "tut"}


def du_to_ihr(inf):
    stem = inf[:-2] if inf.endswith("en") else inf[:-1]
    return stem + ("et" if re.search(r"([td]|[^lrhaeiou][mn])$", stem) else "t")


# ------------------------------------------------------------------------------------------------------------- output

HAND_WRITTEN = [hand_written]
TEMPLATES = [greetings, places, shopping, food, numbers, clock, calendar, weather, health, people, states, verbs, requests, nouns]


def collect(makers, pairs, counts):
    for maker in makers:
        before = len(pairs)
        pairs += [(" ".join(en.split()), " ".join(de.split())) for en, de in maker()]
        counts[maker.__name__] = len(pairs) - before


def in_list(source, barred):
    """The list that holds the source, or a part of it of three words or more (Hi, *how are you?*); else None."""
    if loose(source) in barred:
        return barred[loose(source)]
    parts = (loose(part) for part in re.split(r"[,.!?]+(?:\s+|$)", source))
    return next((barred[part] for part in parts if part.count(" ") >= 2 and part in barred), None)


def read_lines(path):
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as lines:
        return [line.rstrip("\r\n") for line in lines]


def one_target(pairs, barred, held_out, report):
    """Distinct sources, each with the first target that its key was given; none that is in a phrase list."""
    targets, written = {}, {}
    for source, target in pairs:
        key, part = loose(source), in_list(source, barred)
        if part:
            report[part].add(source)
        elif key in held_out or loose(target) in held_out:
            report["held out"].add(source)
        elif targets.setdefault(key, loose(target)) == loose(target):
            written.setdefault(source, target)
        else:
            report["other target"].add(source)
    return list(written.items())


def main():
    here = Path(__file__).resolve().parent
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lists", type=Path, default=here, help="directory of dev-en-de.tsv and its like")
    options.add_argument("--out", type=Path, default=here)
    options.add_argument("--held-out", type=Path, action="append", default=[], metavar="FILE", help="plain or .gz")
    options = options.parse_args()
    held_out = {loose(line) for path in options.held_out for line in read_lines(path)}
    pairs, counts = [], {}
    collect(HAND_WRITTEN, pairs, counts)
    core = len(pairs)
    collect(TEMPLATES, pairs, counts)
    print("pairs made: " + ", ".join(f"{name} {n}" for name, n in counts.items()))
    for direction in ("en-de", "de-en"):
        ordered = pairs if direction == "en-de" else [(de, en) for en, de in pairs]
        barred = listed(options.lists, direction)
        report = {"dev": set(), "guard": set(), "held out": set(), "other target": set()}
        kept = one_target(ordered, barred, held_out, report)
        hand = len(one_target(ordered[:core], barred, held_out, {k: set() for k in report}))
        languages = direction.split("-")
        for side, language in enumerate(languages):
            path = options.out / f"phrasebook.{direction}.{language}"
            path.write_text("".join(pair[side] + "\n" for pair in kept), encoding="utf-8")
        print(
            f"{direction}: {len(kept)} pairs, the first {hand} hand-written; dropped {len(report['dev'])} sources of the "
            f"dev list, {len(report['guard'])} of the guard list, {len(report['held out'])} held out, "
            f"{len(report['other target'])} with another target"
        )


if __name__ == "__main__":
    main()
