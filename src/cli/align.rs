//! `zhuyi align`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::aligned::{Told, learn_lexicon, tell_heads, tell_log_probs};
use super::links::{LinksArgs, SymmetryArgs};
use super::translate::ViewArgs;
use super::{RUNS, RunArgs, gold};
use zhuyi::alignment::{Extraction, SentenceLinks, Statistics};
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
    /// Words in links, gold ones too, count from this
    #[arg(long, value_name = "0|1", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    index_base: u8,
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
    #[arg(long, conflicts_with_all = ["head", "reverse_run"])]
    best_head: bool,
    /// Tell entropy, peaks, order, coverage and pattern of each pair and of all
    #[arg(long)]
    statistics: bool,
    /// Write which target word each source word is linked to most often, for `translate --lexicon`
    #[arg(long, value_name = "FILE")]
    learn_lexicon: Option<PathBuf>,
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
    /// The log-probability of each target, TAB, how many tokens it has, its end counted
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
    let base = usize::from(args.index_base);
    if let Some(links) = &args.without_model.links {
        if !ranks.leads() {
            return Ok(());
        }
        args.run.check_no_heads("--links")?;
        let json = args.format == AlignFormat::Json;
        return args.without_model.run(links, &args.symmetry, args.gold.as_deref(), base, json);
    }
    args.check()?;
    let (place, pairs) = pairs(args, base)?;
    let gold = match &args.gold {
        Some(path) => Some(gold::of_file(path, place, &pairs, base)?),
        None => gold::of_pairs(place, &pairs, base)?,
    };
    let translator = args.run.open(ranks)?;
    if args.format == AlignFormat::Scores {
        return tell_log_probs(&translator.align(&pairs)?, ranks);
    }
    check_looks(&translator)?;
    let view = args.view(&translator)?;
    let backward = args.reverse_run.as_deref().map(|run| backward(args, run, &pairs, ranks)).transpose()?;
    let aligned = translator.align(&pairs)?;
    if !ranks.leads() {
        return Ok(());
    }
    if args.best_head {
        let gold = gold.ok_or_else(|| Error::Usage("--best-head compares with gold links: add --gold".into()))?;
        return tell_heads(&aligned.by_head(&gold), args.format);
    }
    let rendered = aligned.told(view);
    let links = args.links(&rendered, backward.as_deref());
    let statistics: Option<Vec<_>> =
        args.statistics.then(|| rendered.iter().map(|rendered| Statistics::of(&rendered.alignment)).collect());
    let told = Told {
        args,
        pairs: &pairs,
        rendered: &rendered,
        links: &links,
        gold: gold.as_deref(),
        statistics: statistics.as_deref(),
    };
    let words = View { head: view.head, step: view.step, ..View::WORDS };
    told.tell(view == words)?;
    if let Some(path) = &args.learn_lexicon {
        learn_lexicon(path, &rendered, &links)?;
    }
    told.tell_statistics()?;
    if view == words || gold.is_none() {
        return told.tell_scores();
    }
    // Gold links are between words, whatever was told.
    let rendered = aligned.told(words);
    Told { rendered: &rendered, links: &args.links(&rendered, None), ..told }.tell_scores()
}

impl AlignArgs {
    /// Refuses what can't be told.
    fn check(&self) -> Result<()> {
        let words = self.view.view(Level::Word) == View::WORDS;
        let whole = matches!(self.format, AlignFormat::Json | AlignFormat::Npz);
        let rules = [
            (whole || words, "links are told between words: --level and --ends need --format json or npz"),
            (words || self.reverse_run.is_none(), "--reverse-run links words: leave --level and --ends out"),
            (words || self.learn_lexicon.is_none(), "--learn-lexicon is of words: leave --level and --ends out"),
            (
                self.step == StepArg::This || words,
                "--step next is told between words: leave --level and --ends out",
            ),
            (
                !self.symmetry.is_given() || self.reverse_run.is_some(),
                "--symmetrize needs links of both directions: add --reverse-run",
            ),
            (
                (self.format == AlignFormat::Npz) == self.output.is_some(),
                "--format npz goes into a file, and only that: give both --format npz and --output",
            ),
        ];
        match rules.into_iter().find(|(held, _)| !held) {
            Some((_, rule)) => Err(Error::Usage(rule.into())),
            None => Ok(()),
        }
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
    fn links(&self, rendered: &[Rendered], backward: Option<&[SentenceLinks]>) -> Vec<SentenceLinks> {
        let forward = rendered.iter().map(|rendered| rendered.alignment.extracted(self.extraction()));
        match backward {
            Some(backward) => {
                forward.zip(backward).map(|(forward, back)| self.symmetry.apply(&forward, back)).collect()
            }
            None => forward.collect(),
        }
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

/// Source–target links by a run of the other direction.
fn backward(args: &AlignArgs, run: &Path, pairs: &[Pair], ranks: &Ranks) -> Result<Vec<SentenceLinks>> {
    let run = RunArgs { run: Some(RunDir::find(Some(run), Path::new(RUNS))?.path().into()), ..args.run.other() };
    let translator = run.open(ranks)?;
    check_looks(&translator)?;
    let turned = |pair: &Pair| Pair { source: pair.target.clone(), target: pair.source.clone(), ..pair.clone() };
    let pairs: Vec<Pair> = pairs.iter().map(turned).collect();
    let told = translator.align(&pairs)?.told(View { step: args.step(), ..View::WORDS });
    Ok(args.links(&told, None).iter().map(SentenceLinks::reversed).collect())
}

/// The pairs to align, and the file to name in messages about them.
fn pairs(args: &AlignArgs, base: usize) -> Result<(&Path, Vec<Pair>)> {
    match (&args.tsv, &args.source, &args.target) {
        (Some(tsv), _, _) => {
            let column = if args.gold.is_some() { Gold::Ignored } else { Gold::ThirdColumn { base } };
            Ok((tsv, read::tsv(tsv, column)?.collect::<Result<_>>()?))
        }
        (_, Some(source), Some(target)) => Ok((source, read::files(source, target)?.collect::<Result<_>>()?)),
        _ => Err(Error::Usage("give --source and --target, or --tsv, or --links and --gold".into())),
    }
}
