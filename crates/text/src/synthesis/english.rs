//! English number words, in British style: *one hundred and one*.

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: [(u64, &str); 4] = [
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];
const ORDINALS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];

/// The largest number with a name here, 10¹⁵ − 1.
pub const LARGEST: u64 = 999_999_999_999_999;

/// A number in words, up to [`LARGEST`]: *one million two hundred thousand and five*.
pub fn cardinal(n: u64) -> String {
    if n == 0 {
        return SMALL[0].to_owned();
    }
    let mut words = Vec::new();
    let mut rest = n;
    for (scale, name) in SCALES {
        if rest >= scale {
            words.push(below_thousand(rest / scale));
            words.push(name.to_owned());
            rest %= scale;
        }
    }
    if rest > 0 {
        if rest < 100 && !words.is_empty() {
            words.push("and".to_owned());
        }
        words.push(below_thousand(rest));
    }
    words.join(" ")
}

fn below_thousand(n: u64) -> String {
    match (n / 100, n % 100) {
        (0, rest) => below_hundred(rest),
        (hundreds, 0) => format!("{} hundred", SMALL[hundreds as usize % 20]),
        (hundreds, rest) => {
            format!("{} hundred and {}", SMALL[hundreds as usize % 20], below_hundred(rest))
        }
    }
}

fn below_hundred(n: u64) -> String {
    let n = n as usize % 100;
    match (n / 10, n % 10) {
        (0 | 1, _) => SMALL[n].to_owned(),
        (tens, 0) => TENS[tens].to_owned(),
        (tens, unit) => format!("{}-{}", TENS[tens], SMALL[unit]),
    }
}

/// An ordinal in words for the days of a month and beyond, up to 99: *twenty-first*.
pub fn ordinal(n: u64) -> String {
    let n = n as usize % 100;
    match (n / 10, n % 10) {
        (0 | 1, _) => ORDINALS[n].to_owned(),
        (tens, 0) => format!("{}ieth", TENS[tens].trim_end_matches('y')),
        (tens, unit) => format!("{}-{}", TENS[tens], ORDINALS[unit]),
    }
}

/// An ordinal in digits: *21st*.
pub fn ordinal_digits(n: u64) -> String {
    let ending = match (n % 100, n % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// A year from 1100 to 2099 as it is said: *nineteen oh five*, *two thousand and nine*,
/// *twenty ten*.
pub fn year(n: u64) -> String {
    match (n / 100, n % 100) {
        (20, 0..10) => cardinal(n),
        (century, 0) => format!("{} hundred", below_hundred(century)),
        (century, rest @ 1..10) => {
            format!("{} oh {}", below_hundred(century), below_hundred(rest))
        }
        (century, rest) => format!("{} {}", below_hundred(century), below_hundred(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_in_words_and_digits() {
        let cases = [
            (1, "first", "1st"),
            (2, "second", "2nd"),
            (3, "third", "3rd"),
            (5, "fifth", "5th"),
            (8, "eighth", "8th"),
            (9, "ninth", "9th"),
            (11, "eleventh", "11th"),
            (12, "twelfth", "12th"),
            (13, "thirteenth", "13th"),
            (20, "twentieth", "20th"),
            (21, "twenty-first", "21st"),
            (22, "twenty-second", "22nd"),
            (23, "twenty-third", "23rd"),
            (30, "thirtieth", "30th"),
            (31, "thirty-first", "31st"),
        ];
        for (n, words, digits) in cases {
            assert_eq!(ordinal(n), words);
            assert_eq!(ordinal_digits(n), digits);
        }
    }

    #[test]
    fn years_as_they_are_said() {
        let cases = [
            (1600, "sixteen hundred"),
            (1601, "sixteen oh one"),
            (1815, "eighteen fifteen"),
            (1987, "nineteen eighty-seven"),
            (2000, "two thousand"),
            (2009, "two thousand and nine"),
            (2010, "twenty ten"),
            (2099, "twenty ninety-nine"),
        ];
        for (n, words) in cases {
            assert_eq!(year(n), words);
        }
    }
}
