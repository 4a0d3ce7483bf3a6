//! `padir translate`: texts in, texts out, in order.

#[cfg(feature = "attention")]
mod align;
pub(crate) mod model_path;
mod sink;
mod source;
mod trace;
mod watch;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use padir_decode::padir::Template;
use padir_decode::{Abilities, Event, Method, Order, padir};
#[cfg(feature = "toolkit")]
use padir_pipeline::recipe::Description;
use padir_text::lines::LINE_LIMIT;
use padir_translate::{
    Decoding, Place, Segmentation, Text, Translation, Translator, Watcher, abilities_of,
    template_of,
};

use super::arithmetic::Arithmetic;
use super::rerank::RerankArgs;
use crate::console::{Console, is_quiet_end};
use crate::hint::WithHint;
use crate::places::{Force, Places};
use sink::Sink;
use source::{Line, Source};
use trace::Trace;
use watch::Watch;

/// What `--manual` prints before the manual of the decoding settings.
const MANUAL: &str = include_str!("manual.md");

/// Translate.
///
/// Texts come from the command line, from files or from stdin, one per line. There is one output line per input line, in order, written
/// as soon as it is ready; an empty line stays empty. The sentences of a line are translated one by one, and the white space between
/// them is kept; with --no-split a line is one sentence. A translation depends only on the text, the model and the settings.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir translate --from de --to en \"Guten Morgen!\"
  padir translate --model runs/en-de/best \"A dog runs through the snow.\"
  padir translate --model runs/en-de/best < test.en > test.de
  padir translate --model runs/en-de/best --file test.en.gz --int8 --steps 2 --lengths 1
  padir translate --model runs/en-de/best --nbest 5 --scores \"Two men are talking.\"
  padir translate --model runs/en-de/best --watch \"Two men are talking.\"
  padir translate --model runs/en-de/best --align \"Two men are talking.\"
  padir translate --model runs/en-de/best --plot-attention attention.svg \"Two men are talking.\"
  padir translate --model runs/en-de/best --rerank runs/teacher/best < test.en > test.de
  padir translate --model runs/teacher/best --sample --nbest 5 --set sampling.temperature=0.7 \"Two men are talking.\"
  padir translate --model runs/en-de/best --set stop.rule=confident --set stop.min_log_prob=-0.05 < test.en
  padir translate --fix \"Mein [Onkel] lernt Klavier.\" \"My brother is learning to play the piano.\"
  padir translate --manual")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Translate {
    /// The texts to translate [default: stdin].
    #[arg(value_name = "TEXT", conflicts_with = "files")]
    texts: Vec<String>,

    /// The model's directory [default: a model at hand that fits --from and --to, or from en into de].
    #[arg(long, short, value_name = "DIR", conflicts_with_all = ["from", "to"])]
    model: Option<PathBuf>,

    /// The language to translate from, if no model is named.
    #[arg(long, value_name = "LANGUAGE")]
    from: Option<String>,

    /// The language to translate into, if no model is named.
    #[arg(long, value_name = "LANGUAGE")]
    to: Option<String>,

    /// Read texts from a file, plain or gz, zst, xz; `-` is stdin. May be repeated.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// Most refinement steps.
    #[arg(long, value_name = "N", help_heading = "Decoding")]
    steps: Option<usize>,

    /// How many length candidates are tried.
    #[arg(long, value_name = "N", help_heading = "Decoding")]
    lengths: Option<usize>,

    /// Width of the beam of an autoregressive model; 1 is greedy.
    #[arg(long, value_name = "N", help_heading = "Decoding")]
    beam: Option<usize>,

    /// Change any decoding setting; --manual lists them.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Decoding")]
    set: Vec<String>,

    #[command(flatten)]
    shortcuts: Shortcuts,

    #[command(flatten)]
    rerank: RerankArgs,

    /// Start from this translation and keep its words in square brackets at every step; the rest is refined around them. For one text of one sentence.
    #[arg(long, value_name = "TRANSLATION", conflicts_with_all = ["files", "rerank"], help_heading = "Decoding")]
    fix: Option<String>,

    /// Print the N best translations of each text: number ||| text ||| score.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Output")]
    nbest: Option<u16>,

    /// Print the score before each translation.
    #[arg(long, help_heading = "Output")]
    scores: bool,

    /// Write every step of every hypothesis to a file of JSON lines.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trace: Option<PathBuf>,

    #[cfg(feature = "attention")]
    #[command(flatten)]
    align: align::AlignArgs,

    #[command(flatten)]
    force: Force,

    /// Show each text as it is refined, step by step; with --json as `refinement`. A dot is a prediction that was rejected.
    #[arg(long, help_heading = "Output")]
    watch: bool,

    /// Each line is one sentence, as in corpora.
    #[arg(long)]
    no_split: bool,

    /// Most texts that are translated together; changes the speed, not the result.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,

    /// The longest line in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = LINE_LIMIT)]
    max_line: usize,

    /// Print the manual, with every option and every decoding setting, its default and its range, and end.
    #[arg(long)]
    manual: bool,
}

