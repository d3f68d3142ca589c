//! `zhuyi align`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::aligned::Teller;
use super::counter::Counter;
use super::links::{LinksArgs, SymmetryArgs};
use super::output::check_folder;
use super::translate::ViewArgs;
use super::{RUNS, RunArgs, gold};
use zhuyi::alignment::{Extraction, SentenceLinks, npz};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::ranks::Ranks;
use zhuyi::run::RunDir;
use zhuyi::text::words::Level;
use zhuyi::translator::{Rendered, StepOf, Translator, View};
use zhuyi::{Error, Result};

/// Align given pairs with a model, or score links.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi align --tsv data/toy/test.tsv                      # links and, with gold, AER
  zhuyi align --source a.en --target a.zh --format json
  zhuyi align --tsv pairs.tsv --run runs/en-zh --reverse-run runs/zh-en   # both directions, put together
  zhuyi align --tsv data/toy/test.tsv --best-head          # which head links best
  zhuyi align --links system.txt --gold gold.txt --format json")]
pub struct AlignArgs {
    /// Source sentences, with --target
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with_all = ["tsv", "links"])]
    source: Option<PathBuf>,
    /// Their translations
    #[arg(long, value_name = "FILE", requires = "source")]
    target: Option<PathBuf>,
    /// Pairs, source TAB target (TAB gold links)
    #[arg(long, value_name = "FILE", conflicts_with = "links")]
    tsv: Option<PathBuf>,
    /// Gold links, one line a pair
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// Words in links count from this, in what is read and in what is told
    #[arg(long, value_name = "0|1", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    index_base: u8,
    /// … and in gold links from this [default: --index-base]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    gold_base: Option<u8>,
    /// A folder for a picture of each pair, as SVG
    #[arg(long, value_name = "DIR")]
    pub(super) plot: Option<PathBuf>,
    /// Link every source word that gets at least this weight, in place of the one that gets most
    #[arg(long, value_name = "WEIGHT", value_parser = weight)]
    threshold: Option<f32>,
    /// One head's links, from 1, in place of those of the mean
    #[arg(long, value_name = "N")]
    head: Option<usize>,
    /// Whose look is a word's: the step that writes it, or the next one, which reads it
    #[arg(long, value_enum, default_value = "this")]
    step: StepArg,
    /// Tell which head, and which step's look, agrees best with the gold links
    #[arg(long, conflicts_with_all = ["head", "step", "threshold", "statistics", "learn_lexicon", "plot", "level", "ends", "reverse_run"])]
    pub(super) best_head: bool,
    /// Tell entropy, peaks, order, coverage and pattern of each pair and of all
    #[arg(long)]
    pub(super) statistics: bool,
    /// Write which target word each source word is linked to most often, for `translate --lexicon`
    #[arg(long, value_name = "FILE")]
    pub(super) learn_lexicon: Option<PathBuf>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "pharaoh")]
    pub(super) format: AlignFormat,
    /// Where to write what --format npz gives
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    run: RunArgs,
    /// A run of the other direction, whose links are put together with the first's
    #[arg(long, value_name = "DIR", help_heading = "Two directions")]
    reverse_run: Option<PathBuf>,
    #[command(flatten)]
    symmetry: SymmetryArgs,
    #[command(flatten)]
    without_model: LinksArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum AlignFormat {
    /// Links, a line a pair; scores to standard error
    Pharaoh,
    /// Weights, an object a line; scores as an object
    Json,
    /// Source TAB target TAB links
    Tsv,
    /// Weights and words as NumPy reads them, into --output
    Npz,
    /// The log-probability of each target, TAB, how many tokens it has, its end counted; 0 and 0 of a blank source
    Scores,
}

/// [`StepOf`] for clap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StepArg {
    This,
    Next,
}

/// A weight as typed.
fn weight(text: &str) -> std::result::Result<f32, String> {
    let weight = text.parse::<f32>().ok().filter(|&weight| weight > 0.0 && weight <= 1.0);
    weight.ok_or_else(|| "it must be a number above 0, at most 1".into())
}

