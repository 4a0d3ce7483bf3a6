//! Sentences about counts and prices: *On Monday she buys one apple.* becomes *Am Montag kauft
//! sie einen Apfel.* The numeral agrees in gender and case, the verb in person, and the German
//! verb stays second when something else comes first.

use padir_base::random::Stream;

use super::calendar::WEEKDAYS;
use super::english;
use super::german::{One, below_hundred};
use crate::pair::Pair;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gender {
    Masculine,
    Feminine,
    Neuter,
}
use Gender::{Feminine as F, Masculine as M, Neuter as N};

impl Gender {
    /// *One* before an object.
    fn one(self) -> &'static str {
        match self {
            M => "einen",
            F => "eine",
            N => "ein",
        }
    }

    /// *The* before a subject.
    fn the(self) -> &'static str {
        match self {
            M => "der",
            F => "die",
            N => "das",
        }
    }
}

/// English singular and plural, German gender, singular and plural.
type Noun = (&'static str, &'static str, Gender, &'static str, &'static str);

const NOUNS: [Noun; 24] = [
    ("apple", "apples", M, "Apfel", "Äpfel"),
    ("book", "books", N, "Buch", "Bücher"),
    ("bottle", "bottles", F, "Flasche", "Flaschen"),
    ("bread roll", "bread rolls", N, "Brötchen", "Brötchen"),
    ("car", "cars", N, "Auto", "Autos"),
    ("cat", "cats", F, "Katze", "Katzen"),
    ("chair", "chairs", M, "Stuhl", "Stühle"),
    ("clock", "clocks", F, "Uhr", "Uhren"),
    ("cup", "cups", F, "Tasse", "Tassen"),
    ("dog", "dogs", M, "Hund", "Hunde"),
    ("egg", "eggs", N, "Ei", "Eier"),
    ("fish", "fish", M, "Fisch", "Fische"),
    ("flower", "flowers", F, "Blume", "Blumen"),
    ("glass", "glasses", N, "Glas", "Gläser"),
    ("hat", "hats", M, "Hut", "Hüte"),
    ("horse", "horses", N, "Pferd", "Pferde"),
    ("house", "houses", N, "Haus", "Häuser"),
    ("key", "keys", M, "Schlüssel", "Schlüssel"),
    ("lamp", "lamps", F, "Lampe", "Lampen"),
    ("letter", "letters", M, "Brief", "Briefe"),
    ("picture", "pictures", N, "Bild", "Bilder"),
    ("shirt", "shirts", N, "Hemd", "Hemden"),
    ("table", "tables", M, "Tisch", "Tische"),
    ("tree", "trees", M, "Baum", "Bäume"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Person {
    /// *I*.
    First,
    /// *he*, *my sister*.
    Third,
    /// *we*, *they*, *the children*: German makes no difference.
    Plural,
}

const SUBJECTS: [(&str, Person, &str); 10] = [
    ("I", Person::First, "ich"),
    ("he", Person::Third, "er"),
    ("we", Person::Plural, "wir"),
    ("my brother", Person::Third, "mein Bruder"),
    ("my sister", Person::Third, "meine Schwester"),
    ("the girl", Person::Third, "das Mädchen"),
    ("the boy", Person::Third, "der Junge"),
    ("the woman", Person::Third, "die Frau"),
    ("the children", Person::Plural, "die Kinder"),
    ("our neighbours", Person::Plural, "unsere Nachbarn"),
];

/// English without and with *s*, German for *ich*, *er* and *wir*.
const VERBS: [[&str; 5]; 7] = [
    ["have", "has", "habe", "hat", "haben"],
    ["buy", "buys", "kaufe", "kauft", "kaufen"],
    ["need", "needs", "brauche", "braucht", "brauchen"],
    ["see", "sees", "sehe", "sieht", "sehen"],
    ["sell", "sells", "verkaufe", "verkauft", "verkaufen"],
    ["find", "finds", "finde", "findet", "finden"],
    ["count", "counts", "zähle", "zählt", "zählen"],
];

fn conjugate(verb: [&'static str; 5], person: Person) -> (&'static str, &'static str) {
    let [plain, with_s, ich, er, wir] = verb;
    match person {
        Person::First => (plain, ich),
        Person::Third => (with_s, er),
        Person::Plural => (plain, wir),
    }
}

/// A count of things as the object of a sentence.
fn object(noun: Noun, count: u64) -> (String, String) {
    let (one, many, gender, eins, viele) = noun;
    match count {
        0 => (format!("no {many}"), format!("keine {viele}")),
        1 => (format!("one {one}"), format!("{} {eins}", gender.one())),
        n => (
            format!("{} {many}", english::cardinal(n)),
            format!("{} {viele}", below_hundred(n, One::Ein)),
        ),
    }
}

/// Euros and cents, as the object of *kostet*.
fn price(euros: u64, cents: u64) -> (String, String) {
    let amount = |n: u64, one: &str, many: &str, german: &str| match n {
        1 => (format!("one {one}"), format!("einen {german}")),
        n => (
            format!("{} {many}", english::cardinal(n)),
            format!("{} {german}", below_hundred(n, One::Ein)),
        ),
    };
    let (euros, euro) = amount(euros, "euro", "euros", "Euro");
    if cents == 0 {
        return (euros, euro);
    }
    let (cents, cent) = amount(cents, "cent", "cents", "Cent");
    (format!("{euros} and {cents}"), format!("{euro} und {cent}"))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn pick<T: Copy>(items: &[T], stream: &mut Stream) -> T {
    items[stream.below(items.len() as u64) as usize]
}

pub(super) fn pair(stream: &mut Stream) -> Pair {
    match stream.below(4) {
        0 => {
            let (euros, cents) = (1 + stream.below(99), stream.below(2) * stream.below(100));
            costs(pick(&NOUNS, stream), euros, cents)
        }
        1 => there_are(pick(&NOUNS, stream), stream.below(100)),
        kind => {
            let subject = pick(&SUBJECTS, stream);
            let verb = pick(&VERBS, stream);
            let object = object(pick(&NOUNS, stream), stream.below(100));
            let day = (kind == 2).then(|| pick(&WEEKDAYS, stream));
            does(subject, verb, &object, day)
        }
    }
}

fn costs(noun: Noun, euros: u64, cents: u64) -> Pair {
    let (one, _, gender, eins, _) = noun;
    let (source, target) = price(euros, cents);
    Pair::new(
        format!("The {one} costs {source}."),
        format!("{} {eins} kostet {target}.", capital(gender.the())),
    )
}

fn there_are(noun: Noun, count: u64) -> Pair {
    let (source, target) = object(noun, count);
    let verb = if count == 1 { "is" } else { "are" };
    Pair::new(format!("There {verb} {source} here."), format!("Hier gibt es {target}."))
}

fn does(
    subject: (&str, Person, &str),
    verb: [&'static str; 5],
    object: &(String, String),
    day: Option<(&str, &str)>,
) -> Pair {
    let (english, person, german) = subject;
    let (does, tut) = conjugate(verb, person);
    let (source, target) = object;
    match day {
        Some((day, tag)) => Pair::new(
            format!("On {day} {english} {does} {source}."),
            format!("Am {tag} {tut} {german} {target}."),
        ),
        None => Pair::new(
            format!("{} {does} {source}.", capital(english)),
            format!("{} {tut} {target}.", capital(german)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noun(name: &str) -> Noun {
        NOUNS.into_iter().find(|noun| noun.0 == name).unwrap()
    }

    fn subject(name: &str) -> (&'static str, Person, &'static str) {
        SUBJECTS.into_iter().find(|subject| subject.0 == name).unwrap()
    }

    fn verb(name: &str) -> [&'static str; 5] {
        VERBS.into_iter().find(|verb| verb[0] == name).unwrap()
    }

    #[test]
    fn numerals_agree_with_nouns() {
        let cases = [
            ("apple", 1, "one apple", "einen Apfel"),
            ("cup", 1, "one cup", "eine Tasse"),
            ("book", 1, "one book", "ein Buch"),
            ("apple", 0, "no apples", "keine Äpfel"),
            ("apple", 21, "twenty-one apples", "einundzwanzig Äpfel"),
            ("key", 2, "two keys", "zwei Schlüssel"),
        ];
        for (name, count, source, target) in cases {
            assert_eq!(object(noun(name), count), (source.to_owned(), target.to_owned()));
        }
    }

    #[test]
    fn sentences_are_right_in_both_languages() {
        let cases = [
            (
                does(subject("he"), verb("buy"), &object(noun("apple"), 3), None),
                "He buys three apples.",
                "Er kauft drei Äpfel.",
            ),
            (
                does(subject("I"), verb("see"), &object(noun("dog"), 1), Some(WEEKDAYS[1])),
                "On Monday I see one dog.",
                "Am Montag sehe ich einen Hund.",
            ),
            (
                does(subject("the children"), verb("find"), &object(noun("egg"), 12), None),
                "The children find twelve eggs.",
                "Die Kinder finden zwölf Eier.",
            ),
            (
                costs(noun("book"), 21, 5),
                "The book costs twenty-one euros and five cents.",
                "Das Buch kostet einundzwanzig Euro und fünf Cent.",
            ),
            (
                costs(noun("lamp"), 1, 1),
                "The lamp costs one euro and one cent.",
                "Die Lampe kostet einen Euro und einen Cent.",
            ),
            (there_are(noun("tree"), 1), "There is one tree here.", "Hier gibt es einen Baum."),
            (there_are(noun("tree"), 0), "There are no trees here.", "Hier gibt es keine Bäume."),
        ];
        for (pair, source, target) in cases {
            assert_eq!(pair, Pair::new(source, target));
        }
    }
}
