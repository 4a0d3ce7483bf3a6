//! Sequences of symbols, copied, reversed or sorted: the classical tests of attention.

use padir_base::random::Stream;

use crate::pair::Pair;

/// What happens to a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `c a b` stays `c a b`.
    Copy,
    /// `c a b` becomes `b a c`.
    Reverse,
    /// `c a b` becomes `a b c`.
    Sort,
}

/// Which sequences there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbols {
    count: u32,
    shortest: u32,
    longest: u32,
}

impl Symbols {
    /// Sequences of `shortest` to `longest` symbols out of `count`; `None` if there are none.
    pub fn new(count: u32, shortest: u32, longest: u32) -> Option<Self> {
        let sensible = count > 0 && shortest > 0 && shortest <= longest && longest <= 100_000;
        sensible.then_some(Self { count, shortest, longest })
    }

    pub(super) fn pair(self, operation: Operation, stream: &mut Stream) -> Pair {
        let length =
            self.shortest + stream.below(u64::from(self.longest - self.shortest) + 1) as u32;
        let source: Vec<u32> =
            (0..length).map(|_| stream.below(u64::from(self.count)) as u32).collect();
        let mut target = source.clone();
        match operation {
            Operation::Copy => {}
            Operation::Reverse => target.reverse(),
            Operation::Sort => target.sort_unstable(),
        }
        Pair { source: write(&source), target: write(&target) }
    }
}

impl Default for Symbols {
    /// 3 to 12 letters.
    fn default() -> Self {
        Self { count: 26, shortest: 3, longest: 12 }
    }
}

fn write(symbols: &[u32]) -> String {
    symbols.iter().map(|&symbol| name(symbol)).collect::<Vec<_>>().join(" ")
}

/// a, b, …, z, aa, ab, …: the columns of a spreadsheet. Shorter names sort first.
fn name(symbol: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(symbol) + 1;
    while rest > 0 {
        letters.push(b'a' + ((rest - 1) % 26) as u8);
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().map(|&letter| char::from(letter)).collect()
}

#[cfg(test)]
mod tests {
    use padir_base::random::{Purpose, Seed};

    use super::*;

    #[test]
    fn names_are_those_of_spreadsheet_columns() {
        let cases =
            [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (51, "az"), (52, "ba"), (702, "aaa")];
        for (symbol, expected) in cases {
            assert_eq!(name(symbol), expected);
        }
    }

    #[test]
    fn operations_do_what_they_say() {
        let symbols = Symbols::new(40, 2, 9).unwrap();
        for index in 0..500 {
            let draw = |operation| {
                let pair = symbols.pair(operation, &mut Seed(5).stream(Purpose::Test, index));
                let split = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
                (split(&pair.source), split(&pair.target))
            };
            let (source, target) = draw(Operation::Copy);
            assert!((2..=9).contains(&source.len()));
            assert_eq!(source, target);
            let (source, mut target) = draw(Operation::Reverse);
            target.reverse();
            assert_eq!(source, target);
            let (mut source, target) = draw(Operation::Sort);
            source.sort_by_key(|name| (name.len(), name.clone()));
            assert_eq!(source, target);
        }
    }

    #[test]
    fn impossible_sequences_are_refused() {
        for (count, shortest, longest) in [(0, 1, 2), (5, 0, 2), (5, 3, 2), (5, 1, 1_000_000)] {
            assert_eq!(Symbols::new(count, shortest, longest), None);
        }
    }
}