pub fn run(args: &AlignArgs, ranks: &Ranks) -> anyhow::Result<()> {
    let bases = [args.index_base, args.gold_base.unwrap_or(args.index_base)].map(usize::from);
    if let Some(links) = &args.without_model.links {
        if !ranks.leads() {
            return Ok(());
        }
        let json = match args.format {
            AlignFormat::Pharaoh => false,
            AlignFormat::Json => true,
            _ => {
                return Err(Error::Usage("--links has links only: leave --format out, or take json".into()).into());
            }
        };
        return args.without_model.run(links, &args.symmetry, args.gold.as_deref(), bases, json);
    }
    args.check()?;
    let (place, pairs) = pairs(args, bases[1])?;
    let gold = match &args.gold {
        Some(path) => Some(gold::of_file(path, place, &pairs, bases[1])?),
        None => gold::of_pairs(place, &pairs, bases[1])?,
    };
    match (&gold, args.best_head) {
        (None, true) => {
            return Err(Error::Usage("--best-head compares with gold links: add --gold".into()).into());
        }
        (None, false) if args.format != AlignFormat::Scores => gold::warn_slipping(place, &pairs),
        _ => {}
    }
    if args.format == AlignFormat::Tsv {
        pairs.iter().try_for_each(|pair| check_tabs(place, pair))?;
    }
    let translator = args.run.open(ranks)?;
    if args.format != AlignFormat::Scores {
        check_looks(&translator)?;
    }
    let view = args.view(&translator)?;
    if args.output.is_some() {
        npz::Archive::check(pairs.len(), translator.heads())?;
    }
    let reverse = args.reverse_run.as_deref().map(|run| args.open_reverse(run, ranks)).transpose()?;
    let mut teller = Teller::new(args, view, &pairs, gold.as_deref());
    for batch in pairs.chunks(Counter::batch(&translator, ranks)) {
        let search = translator.options().search;
        let aligned = translator.align(batch, &search, teller.told)?;
        let backward = reverse.as_ref().map(|reverse| args.backward(reverse, batch, teller.told)).transpose()?;
        match ranks.leads() {
            true => teller.tell(&aligned, backward.as_deref())?,
            false => teller.told += batch.len(),
        }
    }
    if ranks.leads() { teller.finish() } else { Ok(()) }
}

impl AlignArgs {
    /// Refuses what can't be told.
    fn check(&self) -> Result<()> {
        let words = self.is_of_words();
        let whole = matches!(self.format, AlignFormat::Json | AlignFormat::Npz);
        let both = self.reverse_run.is_some();
        let scores_only = [
            (self.gold.is_some(), "--gold"),
            (self.plot.is_some(), "--plot"),
            (self.threshold.is_some(), "--threshold"),
            (self.head.is_some(), "--head"),
            (self.step == StepArg::Next, "--step"),
            (self.best_head, "--best-head"),
            (self.statistics, "--statistics"),
            (self.learn_lexicon.is_some(), "--learn-lexicon"),
            (!words, "--level and --ends"),
            (both, "--reverse-run"),
        ];
        if let Some((_, flag)) = scores_only.iter().find(|(given, _)| *given)
            && self.format == AlignFormat::Scores
        {
            let message =
                format!("--format scores tells log-probabilities, where nothing is linked: leave {flag} out");
            return Err(Error::Usage(message));
        }
        let rules = [
            (whole || words, "links are told between words: --level and --ends need --format json or npz"),
            (words || !both, "--reverse-run links words: leave --level and --ends out"),
            (words || self.learn_lexicon.is_none(), "--learn-lexicon is of words: leave --level and --ends out"),
            (
                self.step == StepArg::This || words,
                "--step next is told between words: leave --level and --ends out",
            ),
            (
                !self.symmetry.is_given() || both,
                "--symmetrize and --grow need links of both directions: add --reverse-run",
            ),
            (
                (self.format == AlignFormat::Npz) == self.output.is_some(),
                "--format npz goes into a file, and only that: give both --format npz and --output",
            ),
            (
                !self.best_head || matches!(self.format, AlignFormat::Pharaoh | AlignFormat::Json),
                "--best-head tells rates only: leave --format out, or take json",
            ),
        ];
        if let Some((_, rule)) = rules.into_iter().find(|(held, _)| !held) {
            return Err(Error::Usage(rule.into()));
        }
        // Before work that would be lost.
        let files = [&self.output, &self.learn_lexicon];
        files.into_iter().flatten().try_for_each(|path| check_folder(path))
    }

