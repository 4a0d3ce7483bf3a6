//! Properties: the fast against the obvious, threads, shapes of every kind.

use proptest::prelude::*;

use super::{
    Adafactor, AdamW, Optimiser, Pace, Shape, State, move_average, running_average, squared_norm,
};

fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut x = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The formulas of `adafactor.rs` in double precision, one step after the other.
struct Slow {
    r: Vec<f64>,
    c: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
}

impl Slow {
    fn step(&mut self, constants: &Adafactor, shape: Shape, g: &[f32], pace: Pace) {
        let (n, m) = (shape.rows, shape.columns);
        let beta = 1.0 - (pace.step as f64).powf(-constants.exponent);
        let g: Vec<f64> = g.iter().map(|&g| f64::from(g) * f64::from(pace.scale)).collect();
        let g2 = |i: usize, j: usize| g[i * m + j].powi(2) + constants.epsilon1;
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let rms = |x: &[f64]| mean(&x.iter().map(|x| x * x).collect::<Vec<_>>()).sqrt();
        for i in 0..n {
            let row = mean(&(0..m).map(|j| g2(i, j)).collect::<Vec<_>>());
            self.r[i] = beta * self.r[i] + (1.0 - beta) * row;
        }
        for j in 0..m {
            let column = mean(&(0..n).map(|i| g2(i, j)).collect::<Vec<_>>());
            self.c[j] = beta * self.c[j] + (1.0 - beta) * column;
        }
        let factored = n.min(m) >= constants.min_factored;
        let mut u = vec![0.0; n * m];
        for i in 0..n {
            for j in 0..m {
                let at = i * m + j;
                self.v[at] = beta * self.v[at] + (1.0 - beta) * g2(i, j);
                let v = if factored { self.r[i] * self.c[j] / mean(&self.r) } else { self.v[at] };
                u[at] = g[at] / v.sqrt();
            }
        }
        let size = if constants.relative { rms(&self.p).max(constants.epsilon2) } else { 1.0 };
        let length = f64::from(pace.rate) * size / (rms(&u) / constants.clip).max(1.0);
        for (p, u) in self.p.iter_mut().zip(u) {
            *p -= length * u;
        }
    }
}

fn compare_with_slow(shape: Shape, constants: Adafactor, scale: f32, seed: u64) {
    let mut p = numbers(seed, shape.len());
    let mut slow = Slow {
        r: vec![0.0; shape.rows],
        c: vec![0.0; shape.columns],
        v: vec![0.0; shape.len()],
        p: p.iter().map(|&p| f64::from(p)).collect(),
    };
    let optimiser = Optimiser::Adafactor(constants);
    let mut state = optimiser.begin(shape);
    for step in 1..4 {
        let g = numbers(seed + step, shape.len());
        let pace = Pace { step, rate: 0.1, scale };
        optimiser.step(&mut state, &mut p, &g, pace);
        slow.step(&constants, shape, &g, pace);
        for (k, (&fast, &slow)) in p.iter().zip(&slow.p).enumerate() {
            let close = (f64::from(fast) - slow).abs() <= 1e-5 * slow.abs().max(0.1);
            assert!(close, "{shape:?}, step {step}, element {k}: {fast} is not {slow}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn adafactor_is_its_formulas_at_any_shape(
        rows in 1_usize..40,
        columns in 1_usize..60,
        min_factored in prop::sample::select(vec![1, 8, 128]),
        clip in prop::sample::select(vec![0.5, 1.0, f64::INFINITY]),
        relative: bool,
        scale in 0.01_f32..10.0,
        seed: u32,
    ) {
        let constants = Adafactor { clip, relative, min_factored, ..Adafactor::default() };
        compare_with_slow(Shape::matrix(rows, columns), constants, scale, u64::from(seed));
    }

    #[test]
    fn the_norm_is_the_obvious_sum(length in 0_usize..200_000, seed: u32) {
        let x = numbers(u64::from(seed), length);
        let slow: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        prop_assert!((squared_norm(&x) - slow).abs() <= 1e-6 * slow);
    }
}

/// Several chunks, rows wider than a segment, a last chunk that is not full.
#[test]
fn adafactor_is_its_formulas_where_work_is_cut() {
    let cases = [Shape::matrix(700, 131), Shape::matrix(129, 1500), Shape::vector(140_001)];
    for shape in cases {
        compare_with_slow(shape, Adafactor::default(), 0.25, 3);
    }
}

fn run(threads: usize, optimiser: Optimiser, shape: Shape) -> (Vec<f32>, State, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut p = numbers(1, shape.len());
        let mut average = p.clone();
        let mut state = optimiser.begin(shape);
        for step in 1..5 {
            let g = numbers(10 + step, shape.len());
            optimiser.step(&mut state, &mut p, &g, Pace { step, rate: 0.01, scale: 0.3 });
            move_average(&mut average, &p, 0.9);
        }
        let norm = squared_norm(&p).to_bits();
        p.extend(average);
        (p, state, norm)
    })
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let optimisers =
        [Optimiser::Adafactor(Adafactor::default()), Optimiser::AdamW(AdamW::default())];
    for optimiser in optimisers {
        for shape in [Shape::matrix(900, 333), Shape::matrix(3000, 60), Shape::vector(200_000)] {
            let one = run(1, optimiser, shape);
            for threads in [2, 5] {
                assert!(one == run(threads, optimiser, shape), "{optimiser:?}, {shape:?}");
            }
        }
    }
}

