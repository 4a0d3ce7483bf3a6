//! Visibility by query: the engine answers as the network does, and nobody learns of a token that it may not see.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::sync::Arc;

use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::random::{Purpose, Seed, Stream};
use padir_base::{ParallelTraining, TokenId};
use padir_checkpoint::{
    Checkpoint, Decoder, DecoderKind, Extras, LengthPredictor, ModelConfig, Preset, save,
};
use padir_engine::{Engine, EngineError, Precision, Session, Threads};
use padir_model::{Device, Network, Pass, Sentences};

const VOCABULARY: usize = 60;
const LENGTHS: [usize; 3] = [7, 1, 4];

fn config() -> ModelConfig {
    let mut config = ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Parallel);
    (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (24, 10, 3, 40);
    let Decoder::Parallel(parallel) = &mut config.decoder else { panic!("not parallel") };
    parallel.training = ParallelTraining::Disco;
    (parallel.positional_attention, parallel.learned_positions) = (false, true);
    parallel.length = LengthPredictor::Oracle;
    config
}

fn checkpoint(config: &ModelConfig) -> (tempfile::TempDir, Checkpoint) {
    let weights: std::collections::HashMap<String, Vec<f32>> = config.initial(Seed(3)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    save(&path, config, |p| weights.get(&p.name).map(Into::into), &Extras::default()).unwrap();
    (folder, Checkpoint::open(path).unwrap())
}

/// Rows of tokens with ranks; the last of each is the end.
struct Rows {
    tokens: Vec<TokenId>,
    ranks: Vec<u32>,
    ends: Vec<usize>,
}

impl Rows {
    fn random(stream: &mut Stream) -> Self {
        let (mut tokens, mut ranks, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for n in LENGTHS {
            for i in 0..n {
                tokens.push(TokenId(4 + stream.below(50) as u32));
                ranks.push(if i + 1 == n { 0 } else { 1 + stream.below(n as u64) as u32 });
            }
            *tokens.last_mut().unwrap() = TokenId::EOS;
            ends.push(tokens.len());
        }
        Self { tokens, ranks, ends }
    }

    fn ask(&self, session: &mut Session) -> Result<Vec<Vec<Candidate>>, EngineError> {
        let (no, yes) = (vec![false; self.tokens.len()], vec![true; self.tokens.len()]);
        let contexts: Vec<usize> = (0..LENGTHS.len()).collect();
        let query = Query::new(&self.tokens, &self.ends, &contexts, &no, &yes).unwrap();
        let query = query.with_ranks(&self.ranks).unwrap();
        let mut answers = Answers::default();
        answers.prepare(&query, VOCABULARY);
        session.denoise(&query, &mut answers)?;
        Ok((0..self.tokens.len()).map(|at| answers.at(at).unwrap().to_vec()).collect())
    }

    /// Queries × keys of each row.
    fn visible(&self) -> Vec<bool> {
        let (no, yes) = (vec![false; self.tokens.len()], vec![true; self.tokens.len()]);
        let contexts = vec![0; LENGTHS.len()];
        let query = Query::new(&self.tokens, &self.ends, &contexts, &no, &yes).unwrap();
        let query = query.with_ranks(&self.ranks).unwrap();
        let mut visible = Vec::new();
        for (row, n) in LENGTHS.into_iter().enumerate() {
            let row = query.row(row);
            visible.extend((0..n).flat_map(|i| (0..n).map(move |j| row.sees(i, j))));
        }
        visible
    }
}

fn sources() -> Vec<Vec<TokenId>> {
    [5, 3, 8].map(|n: u32| (0..n).map(|i| TokenId(10 + i)).collect()).to_vec()
}

fn session(checkpoint: &Checkpoint, precision: Precision) -> Session {
    let mut session = Engine::load(checkpoint, precision).unwrap().session(Threads::new(2));
    let sources = sources();
    session.encode(&sources.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    session
}

#[test]
fn the_engine_sees_what_the_network_sees() {
    let config = config();
    let (_folder, checkpoint) = checkpoint(&config);
    let network = Network::initialise(&config, Seed(3), &Device::flex()).unwrap();
    let rows = Rows::random(&mut Seed(1).stream(Purpose::Test, 0));
    let ids = |tokens: &[TokenId]| tokens.iter().map(|t| t.0).collect::<Vec<u32>>();
    let read: Vec<Vec<u32>> = sources().iter().map(|source| ids(source)).collect();
    for fused in [true, false] {
        let pass = Pass::evaluation(fused);
        let encoded = network.encode(&pass, &Sentences::new(read.iter().map(Vec::as_slice)));
        let mut start = 0;
        let targets: Vec<Vec<u32>> = rows
            .ends
            .iter()
            .map(|&end| ids(&rows.tokens[std::mem::replace(&mut start, end)..end]))
            .collect();
        let targets = Sentences::new(targets.iter().map(Vec::as_slice));
        let visible = Some(Arc::new(rows.visible()));
        let states = network.decode_seeing(&pass, &targets, &encoded, visible);
        let truth = network.top(&states, VOCABULARY);
        for (precision, tolerance) in [(Precision::F32, 1e-4), (Precision::Int8, 1.0)] {
            let answers = rows.ask(&mut session(&checkpoint, precision)).unwrap();
            for (at, (answers, truth)) in answers.iter().zip(&truth).enumerate() {
                for one in answers {
                    let truth = truth.iter().find(|(token, _)| *token == one.token.0).unwrap().1;
                    let error = (one.log_prob - f64::from(truth)).abs();
                    assert!(error < tolerance, "{precision:?}, position {at}: {one:?} {truth}");
                }
            }
        }
    }
}

#[test]
fn nothing_leaks_from_what_is_not_seen() {
    let (_folder, checkpoint) = checkpoint(&config());
    let mut session = session(&checkpoint, Precision::F32);
    let rows = Rows::random(&mut Seed(2).stream(Purpose::Test, 0));
    let before = rows.ask(&mut session).unwrap();
    let visible = rows.visible();
    let n = LENGTHS[0];
    let mut seen_and_not = [0, 0];
    for changed in 0..n - 1 {
        let mut tokens = rows.tokens.clone();
        tokens[changed] = TokenId(tokens[changed].0 % 50 + 5);
        let other = Rows { tokens, ranks: rows.ranks.clone(), ends: rows.ends.clone() };
        let after = other.ask(&mut session).unwrap();
        for i in 0..n {
            let sees = visible[i * n + changed];
            assert_eq!(before[i] != after[i], sees, "token {changed}, position {i}");
            seen_and_not[usize::from(sees)] += 1;
        }
        assert_eq!(before[n..], after[n..], "other rows");
    }
    assert!(seen_and_not.iter().all(|&count| count > 5), "{seen_and_not:?}");
}

#[test]
fn ranks_are_refused_by_other_models() {
    let mut config = config();
    let Decoder::Parallel(parallel) = &mut config.decoder else { panic!("not parallel") };
    parallel.training = ParallelTraining::Cmlm;
    let (_folder, checkpoint) = checkpoint(&config);
    let rows = Rows::random(&mut Seed(2).stream(Purpose::Test, 0));
    let error = rows.ask(&mut session(&checkpoint, Precision::F32)).unwrap_err().to_string();
    assert_eq!(error, "the question ranks positions, but the model has no visibility by query");
}
