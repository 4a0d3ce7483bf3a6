//! Axes: where a value stands, and which values are marked.

/// How values are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; values that are not positive are left out.
    Log,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) names: Vec<String>,
}

impl Axis {
    /// An evenly spaced axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, names: Vec::new() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    /// Shows exactly this range.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Marks 0, 1, 2, … by names instead of numbers.
    #[must_use]
    pub fn named(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    pub(crate) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    /// Fits the axis to its values, with a margin.
    pub(crate) fn fit(&self, values: impl Iterator<Item = f64>) -> Fitted<'_> {
        let (low, high) = self.range.map_or_else(
            || {
                let places = values.filter(|v| self.shows(*v)).map(|v| self.place(v));
                let (low, high) = places
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
                if low > high {
                    return (0.0, 1.0);
                }
                let margin = if high > low { 0.04 * (high - low) } else { 0.5 };
                (low - margin, high + margin)
            },
            |(a, b)| (self.place(a), self.place(b)),
        );
        Fitted { axis: self, low, high }
    }
}

/// An axis that knows its range.
pub(crate) struct Fitted<'a> {
    axis: &'a Axis,
    low: f64,
    high: f64,
}

impl Fitted<'_> {
    /// The axis with the range it was fitted to.
    pub(crate) fn fixed(&self) -> Axis {
        let value = |place: f64| match self.axis.scale {
            Scale::Linear => place,
            Scale::Log => 10_f64.powf(place),
        };
        self.axis.clone().range(value(self.low), value(self.high))
    }

    /// Where a value stands, 0 to 1.
    pub(crate) fn at(&self, value: f64) -> f64 {
        (self.axis.place(value) - self.low) / (self.high - self.low)
    }

    /// Marked values with their labels.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        if !self.axis.names.is_empty() {
            let names = self.axis.names.iter().enumerate();
            return names.map(|(i, name)| (i as f64, name.clone())).collect();
        }
        match self.axis.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Log => self.log_ticks(),
        }
    }

    fn linear_ticks(&self) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|m| m * power)
            .into_iter()
            .find(|s| *s >= rough)
            .unwrap_or(10.0 * power);
        let decimals = (0..8)
            .find(|d| {
                let scaled = step * 10_f64.powi(*d);
                (scaled - scaled.round()).abs() < 1e-6
            })
            .unwrap_or(8) as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|i| {
                let value = i as f64 * step;
                (value, format!("{value:.decimals$}").replace('-', "−"))
            })
            .collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let decades = self.high - self.low;
        let step = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500]
            .into_iter()
            .find(|step| decades / (*step as f64) <= 6.0)
            .unwrap_or(1000);
        let first = (self.low - 1e-9).ceil() as i64;
        let last = (self.high + 1e-9).floor() as i64;
        let shown: Vec<i64> = (first..=last).filter(|e| e % step == 0).collect();
        // One kind of label on an axis: plain numbers if all are short, else powers.
        let plain = shown.iter().all(|e| (-3..=4).contains(e));
        let label = |e: i64| if plain { plain_power(e) } else { power_label(e) };
        let whole: Vec<(f64, String)> =
            shown.iter().map(|&e| (10_f64.powi(e as i32), label(e))).collect();
        if whole.len() >= 2 {
            return whole;
        }
        // Less than two decades: mark 1, 2, 5 of each.
        ((self.low.floor() as i64)..=last)
            .flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(e as i32)))
            .filter(|v| (self.low - 1e-9..=self.high + 1e-9).contains(&v.log10()))
            .map(|v| (v, plain_label(v)))
            .collect()
    }

    /// Unlabelled marks between the decades.
    pub(crate) fn minor_ticks(&self) -> Vec<f64> {
        if self.axis.scale == Scale::Linear || self.high - self.low > 6.5 {
            return Vec::new();
        }
        ((self.low.floor() as i32)..=(self.high.ceil() as i32))
            .flat_map(|e| (2..10).map(move |m| f64::from(m) * 10_f64.powi(e)))
            .filter(|v| (self.low..=self.high).contains(&v.log10()))
            .collect()
    }
}

fn plain_label(value: f64) -> String {
    if (1e-3..1e5).contains(&value) {
        let decimals = (-value.log10().floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:e}")
    }
}

/// A power of ten in full.
fn plain_power(exponent: i64) -> String {
    let decimals = (-exponent).max(0) as usize;
    format!("{:.decimals$}", 10_f64.powi(exponent as i32))
}

/// 10 with an exponent in superscript.
fn power_label(exponent: i64) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|c| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    });
    format!("10{}", raised.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let labels = |axis: &Axis, values: &[f64]| -> Vec<String> {
            axis.fit(values.iter().copied()).ticks().into_iter().map(|t| t.1).collect()
        };
        let linear = Axis::linear("x");
        assert_eq!(labels(&linear, &[0.0, 10.0]), ["0.0", "2.5", "5.0", "7.5", "10.0"]);
        assert_eq!(labels(&linear, &[-1.0, 1.0]), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        let log = Axis::log("x");
        assert_eq!(labels(&log, &[1.0, 1e4]), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(&log, &[1.0, 6.0]), ["1", "2", "5"]);
        assert_eq!(labels(&log, &[1.0, 1e5]), ["10⁰", "10¹", "10²", "10³", "10⁴", "10⁵"]);
        assert_eq!(labels(&log, &[1e-2, 10.0]), ["0.01", "0.1", "1", "10"]);
        assert_eq!(labels(&log, &[1e-3, 1e40]), ["10⁰", "10¹⁰", "10²⁰", "10³⁰", "10⁴⁰"]);
    }

    #[test]
    fn nothing_to_show_is_no_panic() {
        assert_eq!(Axis::log("x").fit([0.0, -1.0].into_iter()).ticks().len(), 2);
        assert!(!Axis::linear("x").fit([3.0].into_iter()).ticks().is_empty());
    }
}