#[test]
fn nothing_to_move_is_no_trouble() {
    for optimiser in
        [Optimiser::Adafactor(Adafactor::default()), Optimiser::AdamW(AdamW::default())]
    {
        for shape in [Shape::vector(0), Shape::matrix(0, 512), Shape::matrix(512, 0)] {
            let mut state = optimiser.begin(shape);
            optimiser.step(&mut state, &mut [], &[], Pace { step: 1, rate: 1.0, scale: 1.0 });
        }
        let shape = Shape::matrix(130, 140);
        let mut p = numbers(5, shape.len());
        let before = p.clone();
        let mut state = optimiser.begin(shape);
        for step in 1..4 {
            let pace = Pace { step, rate: 1.0, scale: 1.0 };
            optimiser.step(&mut state, &mut p, &vec![0.0; shape.len()], pace);
        }
        assert!(p == before, "{optimiser:?}: a gradient of zero moves nothing");
    }
}

#[test]
fn states_name_their_arrays() {
    let cases = [
        (Optimiser::Adafactor(Adafactor::default()), Shape::matrix(128, 256), "v_row v_col"),
        (Optimiser::Adafactor(Adafactor::default()), Shape::matrix(127, 256), "v"),
        (Optimiser::Adafactor(Adafactor::default()), Shape::vector(512), "v"),
        (Optimiser::AdamW(AdamW::default()), Shape::matrix(128, 256), "m v"),
    ];
    for (optimiser, shape, expected) in cases {
        let mut state = optimiser.begin(shape);
        let names: Vec<&str> = state.tensors().iter().map(|t| &t.suffix[1..]).collect();
        assert_eq!(names.join(" "), expected, "{optimiser:?}, {shape:?}");
        let lengths: Vec<usize> = state.tensors().iter().map(|t| t.values.len()).collect();
        let mutable: Vec<usize> = state.tensors_mut().iter().map(|(_, t)| t.len()).collect();
        assert_eq!(lengths, mutable);
    }
}

#[test]
fn a_state_restored_goes_on_as_before() {
    let optimiser = Optimiser::Adafactor(Adafactor::default());
    let shape = Shape::matrix(130, 200);
    let (_, state, _) = run(2, optimiser, shape);
    let mut restored = optimiser.begin(shape);
    for ((_, to), from) in restored.tensors_mut().into_iter().zip(state.tensors()) {
        to.copy_from_slice(from.values);
    }
    assert!(restored == state);
}

#[test]
fn averages_are_averages() {
    let mut exponential = vec![1.0, 8.0];
    move_average(&mut exponential, &[3.0, 8.0], 0.75);
    assert_eq!(exponential, [1.5, 8.0]);

    let mut plain = vec![f32::NAN; 2];
    for (n, p) in (1..).zip([[1.0, 2.0], [3.0, 2.0], [8.0, 2.0], [0.0, 2.0]]) {
        running_average(&mut plain, &p, n);
    }
    assert!((plain[0] - 3.0).abs() < 1e-6 && plain[1].to_bits() == 2.0_f32.to_bits(), "{plain:?}");
}
