//! Number words: *one hundred and one* becomes *einhunderteins*.
//!
//! Where English says *a hundred* or *a thousand*, German leaves the *ein* out as well:
//! *a hundred and one* becomes *hunderteins*.

use padir_base::random::Stream;

use super::{english, german};
use crate::pair::Pair;

/// Numbers from the first to the second, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    min: u64,
    max: u64,
}

impl NumberRange {
    /// A range up to [`english::LARGEST`]; `None` if it is empty or goes beyond.
    pub fn new(min: u64, max: u64) -> Option<Self> {
        (min <= max && max <= english::LARGEST).then_some(Self { min, max })
    }

    /// Draws a number. Every count of digits is equally likely, so that short numbers are not
    /// lost among long ones, and every fourth number is rounded, as people do.
    fn draw(self, stream: &mut Stream) -> u64 {
        // A maximum such as a million would be alone among its kind: it counts with the smaller.
        let (fewest, most) = (digits(self.min), digits((self.max.saturating_sub(1)).max(self.min)));
        let count = fewest + stream.below(u64::from(most - fewest) + 1) as u32;
        let low = if count == 1 { 0 } else { 10_u64.pow(count - 1) };
        let high = if count == most { self.max } else { 10_u64.pow(count) - 1 };
        let low = low.max(self.min);
        let n = low + stream.below(high - low + 1);
        let unit = 10_u64.pow(stream.below(u64::from(count)) as u32);
        let rounded = n / unit * unit;
        if stream.below(4) == 0 && rounded >= self.min { rounded } else { n }
    }
}

impl Default for NumberRange {
    /// Up to a million.
    fn default() -> Self {
        Self { min: 0, max: 1_000_000 }
    }
}

fn digits(n: u64) -> u32 {
    n.checked_ilog10().unwrap_or(0) + 1
}

pub(super) fn pair(range: NumberRange, stream: &mut Stream) -> Pair {
    let n = range.draw(stream);
    if can_be_casual(n) && stream.below(2) == 0 { casual(n) } else { formal(n) }
}

fn formal(n: u64) -> Pair {
    Pair::new(english::cardinal(n), german::cardinal(n))
}

/// From 100 to 199 and from 1000 to 1099 one may say *a* for *one*.
fn can_be_casual(n: u64) -> bool {
    matches!(n, 100..200 | 1000..1100)
}

fn casual(n: u64) -> Pair {
    let Pair { source, target } = formal(n);
    let source = source.replacen("one", "a", 1);
    let target = target.replacen("ein", "", 1);
    Pair { source, target }
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};

    use super::*;

    #[test]
    fn casual_numbers_leave_out_the_one() {
        let cases = [
            (100, "a hundred", "hundert"),
            (101, "a hundred and one", "hunderteins"),
            (121, "a hundred and twenty-one", "hunderteinundzwanzig"),
            (1000, "a thousand", "tausend"),
            (1001, "a thousand and one", "tausendeins"),
        ];
        for (n, source, target) in cases {
            assert_eq!(casual(n), Pair::new(source, target));
        }
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let ranges = [
            (0, 0),
            (0, 9),
            (5, 5),
            (7, 1234),
            (100, 999),
            (0, 1000),
            (1000, 1000),
            (99, 100),
            (0, english::LARGEST),
        ];
        for (min, max) in ranges {
            let range = NumberRange::new(min, max).unwrap();
            for index in 0..2000 {
                let n = range.draw(&mut Seed(1).stream(Purpose::Test, index));
                assert!((min..=max).contains(&n), "{n} in {min}..={max}");
            }
        }
        assert_eq!(NumberRange::new(2, 1), None);
        assert_eq!(NumberRange::new(0, english::LARGEST + 1), None);
    }
}