impl Translate {
    /// What a recipe wants to know of it: the shortlist it reads, if it does and its model is named.
    #[cfg(feature = "toolkit")]
    pub(super) fn describe(&self) -> Description {
        let shortlist = |model| self.arithmetic.shortlist_of(model);
        let reads = self.model.as_deref().map(shortlist).unwrap_or_default();
        Description { reads, ..Description::default() }
    }

    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if self.manual {
            return console.print(&[MANUAL, padir_decode::decoding::MANUAL].concat());
        }
        let places = Places::default().reads(&self.files).writes(&self.trace);
        #[cfg(feature = "attention")]
        let places = self.align.check(places)?;
        places.check(self.force)?;
        let model = match &self.model {
            Some(model) => model.clone(),
            None => model_path::find(self.from.as_deref(), self.to.as_deref())?,
        };
        let mut translator = self.arithmetic.open(&model, console.threads())?;
        translator.set_decoding(self.decoding(&translator)?)?;
        self.rerank.attach(&mut translator, console.threads())?;
        if self.no_split {
            translator.set_segmentation(Segmentation::Lines);
        }
        let template = self.template(&translator)?;
        if self.watch && translator.decoding().method().order() == Order::Autoregressive {
            bail!("--watch shows refinement, and this is an autoregressive model");
        }
        let vocabulary = translator.vocabulary();
        let blank = translator.config().symbols.blank;
        let mut listener = Listener {
            trace: self
                .trace
                .as_deref()
                .map(|path| Trace::create(path, vocabulary, blank))
                .transpose()?,
            watch: self.watch.then(|| Watch::new(vocabulary, blank)),
        };
        #[cfg(feature = "attention")]
        let mut align = self.align.open(&translator)?;
        if let Some(wanted) = self.nbest.map(usize::from)
            && let Some((found, option)) = too_few(translator.decoding(), wanted)
        {
            console.note(format!(
                "there are at most {found} of the {wanted} best; {option} gives more"
            ));
        }
        let mut sink = Sink::new(console, self.nbest.map(usize::from), self.scores);
        let typed = self.texts.is_empty() && self.files.is_empty() && io::stdin().is_terminal();
        if typed {
            console.note("type a text a line; Ctrl-D ends");
            console.prompt();
        }
        let total = source::count(&self.texts, &self.files, self.max_line, console);
        let source = Source::open(self.texts, &self.files, self.max_line)?;
        let batch = if self.watch { 1 } else { usize::from(self.batch) };
        let most = self.nbest.map_or(1, usize::from);
        let bar =
            if typed { Console::no_progress() } else { console.progress("translating", total) };
        let mut count = Count::default();
        let worked = source.for_each_batch(batch, |lines| {
            let started = Instant::now();
            let texts: Vec<Text<'_>> = lines
                .iter()
                .map(|Line { number, text }| Text {
                    template: template.as_ref(),
                    ..Text::new(*number, text)
                })
                .collect();
            #[cfg(not(feature = "attention"))]
            let translations = translator.translate(&texts, most, &mut listener)?;
            #[cfg(feature = "attention")]
            let translations = align.translate(&mut translator, &texts, most, &mut listener)?;
            count.add(&translations, started.elapsed().as_secs_f64());
            bar.inc(lines.len() as u64);
            bar.suspend(|| {
                let mut refinement = None;
                // Who watches sees one text at a time.
                if let (Some(watch), [translation]) = (&mut listener.watch, &translations[..]) {
                    if console.wants_json() {
                        refinement = Some(watch.tell(translation));
                    } else {
                        watch.show(translation);
                    }
                }
                #[cfg(not(feature = "attention"))]
                let alignments: Vec<sink::NoAlignment> = Vec::new();
                #[cfg(feature = "attention")]
                let alignments = align.take(lines, &translations)?;
                sink.write(lines, &translations, refinement.as_deref(), &alignments)
            })?;
            if typed {
                console.prompt();
            }
            Ok(())
        });
        bar.finish_and_clear();
        if typed {
            // The last prompt was not answered.
            console.note("");
        }
        // Whoever closes stdout has seen enough of the texts, not of the trace.
        if worked.as_ref().err().is_none_or(is_quiet_end)
            && let Some(trace) = listener.trace
        {
            trace.finish()?;
        }
        worked?;
        count.tell(console, translator.longest_source());
        Ok(())
    }

    /// What refinement starts from, if the user fixes words.
    fn template(&self, translator: &Translator) -> Result<Option<Template>> {
        let Some(fix) = &self.fix else { return Ok(None) };
        if self.texts.len() != 1 {
            bail!("--fix is for one text, and there are {}", self.texts.len());
        }
        Ok(Some(fixed(fix, translator)?))
    }

    /// The model's own way of decoding with what the user changed.
    fn decoding(&self, translator: &Translator) -> Result<Decoding> {
        let counts = Counts { steps: self.steps, lengths: self.lengths, beam: self.beam };
        // As many samples as are shown, unless something else is asked for.
        let samples = self.nbest.filter(|_| self.shortcuts.sample);
        let set: Vec<String> =
            samples.map(|n| format!("samples={n}")).into_iter().chain(self.set.clone()).collect();
        let model = abilities_of(translator.config());
        self.shortcuts.resolve(translator.decoding(), &model, counts, &set)
    }
}

