//! Times of the day: *half past three* becomes *halb vier*.

use padir_base::random::Stream;

use super::english;
use super::german::{One, below_hundred};
use crate::pair::Pair;

/// Sentences around a time. German verbs may split and leave a part at the end.
const FRAMES: [(&str, &str); 10] = [
    ("{}", "{}"),
    ("at {}", "um {}"),
    ("It is {}.", "Es ist {}."),
    ("The train leaves at {}.", "Der Zug fährt um {} ab."),
    ("The shop opens at {}.", "Der Laden öffnet um {}."),
    ("The film starts at {}.", "Der Film fängt um {} an."),
    ("We will meet at {}.", "Wir treffen uns um {}."),
    ("She gets up at {}.", "Sie steht um {} auf."),
    ("I will call you at {}.", "Ich rufe dich um {} an."),
    ("The meeting ends at {}.", "Die Sitzung endet um {}."),
];

/// A time and how it is said.
#[derive(Clone, Copy, Debug)]
struct Time {
    /// 0 to 23.
    hour: u64,
    /// 0 to 59.
    minute: u64,
    style: Style,
    /// Whether the part of the day is added.
    part: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// *twenty-five past three*, *fünf vor halb vier*.
    Spoken,
    /// *three twenty-five*, *drei Uhr fünfundzwanzig*.
    Read,
    /// *seven minutes past three*, *sieben Minuten nach drei*.
    Minutes,
}

impl Time {
    fn draw(stream: &mut Stream) -> Self {
        let hour = stream.below(24);
        let (style, minute) = match stream.below(4) {
            0 | 1 => (Style::Spoken, 5 * stream.below(12)),
            2 => (Style::Read, stream.below(60)),
            _ => (Style::Minutes, 1 + stream.below(29) + 30 * stream.below(2)),
        };
        Self { hour, minute, style, part: stream.below(2) == 0 }
    }

    fn write(self) -> (String, String) {
        let (source, target) = match self.style {
            Style::Spoken => self.spoken(),
            Style::Read => self.read(),
            Style::Minutes => self.minutes(),
        };
        if !self.part {
            return (source, target);
        }
        let (english, german) = part_of_day(self.hour);
        (format!("{source} {english}"), format!("{target} {german}"))
    }

    /// German counts around the half hour, which belongs to the hour to come.
    fn spoken(self) -> (String, String) {
        let (now, next) = (on_dial(self.hour), on_dial(self.hour + 1));
        let (english_now, english_next) = (english::cardinal(now), english::cardinal(next));
        let (german_now, german_next) = (hour_word(now), hour_word(next));
        match self.minute {
            0 => self.read(),
            5 => (format!("five past {english_now}"), format!("fünf nach {german_now}")),
            10 => (format!("ten past {english_now}"), format!("zehn nach {german_now}")),
            15 => (format!("a quarter past {english_now}"), format!("Viertel nach {german_now}")),
            20 => (format!("twenty past {english_now}"), format!("zwanzig nach {german_now}")),
            25 => {
                (format!("twenty-five past {english_now}"), format!("fünf vor halb {german_next}"))
            }
            30 => (format!("half past {english_now}"), format!("halb {german_next}")),
            35 => {
                (format!("twenty-five to {english_next}"), format!("fünf nach halb {german_next}"))
            }
            40 => (format!("twenty to {english_next}"), format!("zwanzig vor {german_next}")),
            45 => (format!("a quarter to {english_next}"), format!("Viertel vor {german_next}")),
            50 => (format!("ten to {english_next}"), format!("zehn vor {german_next}")),
            _ => (format!("five to {english_next}"), format!("fünf vor {german_next}")),
        }
    }

    fn read(self) -> (String, String) {
        let hour = on_dial(self.hour);
        let (english, german) = (english::cardinal(hour), below_hundred(hour, One::Ein));
        let minute = english::cardinal(self.minute);
        match self.minute {
            0 => (format!("{english} o'clock"), format!("{german} Uhr")),
            1..10 => (
                format!("{english} oh {minute}"),
                format!("{german} Uhr {}", below_hundred(self.minute, One::Eins)),
            ),
            _ => (
                format!("{english} {minute}"),
                format!("{german} Uhr {}", below_hundred(self.minute, One::Eins)),
            ),
        }
    }

