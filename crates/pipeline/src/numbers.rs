//! Numbers for people: counts, shares and times, the same everywhere.

use std::time::Duration;

/// A number with a thin grouping that copies well: 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of pairs, in words: `1 pair`, `1,000 pairs`.
pub fn pairs(n: u64) -> String {
    format!("{} {}", grouped(n), if n == 1 { "pair" } else { "pairs" })
}

/// A share in per cent.
pub fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    format!("{share:.2} %")
}

/// A count in three digits and a letter: 67.0M.
pub fn short(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["", "k", "M", "G", "T"] {
        // What rounds to 1000 belongs to the next unit.
        if value < 999.95 || unit == "T" {
            return if unit.is_empty() { n.to_string() } else { format!("{value:.1}{unit}") };
        }
        value /= 1000.0;
    }
    n.to_string()
}

/// Seconds for a table: 45s, 3m05s, 2h07m.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds:02}s"),
        _ => format!("{hours}h{minutes:02}m"),
    }
}

/// Seconds as a clock shows them: 2:07:20.
pub fn clock(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_secs();
    format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_threes() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
        ];
        for (n, expected) in cases {
            assert_eq!(grouped(n), expected);
        }
        assert_eq!([pairs(1), pairs(1000)], ["1 pair", "1,000 pairs"]);
        assert_eq!([percent(1, 3), percent(0, 0)], ["33.33 %", "0.00 %"]);
    }

    #[test]
    fn counts_and_times_are_short() {
        let counts =
            [(0, "0"), (999, "999"), (1000, "1.0k"), (66_997_760, "67.0M"), (999_960, "1.0M")];
        for (n, expected) in counts {
            assert_eq!(short(n), expected);
        }
        let times = [
            (0.4, "0s", "0:00:00"),
            (59.0, "59s", "0:00:59"),
            (185.0, "3m05s", "0:03:05"),
            (7640.0, "2h07m", "2:07:20"),
        ];
        for (seconds, expected, on_clock) in times {
            assert_eq!(duration(seconds), expected);
            assert_eq!(clock(seconds), on_clock);
        }
        assert_eq!(clock(f64::NAN.max(-1.0)), "0:00:00");
    }
}
