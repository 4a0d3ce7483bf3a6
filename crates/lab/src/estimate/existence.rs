//! Does the estimate exist?
//!
//! The loss has no minimum iff there is a direction v along which no observed state loses
//! against any state it is compared with, ⟨v, T(x) − T(y)⟩ ≥ 0 for all of them, and some gain:
//! the data are separated by v, and θ runs off along it. Near infinity a Newton step is such a
//! direction, with margins close to whole numbers; rounding it often gives an exact certificate.

use super::minimise::newton_direction;
use super::{Loss, Minimum};

/// A direction along which the loss falls for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Separation {
    /// v, its largest entry being 1 in size.
    pub direction: Vec<f64>,
    /// The smallest margin ⟨v, T(x) − T(y)⟩.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
    /// Whether the smallest margin is exactly not negative: a proof.
    pub exact: bool,
}

/// Estimates of this size are suspected of running off.
const SUSPICIOUS: f64 = 3.0;

/// Whether the end of a search looks like running off.
pub(super) fn is_suspicious(minimum: &Minimum) -> bool {
    !minimum.converged || minimum.parameters.iter().any(|p| p.abs() > SUSPICIOUS)
}

/// Looks for a separation where the search ended.
pub(super) fn find_separation(loss: &dyn Loss, minimum: &Minimum) -> Option<Separation> {
    let mut gradient = vec![0.0; loss.dimension()];
    loss.gradient(&minimum.parameters, &mut gradient);
    let hessian = loss.hessian(&minimum.parameters);
    let mut candidates = vec![minimum.parameters.clone()];
    candidates.extend(newton_direction(&hessian, &gradient));
    candidates.into_iter().find_map(|direction| certify(loss, &direction))
}

/// Tries the direction rounded to simple fractions, then as it is.
fn certify(loss: &dyn Loss, direction: &[f64]) -> Option<Separation> {
    let unit = normalised(direction)?;
    for denominator in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 48.0] {
        let rounded: Vec<f64> = unit.iter().map(|x| (x * denominator).round()).collect();
        let (low, high) = loss.margins(&rounded);
        // Whole numbers: the margins are exact.
        if low >= 0.0 && high > 0.5 {
            let direction = normalised(&rounded)?;
            let scale = rounded.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let (smallest, largest) = (low / scale, high / scale);
            return Some(Separation { direction, smallest, largest, exact: true });
        }
    }
    let (smallest, largest) = loss.margins(&unit);
    (smallest >= -1e-4 * largest && largest > 0.0).then_some(Separation {
        direction: unit,
        smallest,
        largest,
        exact: false,
    })
}

fn normalised(v: &[f64]) -> Option<Vec<f64>> {
    let size = v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    (size > 0.0 && size.is_finite()).then(|| v.iter().map(|x| x / size).collect())
}
