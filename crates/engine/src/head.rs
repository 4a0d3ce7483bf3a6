//! From the decoder's states to its answers, over all tokens or a shortlist.

use std::ops::Range;

use padir_base::TokenId;
use padir_base::denoise::Candidate;
use padir_kernels::packed::Packed;
use padir_kernels::packed::best::OutputLayer;

use crate::engine::Inner;
use crate::error::EngineError;
use crate::layers::Work;

/// The tokens that compete for a context; all, if it is not in use.
#[derive(Debug)]
struct Shortlist {
    used: bool,
    /// In ascending order.
    tokens: Vec<TokenId>,
    ids: Vec<u32>,
    /// Their rows of the output layer.
    head: Packed,
    /// Their biases, if the output layer has any.
    bias: Vec<f32>,
}

/// The share of all tokens from which on a shortlist of the moment spares nothing: all logits are computed in int8 first, a few are not.
const HARDLY_SHORT: usize = 4;

/// The shortlists of all contexts: what users ask for, and what decoders narrow it to for a while.
#[derive(Debug, Default)]
pub(crate) struct Shortlists {
    lists: Lists,
    narrowed: Lists,
}

/// A shortlist for each context.
#[derive(Debug, Default)]
struct Lists {
    lists: Vec<Shortlist>,
    any: bool,
}

impl Lists {
    /// All tokens compete again.
    fn clear(&mut self) {
        self.lists.iter_mut().for_each(|list| list.used = false);
        self.any = false;
    }

    /// Sets or clears that of a context.
    fn set(
        &mut self,
        engine: &Inner,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<(), EngineError> {
        let Some(tokens) = tokens else {
            if let Some(list) = self.lists.get_mut(context) {
                list.used = false;
            }
            self.any = self.lists.iter().any(|list| list.used);
            return Ok(());
        };
        tokens.iter().try_for_each(|token| engine.check_token(token.0))?;
        if tokens.is_empty() {
            return Err(EngineError::EmptyShortlist { context });
        }
        let all = engine.output();
        if self.lists.len() <= context {
            let nothing = || Shortlist {
                used: false,
                tokens: Vec::new(),
                ids: Vec::new(),
                head: all.weight.empty_like(),
                bias: Vec::new(),
            };
            self.lists.resize_with(context + 1, nothing);
        }
        let list = &mut self.lists[context];
        list.tokens.clear();
        list.tokens.extend_from_slice(tokens);
        // Whatever else competes, a slot may say nothing.
        list.tokens.extend(engine.config.symbols.blank.filter(|_| engine.config.is_ctc()));
        list.tokens.sort_unstable();
        list.tokens.dedup();
        list.ids.clear();
        list.ids.extend(list.tokens.iter().map(|token| token.0));
        list.head.gather(all.weight, &list.ids);
        list.bias.clear();
        list.bias.extend(list.ids.iter().filter_map(|&id| all.bias.get(id as usize)));
        list.used = true;
        self.any = true;
        Ok(())
    }

    fn of(&self, context: usize) -> Option<&Shortlist> {
        self.lists.get(context).filter(|list| list.used)
    }
}

impl Shortlists {
    /// All tokens compete again.
    pub(crate) fn clear(&mut self) {
        self.lists.clear();
        self.narrowed.clear();
    }

    /// Sets or clears that of a context.
    pub(crate) fn set(
        &mut self,
        engine: &Inner,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<(), EngineError> {
        self.lists.set(engine, context, tokens)
    }

    /// Lets some of a context's tokens compete alone until this is taken back; says whether they do, for nothing is gained if they are many.
    pub(crate) fn narrow(
        &mut self,
        engine: &Inner,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<bool, EngineError> {
        let all = self.lists.of(context).map_or(engine.vocabulary(), |list| list.tokens.len());
        let tokens = tokens.filter(|tokens| HARDLY_SHORT * tokens.len() <= all);
        self.narrowed.set(engine, context, tokens)?;
        Ok(tokens.is_some())
    }

    fn of(&self, context: usize) -> Option<&Shortlist> {
        self.narrowed.of(context).or_else(|| self.lists.of(context))
    }

    /// The best candidates of each state, row after row. `context(row)` is whose a row is. Of a low-precision answer, those of the twin in int8, if there is one.
    #[expect(clippy::too_many_arguments, reason = "one operation with all that it reads")]
    pub(crate) fn answer(
        &self,
        engine: &Inner,
        work: &mut Work,
        low_precision: bool,
        rows: usize,
        context: impl Fn(usize) -> usize,
        depth: usize,
        answers: &mut [Candidate],
    ) {
        let d = engine.config.d_model;
        let Work { tools, best, normed, .. } = work;
        let all = engine.output();
        let mut run = |rows: Range<usize>, layer: OutputLayer<'_>, tokens: Option<&[TokenId]>| {
            let weight = if low_precision { layer.weight.coarse() } else { layer.weight };
            let layer = OutputLayer { weight, ..layer };
            let states = &normed[rows.start * d..rows.end * d];
            let answers = &mut answers[rows.start * depth..rows.end * depth];
            best.run(tools, layer, states, depth, tokens, answers);
            if let Some(tokens) = tokens.filter(|tokens| tokens.len() < depth) {
                answers.chunks_exact_mut(depth).for_each(|a| fill_up(a, tokens));
            }
        };
        if !self.lists.any && !self.narrowed.any {
            return run(0..rows, all, None);
        }
        let mut from = 0;
        while from < rows {
            let own = context(from);
            let to = (from..rows).find(|&row| context(row) != own).unwrap_or(rows);
            match self.of(own) {
                Some(list) => {
                    let layer = OutputLayer { weight: &list.head, bias: &list.bias, ..all };
                    run(from..to, layer, Some(&list.tokens));
                }
                None => run(from..to, all, None),
            }
            from = to;
        }
    }
}

/// Behind the tokens that compete come the others, impossible, in their order.
fn fill_up(answers: &mut [Candidate], listed: &[TokenId]) {
    let others = (0..).map(TokenId).filter(|token| listed.binary_search(token).is_err());
    for (answer, token) in answers[listed.len()..].iter_mut().zip(others) {
        *answer = Candidate { token, log_prob: f64::NEG_INFINITY };
    }
}
