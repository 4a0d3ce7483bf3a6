//! Dates: *Sunday, the 3rd of May 1987* becomes *Sonntag, der 3. Mai 1987*.

use padir_base::random::Stream;

use super::calendar::Date;
use super::{english, german};
use crate::pair::Pair;

/// How many ways there are to write a date.
const FORMS: u64 = 8;

pub(super) fn pair(stream: &mut Stream) -> Pair {
    let date = Date::draw(stream);
    write(date, stream.below(FORMS))
}

/// Each form of one language has its own in the other.
fn write(date: Date, form: u64) -> Pair {
    let Date { year, day, .. } = date;
    let (month, monat) = date.month_names();
    let (weekday, wochentag) = date.weekday_names();
    let (nth, words) = (english::ordinal_digits(day), english::ordinal(day));
    let stem = german::ordinal_stem(day);
    let (source, target) = match form {
        0 => (
            format!("{weekday}, the {nth} of {month} {year}"),
            format!("{wochentag}, der {day}. {monat} {year}"),
        ),
        1 => (format!("the {words} of {month} {year}"), format!("der {stem}e {monat} {year}")),
        2 => (format!("on the {nth} of {month} {year}"), format!("am {day}. {monat} {year}")),
        3 => (
            format!("on {weekday}, the {words} of {month}"),
            format!("am {wochentag}, dem {stem}en {monat}"),
        ),
        4 => (format!("{month} {day}, {year}"), format!("{day}. {monat} {year}")),
        5 => (
            format!("the {words} of {month} {}", english::year(year)),
            format!("der {stem}e {monat} {}", german::year(year)),
        ),
        6 => (format!("in {month} {year}"), format!("im {monat} {year}")),
        _ => (
            format!("since {weekday}, the {nth} of {month} {year}"),
            format!("seit {wochentag}, dem {day}. {monat} {year}"),
        ),
    };
    Pair { source, target }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_right_in_both_languages() {
        let date = Date { year: 1987, month: 5, day: 3 };
        let cases = [
            ("Sunday, the 3rd of May 1987", "Sonntag, der 3. Mai 1987"),
            ("the third of May 1987", "der dritte Mai 1987"),
            ("on the 3rd of May 1987", "am 3. Mai 1987"),
            ("on Sunday, the third of May", "am Sonntag, dem dritten Mai"),
            ("May 3, 1987", "3. Mai 1987"),
            (
                "the third of May nineteen eighty-seven",
                "der dritte Mai neunzehnhundertsiebenundachtzig",
            ),
            ("in May 1987", "im Mai 1987"),
            ("since Sunday, the 3rd of May 1987", "seit Sonntag, dem 3. Mai 1987"),
        ];
        assert_eq!(cases.len() as u64, FORMS);
        for (form, (source, target)) in cases.into_iter().enumerate() {
            assert_eq!(write(date, form as u64), Pair::new(source, target));
        }
    }
}