/// A translation to start from, whose words in brackets stand fixed.
fn fixed(translation: &str, translator: &Translator) -> Result<Template> {
    let words: Vec<(String, bool)> = translation
        .split_whitespace()
        .map(|word| (word.replace(['[', ']'], ""), word.starts_with('[') && word.contains(']')))
        .collect();
    if !words.iter().any(|(_, fixed)| *fixed) {
        return Err(anyhow!("--fix fixes no word"))
            .hint("words in brackets stand fixed: --fix \"Mein [Onkel] lernt Klavier.\"");
    }
    let words = words.iter().map(|(word, fixed)| (word.as_str(), *fixed));
    Ok(template_of(translator.vocabulary(), words)?)
}

/// How many translations of a text a search finds at most, and the option that finds more, if that is fewer than wanted.
fn too_few(decoding: &Decoding, wanted: usize) -> Option<(usize, &'static str)> {
    let (found, option) = match decoding {
        Decoding::Refine(how) => {
            (how.lengths * how.beam_length * how.parallel_decodes, "--lengths")
        }
        Decoding::MaskPredict(how) => (how.lengths, "--lengths"),
        Decoding::EasyFirst(how) => (how.lengths, "--lengths"),
        Decoding::Sundae(how) => (how.lengths * how.samples, "--set samples="),
        Decoding::Gibbs(how) => (how.lengths * how.samples, "--lengths"),
        Decoding::Beam(how) => (how.num_beams, "--beam"),
        Decoding::Sample(how) => (how.samples, "--set samples="),
        Decoding::Ctc(how) => (how.num_beams, "--beam"),
    };
    (found < wanted).then_some((found, option))
}

/// Other ways to decode than the model's own.
#[derive(clap::Args)]
pub(crate) struct Shortcuts {
    /// Refine with shortcuts: the first two steps run at low precision (int8 in an f32 model), only the first step's best candidates
    /// compete in the others, after each step the better half of the hypotheses goes on, and confident ones stop. Costs some quality.
    #[arg(long, conflicts_with = "exact_paper", help_heading = "Decoding")]
    fast: bool,

    /// Refine as the paper's program does, also where its text means something else, and without our extensions.
    #[arg(long, help_heading = "Decoding")]
    exact_paper: bool,

    /// The decoding method: refine, mask-predict, easy-first, sundae or gibbs for a parallel model, as it was trained, beam or sample
    /// for an autoregressive one, ctc for a CTC model [default: the model's].
    #[arg(long, value_name = "NAME", help_heading = "Decoding")]
    method: Option<Method>,

    /// Draw the tokens of an autoregressive model instead of searching: `--set sampling.temperature=0.8`, `sampling.top_k`,
    /// `sampling.top_p`, `seed`. A parallel model draws with `--set temperature=0.8`.
    #[arg(long, conflicts_with_all = ["fast", "exact_paper", "beam"], help_heading = "Decoding")]
    sample: bool,
}

impl Shortcuts {
    /// A way of decoding with what the user changed.
    pub(crate) fn resolve(
        &self,
        own: &Decoding,
        model: &Abilities,
        counts: Counts,
        set: &[String],
    ) -> Result<Decoding> {
        let mut decoding = own.clone();
        if let Some(method) = self.method {
            decoding = change(&decoding, model, Counts::default(), &[format!("method={method}")])?;
        }
        if self.fast {
            decoding = refined(decoding, "--fast", padir::Settings::fast)?;
        }
        if self.exact_paper {
            let exact = padir::Settings::exactly_as_in_the_paper;
            decoding = refined(decoding, "--exact-paper", exact)?;
        }
        if self.sample {
            if model.order == Order::Alignment {
                bail!("--sample is about autoregressive models; a CTC model takes the best path");
            }
            if model.order == Order::Parallel {
                bail!(
                    "--sample is about autoregressive models; this one draws with --set temperature=1"
                );
            }
            decoding = Decoding::of(Method::Sample, model);
        }
        // Last, so that what contradicts a shortcut is refused instead of forgotten.
        change(&decoding, model, counts, set)
    }
}

