//! Days, months and weekdays of the Gregorian calendar, with their names.

use padir_base::random::Stream;

pub(super) const MONTHS: [(&str, &str); 12] = [
    ("January", "Januar"),
    ("February", "Februar"),
    ("March", "März"),
    ("April", "April"),
    ("May", "Mai"),
    ("June", "Juni"),
    ("July", "Juli"),
    ("August", "August"),
    ("September", "September"),
    ("October", "Oktober"),
    ("November", "November"),
    ("December", "Dezember"),
];

/// From Sunday.
pub(super) const WEEKDAYS: [(&str, &str); 7] = [
    ("Sunday", "Sonntag"),
    ("Monday", "Montag"),
    ("Tuesday", "Dienstag"),
    ("Wednesday", "Mittwoch"),
    ("Thursday", "Donnerstag"),
    ("Friday", "Freitag"),
    ("Saturday", "Samstag"),
];

/// The years dates are drawn from.
pub(super) const YEARS: std::ops::Range<u64> = 1600..2100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: u64,
    /// From 1.
    pub(super) month: u64,
    /// From 1.
    pub(super) day: u64,
}

impl Date {
    pub(super) fn draw(stream: &mut Stream) -> Self {
        let year = YEARS.start + stream.below(YEARS.end - YEARS.start);
        let month = 1 + stream.below(12);
        Self { year, month, day: 1 + stream.below(days(year, month)) }
    }

    pub(super) fn month_names(self) -> (&'static str, &'static str) {
        MONTHS[(self.month as usize - 1) % 12]
    }

    pub(super) fn weekday_names(self) -> (&'static str, &'static str) {
        WEEKDAYS[self.weekday() as usize % 7]
    }

    /// Days from Sunday, by Sakamoto's method.
    fn weekday(self) -> u64 {
        const SHIFTS: [u64; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
        let year = if self.month < 3 { self.year - 1 } else { self.year };
        let shift = SHIFTS[(self.month as usize - 1) % 12];
        (year + year / 4 - year / 100 + year / 400 + shift + self.day) % 7
    }
}

fn days(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_fall_on_known_weekdays() {
        let cases = [
            ((1969, 7, 20), "Sunday"),
            ((1989, 11, 9), "Thursday"),
            ((2000, 1, 1), "Saturday"),
            ((2000, 2, 29), "Tuesday"),
            ((1900, 3, 1), "Thursday"),
            ((1752, 9, 14), "Thursday"),
            ((2024, 12, 31), "Tuesday"),
        ];
        for ((year, month, day), name) in cases {
            assert_eq!(Date { year, month, day }.weekday_names().0, name, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn weekdays_follow_each_other_through_all_years() {
        let mut expected = Date { year: YEARS.start, month: 1, day: 1 }.weekday();
        for year in YEARS {
            for month in 1..=12 {
                for day in 1..=days(year, month) {
                    assert_eq!(Date { year, month, day }.weekday(), expected);
                    expected = (expected + 1) % 7;
                }
            }
        }
    }
}
