//! Links of files: made one from two directions, and scored, without a model.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::gold;
use super::output::{note, print, print_json};
use zhuyi::alignment::{AlignmentErrorRate, Grow, SentenceLinks, Symmetry};
use zhuyi::corpus::read;
use zhuyi::{Error, Result};

/// Links to score or to put together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Links without a model")]
pub(super) struct LinksArgs {
    /// Links to score against --gold, or to put together with --reverse-links
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plot", "threshold", "head", "step", "best_head", "statistics",
        "learn_lexicon", "output", "level", "ends", "run", "device", "without_head", "reverse_run"])]
    pub links: Option<PathBuf>,
    /// Links of the same pairs by a system of the other direction, target–source
    #[arg(long, value_name = "FILE", requires = "links")]
    reverse_links: Option<PathBuf>,
    /// The --links file is target–source
    #[arg(long, requires = "links")]
    reversed: bool,
}

/// How links of two directions become one set.
#[derive(Debug, Args)]
#[command(next_help_heading = "Two directions")]
pub(super) struct SymmetryArgs {
    /// How links of both directions are put together [default: grow-diag-final-and]
    #[arg(long, value_name = "HOW", value_parser = clap::builder::EnumValueParser::<SymmetryArg>::new())]
    symmetrize: Option<SymmetryArg>,
    /// When growing adds a link: where either of its words has none yet (Koehn), or both [default: either]
    #[arg(long, value_enum)]
    grow: Option<GrowArg>,
}

/// [`Symmetry`] for clap.
#[derive(Clone, Copy, Debug)]
struct SymmetryArg(Symmetry);

impl ValueEnum for SymmetryArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: std::sync::LazyLock<Vec<SymmetryArg>> =
            std::sync::LazyLock::new(|| Symmetry::ALL.map(SymmetryArg).to_vec());
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// [`Grow`] for clap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GrowArg {
    Either,
    Both,
}

impl SymmetryArgs {
    /// Whether anything was asked for.
    pub fn is_given(&self) -> bool {
        self.symmetrize.is_some() || self.grow.is_some()
    }

    /// Both directions' links, source–target, made one.
    pub fn apply(&self, forward: &SentenceLinks, backward: &SentenceLinks) -> SentenceLinks {
        let grow = match self.grow {
            None | Some(GrowArg::Either) => Grow::Either,
            Some(GrowArg::Both) => Grow::Both,
        };
        self.symmetrize.map_or(Symmetry::GrowDiagFinalAnd, |symmetry| symmetry.0).apply(forward, backward, grow)
    }
}

impl LinksArgs {
    /// Scores the links, or tells those of both directions.
    pub fn run(
        &self,
        links: &Path,
        symmetry: &SymmetryArgs,
        gold: Option<&Path>,
        [base, gold_base]: [usize; 2],
        json: bool,
    ) -> anyhow::Result<()> {
        let system = self.system(links, symmetry, base)?;
        let Some(gold) = gold else {
            if self.reverse_links.is_none() {
                return Err(Error::Usage("--links needs --gold to score, or --reverse-links".into()).into());
            }
            return system.iter().try_for_each(|links| match json {
                true => print_json(&json!({ "links": links.counted_from(base).to_string() })),
                false => print(&links.counted_from(base).to_string()),
            });
        };
        let gold_links = gold::read_links(gold, gold_base)?;
        read::check_equal([links, gold], [system.len(), gold_links.len()])?;
        let counts =
            system.iter().zip(&gold_links).map(|(system, gold)| AlignmentErrorRate::of(system, gold)).sum();
        match json {
            true => print_json(&scores(&counts)),
            false => print(&told(&counts)),
        }
    }

    fn system(&self, links: &Path, symmetry: &SymmetryArgs, base: usize) -> Result<Vec<SentenceLinks>> {
        if symmetry.is_given() && self.reverse_links.is_none() {
            return Err(Error::Usage(
                "--symmetrize and --grow need links of both directions: add --reverse-links".into(),
            ));
        }
        let oriented = |links: SentenceLinks| if self.reversed { links.reversed() } else { links };
        let forward: Vec<SentenceLinks> = gold::read_links(links, base)?.into_iter().map(oriented).collect();
        let Some(reverse) = &self.reverse_links else { return Ok(forward) };
        let backward = gold::read_links(reverse, base)?;
        read::check_equal([links, reverse], [forward.len(), backward.len()])?;
        // Where words follow each other alike, both directions have the same links.
        let turned = || forward.iter().any(|links| *links != links.reversed());
        if forward == backward && turned() {
            note("every line of --reverse-links is that of --links: is it target–source, of the other direction?");
        }
        Ok(forward
            .iter()
            .zip(&backward)
            .map(|(forward, back)| symmetry.apply(forward, &back.reversed()))
            .collect())
    }
}

/// Scores as programs read them.
pub(super) fn scores(counts: &AlignmentErrorRate) -> Value {
    json!({
        "aer": counts.aer(),
        "precision": counts.precision(),
        "recall": counts.recall(),
        "f1": counts.f1(),
        "links": counts.links,
    })
}

/// Scores and the best that one link a target word can reach.
pub(super) fn scores_and_floor(counts: &AlignmentErrorRate, floor: &AlignmentErrorRate) -> Value {
    let mut answer = scores(counts);
    answer["floor"] = json!(floor.aer());
    answer
}

/// Scores as people read them.
pub(super) fn told(counts: &AlignmentErrorRate) -> String {
    format!(
        "AER {:.4}, precision {:.4}, recall {:.4}, F1 {:.4}, {} links",
        counts.aer(),
        counts.precision(),
        counts.recall(),
        counts.f1(),
        counts.links
    )
}