    fn minutes(self) -> (String, String) {
        let late = self.minute > 30;
        let hour = on_dial(self.hour + u64::from(late));
        let count = if late { 60 - self.minute } else { self.minute };
        let (minute, nacht) =
            if count == 1 { ("minute", "Minute") } else { ("minutes", "Minuten") };
        let (to, vor) = if late { ("to", "vor") } else { ("past", "nach") };
        (
            format!("{} {minute} {to} {}", english::cardinal(count), english::cardinal(hour)),
            format!("{} {nacht} {vor} {}", below_hundred(count, One::Eine), hour_word(hour)),
        )
    }
}

/// 1 to 12.
fn on_dial(hour: u64) -> u64 {
    (hour + 11) % 12 + 1
}

/// An hour standing alone: *eins*.
fn hour_word(hour: u64) -> String {
    below_hundred(hour, One::Eins)
}

fn part_of_day(hour: u64) -> (&'static str, &'static str) {
    match hour {
        5..12 => ("in the morning", "morgens"),
        12..18 => ("in the afternoon", "nachmittags"),
        18..22 => ("in the evening", "abends"),
        _ => ("at night", "nachts"),
    }
}

pub(super) fn pair(stream: &mut Stream) -> Pair {
    // One in eight speaks of two times.
    if stream.below(8) == 0 {
        let (from, von) = Time { part: false, ..Time::draw(stream) }.write();
        let (until, bis) = Time::draw(stream).write();
        return Pair::new(
            format!("The shop is open from {from} until {until}."),
            format!("Der Laden ist von {von} bis {bis} geöffnet."),
        );
    }
    let (source, target) = Time::draw(stream).write();
    let frame = FRAMES[stream.below(FRAMES.len() as u64) as usize];
    Pair::new(frame.0.replace("{}", &source), frame.1.replace("{}", &target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_right_in_both_languages() {
        use Style::{Minutes, Read, Spoken};
        let cases = [
            (3, 0, Spoken, "three o'clock", "drei Uhr"),
            (1, 0, Spoken, "one o'clock", "ein Uhr"),
            (15, 15, Spoken, "a quarter past three", "Viertel nach drei"),
            (3, 30, Spoken, "half past three", "halb vier"),
            (12, 30, Spoken, "half past twelve", "halb eins"),
            (0, 30, Spoken, "half past twelve", "halb eins"),
            (0, 45, Spoken, "a quarter to one", "Viertel vor eins"),
            (13, 5, Spoken, "five past one", "fünf nach eins"),
            (3, 25, Spoken, "twenty-five past three", "fünf vor halb vier"),
            (3, 35, Spoken, "twenty-five to four", "fünf nach halb vier"),
            (23, 55, Spoken, "five to twelve", "fünf vor zwölf"),
            (23, 40, Spoken, "twenty to twelve", "zwanzig vor zwölf"),
            (3, 17, Read, "three seventeen", "drei Uhr siebzehn"),
            (13, 5, Read, "one oh five", "ein Uhr fünf"),
            (21, 1, Read, "nine oh one", "neun Uhr eins"),
            (12, 21, Read, "twelve twenty-one", "zwölf Uhr einundzwanzig"),
            (0, 10, Read, "twelve ten", "zwölf Uhr zehn"),
            (3, 7, Minutes, "seven minutes past three", "sieben Minuten nach drei"),
            (3, 59, Minutes, "one minute to four", "eine Minute vor vier"),
            (12, 1, Minutes, "one minute past twelve", "eine Minute nach zwölf"),
            (12, 39, Minutes, "twenty-one minutes to one", "einundzwanzig Minuten vor eins"),
        ];
        for (hour, minute, style, source, target) in cases {
            let time = Time { hour, minute, style, part: false };
            assert_eq!(time.write(), (source.to_owned(), target.to_owned()), "{time:?}");
        }
    }

    #[test]
    fn parts_of_the_day_follow_the_hour() {
        let cases = [
            (3, "half past three at night", "halb vier nachts"),
            (8, "half past eight in the morning", "halb neun morgens"),
            (15, "half past three in the afternoon", "halb vier nachmittags"),
            (20, "half past eight in the evening", "halb neun abends"),
            (23, "half past eleven at night", "halb zwölf nachts"),
        ];
        for (hour, source, target) in cases {
            let time = Time { hour, minute: 30, style: Style::Spoken, part: true };
            assert_eq!(time.write(), (source.to_owned(), target.to_owned()));
        }
    }
}