    /// Whether words are told, whichever head and step they look by.
    pub(super) fn is_of_words(&self) -> bool {
        self.view.view(Level::Word) == View::WORDS
    }

    /// Words in links count from this.
    pub(super) fn base(&self) -> usize {
        self.index_base.into()
    }

    fn view(&self, translator: &Translator) -> Result<View> {
        let heads = translator.heads();
        if let Some(head) = self.head.filter(|head| !(1..=heads).contains(head)) {
            return Err(Error::Usage(format!("--head {head}: this run has the heads 1 to {heads}")));
        }
        Ok(View { head: self.head.map(|head| head - 1), step: self.step(), ..self.view.view(Level::Word) })
    }

    fn step(&self) -> StepOf {
        match self.step {
            StepArg::This => StepOf::This,
            StepArg::Next => StepOf::Next,
        }
    }

    /// Each pair's links, put together with those of the other direction where there are any.
    pub(super) fn links(&self, rendered: &[Rendered], backward: Option<&[SentenceLinks]>) -> Vec<SentenceLinks> {
        let forward = rendered.iter().map(|rendered| rendered.alignment.extracted(self.extraction()));
        match backward {
            Some(backward) => {
                forward.zip(backward).map(|(forward, back)| self.symmetry.apply(&forward, back)).collect()
            }
            None => forward.collect(),
        }
    }

    fn open_reverse(&self, run: &Path, ranks: &Ranks) -> Result<Translator> {
        let run = RunDir::find(Some(run), Path::new(RUNS))?.path().into();
        let translator = RunArgs { run: Some(run), ..self.run.other() }.open(ranks)?;
        check_looks(&translator)?;
        Ok(translator)
    }

    /// Source–target links by a run of the other direction.
    fn backward(&self, reverse: &Translator, pairs: &[Pair], before: usize) -> Result<Vec<SentenceLinks>> {
        let turned =
            |pair: &Pair| Pair { source: pair.target.clone(), target: pair.source.clone(), ..pair.clone() };
        let pairs: Vec<Pair> = pairs.iter().map(turned).collect();
        let aligned = reverse.align(&pairs, &reverse.options().search, before)?;
        let told = aligned.told(View { step: self.step(), ..View::WORDS });
        Ok(self.links(&told, None).iter().map(SentenceLinks::reversed).collect())
    }

    fn extraction(&self) -> Extraction {
        self.threshold.map_or(Extraction::Largest, Extraction::Above)
    }
}

fn check_looks(translator: &Translator) -> Result<()> {
    if translator.has_attention() {
        return Ok(());
    }
    let run = translator.run().dir.path().display();
    Err(Error::Model(format!("{run} has no attention (attention.score = \"none\"), so it can't align")))
}

/// Refuses what would be further columns of a TSV.
fn check_tabs(place: &Path, pair: &Pair) -> Result<()> {
    if pair.source.contains('\t') || pair.target.contains('\t') {
        let message = "a tab has no place in a column of a TSV: replace it, or take --format json";
        return Err(Error::line(place, pair.line, message));
    }
    Ok(())
}

/// The pairs to align, and the file to name in messages about them.
fn pairs(args: &AlignArgs, gold_base: usize) -> Result<(&Path, Vec<Pair>)> {
    match (&args.tsv, &args.source, &args.target) {
        (Some(tsv), _, _) => {
            let column = if args.gold.is_some() { Gold::Ignored } else { Gold::ThirdColumn { base: gold_base } };
            Ok((tsv, read::tsv(tsv, column)?.collect::<Result<_>>()?))
        }
        (_, Some(source), Some(target)) => Ok((source, read::files(source, target)?.collect::<Result<_>>()?)),
        _ => Err(Error::Usage("give --source and --target, or --tsv, or --links and --gold".into())),
    }
}
