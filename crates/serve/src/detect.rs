//! The language of a text, by its letters and trigrams (whatlang).

use whatlang::{Detector, Lang};

/// Codes of two letters, as models and LibreTranslate have them, of the languages that can be told apart.
const CODES: [(&str, &str); 52] = [
    ("afr", "af"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("cym", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("kat", "ka"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mkd", "mk"),
    ("nld", "nl"),
    ("nob", "nb"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
];

/// A detected language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Detection {
    /// Its code.
    pub(crate) language: String,
    /// From 0 to 100.
    pub(crate) confidence: f64,
}

fn lang(code: &str) -> Option<Lang> {
    let (long, _) = CODES.iter().find(|(_, short)| *short == code)?;
    Lang::from_code(*long)
}

fn code(lang: Lang) -> Option<&'static str> {
    CODES.iter().find(|(long, _)| *long == lang.code()).map(|(_, short)| *short)
}

/// The English name of a language; its code if that is all there is.
pub(crate) fn name(code: &str) -> String {
    lang(code).map_or_else(|| code.to_owned(), |lang| lang.eng_name().to_owned())
}

/// The language of a text, of those that there are models for. Where there is nothing to go by, it is the first of them, with confidence 0.
pub(crate) fn detect(text: &str, known: &[&str]) -> Option<Detection> {
    let allowed: Vec<Lang> = known.iter().filter_map(|code| lang(code)).collect();
    let unknown = || {
        let language = (*known.first()?).to_owned();
        Some(Detection { language, confidence: 0.0 })
    };
    if allowed.is_empty() {
        return unknown();
    }
    let found = Detector::with_allowlist(allowed).detect(text);
    let found = found.and_then(|info| Some((code(info.lang())?, info.confidence())));
    let Some((language, confidence)) = found else { return unknown() };
    // Digits that nobody reads are none that clients should compare.
    let confidence = (confidence * 1000.0).round() / 10.0;
    Some(Detection { language: language.to_owned(), confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart_and_named() {
        let german = detect("Wo ist bitte der nächste Bahnhof?", &["en", "de"]).unwrap();
        assert_eq!(german.language, "de");
        let english = detect("Where is the nearest station, please?", &["en", "de"]).unwrap();
        assert_eq!(english.language, "en");
        assert!((0.0..=100.0).contains(&english.confidence));
        let nothing = detect("😀", &["en", "de"]).unwrap();
        assert_eq!(nothing, Detection { language: "en".to_owned(), confidence: 0.0 });
        assert_eq!(detect("Hello", &[]), None);
        let own = detect("Hello", &["qya"]).unwrap();
        assert_eq!((own.language.as_str(), own.confidence), ("qya", 0.0));
        assert_eq!((name("de"), name("qya")), ("German".to_owned(), "qya".to_owned()));
    }

    #[test]
    fn all_codes_are_known() {
        for (long, short) in CODES {
            assert!(Lang::from_code(long).is_some(), "{long} ({short})");
        }
    }
}
