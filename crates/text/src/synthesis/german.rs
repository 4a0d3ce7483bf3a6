//! German number words, in the full style: *einhunderteins*, *eintausendeins*.
//!
//! *Eins* stands only at the very end; before another part it is *ein*, before the feminine
//! *Million* and *Milliarde* it is *eine* (as in Unicode's CLDR rules for spelling numbers out).

const SMALL: [&str; 20] = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
];
const TENS: [&str; 10] = [
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
];
const SCALES: [(u64, &str, &str); 3] = [
    (1_000_000_000_000, "Billion", "Billionen"),
    (1_000_000_000, "Milliarde", "Milliarden"),
    (1_000_000, "Million", "Millionen"),
];

/// How a final one is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum One {
    /// Counting: *eins*, *einhunderteins*.
    Eins,
    /// Before what follows in the same word, or a masculine or neuter noun: *ein*.
    Ein,
    /// Before a feminine noun: *eine*.
    Eine,
}

impl One {
    fn word(self) -> &'static str {
        match self {
            Self::Eins => "eins",
            Self::Ein => "ein",
            Self::Eine => "eine",
        }
    }
}

/// A number in words, up to 10¹⁵ − 1: *eine Million zweihunderttausendfünf*.
pub fn cardinal(n: u64) -> String {
    if n == 0 {
        return SMALL[0].to_owned();
    }
    let mut words = Vec::new();
    let mut rest = n;
    for (scale, singular, plural) in SCALES {
        if rest >= scale {
            let count = rest / scale;
            words.push(below_thousand(count, One::Eine));
            words.push(if count == 1 { singular } else { plural }.to_owned());
            rest %= scale;
        }
    }
    if rest > 0 {
        words.push(below_million(rest));
    }
    words.join(" ")
}

/// One word: thousands and the rest grow together.
fn below_million(n: u64) -> String {
    match (n / 1000, n % 1000) {
        (0, rest) => below_thousand(rest, One::Eins),
        (thousands, 0) => format!("{}tausend", below_thousand(thousands, One::Ein)),
        (thousands, rest) => {
            let thousands = below_thousand(thousands, One::Ein);
            format!("{thousands}tausend{}", below_thousand(rest, One::Eins))
        }
    }
}

fn below_thousand(n: u64, one: One) -> String {
    match (n / 100, n % 100) {
        (0, rest) => below_hundred(rest, one),
        (hundreds, 0) => format!("{}hundert", below_hundred(hundreds, One::Ein)),
        (hundreds, rest) => {
            let hundreds = below_hundred(hundreds, One::Ein);
            format!("{hundreds}hundert{}", below_hundred(rest, one))
        }
    }
}

/// A number below 100: *ein*, *zwölf*, *einundzwanzig*.
pub fn below_hundred(n: u64, one: One) -> String {
    let n = n as usize % 100;
    match (n / 10, n % 10) {
        (0, 1) => one.word().to_owned(),
        (0 | 1, _) => SMALL[n].to_owned(),
        (tens, 0) => TENS[tens].to_owned(),
        (tens, 1) => format!("einund{}", TENS[tens]),
        (tens, unit) => format!("{}und{}", SMALL[unit], TENS[tens]),
    }
}

/// The stem of an ordinal up to 99, to which case endings are added: *dritt*, *siebt*,
/// *einundzwanzigst*.
pub fn ordinal_stem(n: u64) -> String {
    match n {
        1 => "erst".to_owned(),
        3 => "dritt".to_owned(),
        7 => "siebt".to_owned(),
        8 => "acht".to_owned(),
        0..20 => format!("{}t", below_hundred(n, One::Eins)),
        _ => format!("{}st", below_hundred(n, One::Eins)),
    }
}

/// A year from 1100 to 2099 as it is said: *neunzehnhundertfünf*, *zweitausendneun*.
pub fn year(n: u64) -> String {
    match (n / 100, n % 100) {
        (20.., _) => cardinal(n),
        (century, 0) => format!("{}hundert", below_hundred(century, One::Ein)),
        (century, rest) => {
            let century = below_hundred(century, One::Ein);
            format!("{century}hundert{}", below_hundred(rest, One::Eins))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_of_the_days() {
        let cases = [
            (1, "erst"),
            (2, "zweit"),
            (3, "dritt"),
            (7, "siebt"),
            (8, "acht"),
            (11, "elft"),
            (12, "zwölft"),
            (16, "sechzehnt"),
            (17, "siebzehnt"),
            (19, "neunzehnt"),
            (20, "zwanzigst"),
            (21, "einundzwanzigst"),
            (30, "dreißigst"),
            (31, "einunddreißigst"),
        ];
        for (n, stem) in cases {
            assert_eq!(ordinal_stem(n), stem);
        }
    }

    #[test]
    fn years_as_they_are_said() {
        let cases = [
            (1600, "sechzehnhundert"),
            (1601, "sechzehnhunderteins"),
            (1721, "siebzehnhunderteinundzwanzig"),
            (1987, "neunzehnhundertsiebenundachtzig"),
            (2000, "zweitausend"),
            (2001, "zweitausendeins"),
            (2010, "zweitausendzehn"),
        ];
        for (n, words) in cases {
            assert_eq!(year(n), words);
        }
    }
}