/// Changes the settings of refinement.
fn refined(
    decoding: Decoding,
    option: &str,
    change: impl FnOnce(padir::Settings) -> padir::Settings,
) -> Result<Decoding> {
    match decoding {
        Decoding::Refine(settings) => Ok(Decoding::Refine(Box::new(change(*settings)))),
        other => bail!("{option} is about refinement; this model decodes by {}", other.method()),
    }
}

/// Settings that have options of their own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) steps: Option<usize>,
    pub(crate) lengths: Option<usize>,
    pub(crate) beam: Option<usize>,
}

impl Counts {
    /// As assignments; an option that is for the other kind of model is refused by its name.
    fn assignments(self, own: &Decoding) -> Result<Vec<String>> {
        use Order::{Alignment, Autoregressive, Parallel};
        let order = own.method().order();
        let options = [
            ("--steps", "steps", self.steps, [Parallel, Alignment], "--beam"),
            ("--lengths", "lengths", self.lengths, [Parallel, Parallel], "--beam"),
            ("--beam", "num_beams", self.beam, [Autoregressive, Alignment], "--steps or --lengths"),
        ];
        let mut assignments = Vec::new();
        for (option, key, count, needed, instead) in options {
            let Some(count) = count else { continue };
            if !needed.contains(&order) {
                let needed = needed[0];
                bail!("{option} is for {needed}, and this is {order}; is {instead} meant?");
            }
            assignments.push(format!("{key}={count}"));
        }
        Ok(assignments)
    }
}

/// Changes the counts that the user gave, and then whatever was set by name.
pub(crate) fn change(
    decoding: &Decoding,
    model: &Abilities,
    counts: Counts,
    set: &[String],
) -> Result<Decoding> {
    let changes = [counts.assignments(decoding)?, set.to_vec()].concat();
    Ok(decoding.with_assignments(&changes, model)?)
}

/// Whether a way of decoding is one for a parallel model or for an autoregressive one.
pub(crate) fn some_decoder(resolve: impl Fn(&Decoding, &Abilities) -> Result<()>) -> Result<()> {
    // Whatever a model can have, some have.
    let parallel = Abilities {
        mask: true,
        numbered_masks: true,
        confidence_head: true,
        ..Abilities::parallel()
    };
    let try_out = |model: &Abilities| resolve(&Decoding::default_for(model), model);
    match (try_out(&parallel), try_out(&Abilities::autoregressive())) {
        (Err(parallel), Err(causal)) => {
            // Without the hints, which are about a model that is there.
            let (parallel, causal) = (parallel.root_cause(), causal.root_cause());
            bail!(
                "no model decodes like this. A parallel one: {parallel}. An autoregressive one: {causal}"
            )
        }
        _ => Ok(()),
    }
}

/// Passes events on to whoever wants them.
struct Listener {
    trace: Option<Trace>,
    watch: Option<Watch>,
}

impl Watcher for Listener {
    fn watches(&self) -> bool {
        self.trace.is_some() || self.watch.is_some()
    }

    fn watch(&mut self, place: Place, event: Event) {
        if let Some(trace) = &mut self.trace {
            trace.note(place, &event);
        }
        if let Some(watch) = &mut self.watch {
            watch.keep(place, event);
        }
    }
}

/// What was translated, and how fast.
#[derive(Default)]
struct Count {
    texts: usize,
    too_long: usize,
    source: usize,
    target: usize,
    seconds: f64,
}

impl Count {
    fn add(&mut self, translations: &[Translation], seconds: f64) {
        self.texts += translations.len();
        self.too_long += translations.iter().map(|t| t.too_long).sum::<usize>();
        self.source += translations.iter().map(|t| t.source_tokens).sum::<usize>();
        let best = translations.iter().filter_map(|t| t.alternatives.first());
        self.target += best.map(|best| best.tokens).sum::<usize>();
        self.seconds += seconds;
    }

    /// Says what should be known about it.
    fn tell(&self, console: &Console, longest: usize) {
        if self.too_long > 0 {
            let what = if self.too_long == 1 { "sentence was" } else { "sentences were" };
            console.note(format!(
                "{} {what} longer than the {longest} tokens that this model translates in one piece, and split: check them",
                self.too_long
            ));
        }
        if self.texts > 1 {
            console.note(self.summary());
        }
    }

    fn summary(&self) -> String {
        let rate = |count: usize| count as f64 / self.seconds.max(1e-9);
        format!(
            "{} texts, {} source and {} target tokens in {:.2} s: {:.1} texts/s, {:.0} target tokens/s",
            self.texts,
            self.source,
            self.target,
            self.seconds,
            rate(self.texts),
            rate(self.target),
        )
    }
}
