//! What the paper reports, to stand beside what was found; the numbers are in `paper.toml`.

use serde::Deserialize;

/// The paper's table and claims.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    /// Where the numbers come from.
    pub(super) source: String,
    /// The columns.
    pub(super) tasks: Vec<String>,
    /// The rows.
    pub(super) systems: Vec<System>,
    /// What else it says that can be compared.
    pub(super) claims: Vec<String>,
}

/// A system, and its BLEU on each task.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct System {
    pub(super) name: String,
    pub(super) bleu: Vec<f64>,
}

impl Paper {
    pub(super) fn read() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("paper.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_has_a_score_for_every_task() {
        let paper = Paper::read().unwrap();
        for System { name, bleu } in &paper.systems {
            assert_eq!(bleu.len(), paper.tasks.len(), "{name}");
        }
    }

    #[test]
    fn the_gap_is_that_of_the_table() {
        let paper = Paper::read().unwrap();
        let [ar, parallel @ ..] = paper.systems.as_slice() else { panic!("no systems") };
        let gaps = parallel
            .iter()
            .flat_map(|padir| padir.bleu.iter().zip(&ar.bleu).map(|(padir, ar)| padir - ar));
        let (least, most) = gaps.fold((0.0_f64, 0.0_f64), |(l, m), gap| (l.min(gap), m.max(gap)));
        let expected = format!("between {:.2} less and {most:.2} more", -least);
        assert!(paper.claims[0].ends_with(&expected), "{expected}");
    }
}
