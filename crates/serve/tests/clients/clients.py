"""Real clients of LibreTranslate against `padir serve`: libretranslatepy and deep-translator.

    python3 clients.py http://127.0.0.1:5000

Needs `pip install libretranslatepy deep-translator`. Prints one line for each check; ends with an error if one fails.
"""

import importlib.metadata
import sys

from deep_translator import LibreTranslator
from libretranslatepy import LibreTranslateAPI

ENGLISH, GERMAN = "Good morning.", "Guten Morgen."


def main(url: str) -> None:
    for name in ["libretranslatepy", "deep-translator"]:
        print(name, importlib.metadata.version(name))
    api = LibreTranslateAPI(url.rstrip("/") + "/")
    translated = api.translate(ENGLISH, "en", "de")
    assert translated == GERMAN, translated
    codes = {language["code"] for language in api.languages()}
    assert {"en", "de"} <= codes, codes
    detected = api.detect("Wo ist bitte der Bahnhof?")
    assert detected[0]["language"] == "de", detected
    print("libretranslatepy: translate, languages, detect")
    deep = LibreTranslator(source="en", target="de", custom_url=url.rstrip("/") + "/", use_free_api=False, api_key="none")
    translated = deep.translate(ENGLISH)
    assert translated == GERMAN, translated
    several = deep.translate_batch([ENGLISH, ENGLISH])
    assert several == [GERMAN, GERMAN], several
    print("deep-translator: translate, translate_batch")


if __name__ == "__main__":
    main(sys.argv[1])
