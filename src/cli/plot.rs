//! `zhuyi plot`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::language::LanguageArg;
use super::output::note;
use super::plotting::{self, PlotPath};
use zhuyi::ablation::figures::{self, Learner, Learning};
use zhuyi::ablation::{Point, Row, points};
use zhuyi::alignment::{Alignment, SentenceLinks};
use zhuyi::corpus::read;
use zhuyi::language::Language;
use zhuyi::run::RunDir;
use zhuyi::{Error, Result, plot};

/// Pictures from alignments as `translate` and `align` tell them with --format json, from runs, and from the results of
/// ablations.
#[derive(Debug, Subcommand)]
pub enum PlotCommand {
    /// A row for each output word, a column for each source word, each head beside the mean, gold links framed
    Heatmap(AlignmentArgs),
    /// Lines between source and output words, as thick as the weights
    Lines(AlignmentArgs),
    /// Curves with bands: of an ablation's results.json by source length, of runs as they learnt
    Curves(CurvesArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi translate \"the cat eats fish\" --format json > cat.json
  zhuyi plot lines cat.json --out cat.svg")]
pub struct AlignmentArgs {
    /// Files with an alignment a line
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where to draw, .svg, .png or .html; of several alignments each into its own (`--out x.svg` tells how)
    #[arg(long, value_name = "FILE", default_value = "alignment-{n}.svg")]
    out: PlotPath,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi plot curves ablation/quick/results.json --out bottleneck.svg
  zhuyi plot curves runs/toy-luong-1 runs/toy-none-1 --show bleu --out learning.png")]
pub struct CurvesArgs {
    /// The results.json of an ablation, or runs
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// What to show [default: length of results, loss of runs]
    #[arg(long, value_enum)]
    show: Option<Shown>,
    /// The language of names
    #[arg(long, value_enum, default_value = "en")]
    language: LanguageArg,
    /// Where to draw, .svg or .png
    #[arg(long, value_name = "FILE", default_value = "curves.svg")]
    out: PlotPath,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// The score by source length
    Length,
    /// Loss on the dev set by updates
    Loss,
    /// BLEU on the dev set by updates
    Bleu,
    /// The score of the longest sentences by the size of the single context vector
    Sizes,
}

pub fn run(command: PlotCommand) -> anyhow::Result<()> {
    match command {
        PlotCommand::Heatmap(args) => {
            alignments(&args, |told| plot::heatmap::svg(&told.alignment, told.gold.as_ref()))
        }
        PlotCommand::Lines(args) => alignments(&args, |told| plot::lines::svg(&told.alignment)),
        PlotCommand::Curves(args) => curves(&args),
    }
}

/// An alignment with what people said of it.
struct Told {
    alignment: Alignment,
    gold: Option<SentenceLinks>,
}

fn alignments(args: &AlignmentArgs, draw: impl Fn(&Told) -> Result<String>) -> anyhow::Result<()> {
    let mut alignments = Vec::new();
    for file in &args.files {
        alignments.extend(read_alignments(file)?);
    }
    if alignments.len() > 1 {
        args.out.check_numbered()?;
    }
    for (n, (file, line, told)) in (1..).zip(&alignments) {
        let svg = draw(told).map_err(|why| Error::line(file, *line, why.to_string()))?;
        let path = args.out.numbered(n);
        plotting::write_svg(&svg, &path)?;
        note(&path.display().to_string());
    }
    Ok(())
}

/// The alignments of a file, one a line, with their lines; blank lines are passed over.
fn read_alignments(path: &Path) -> Result<Vec<(&Path, usize, Told)>> {
    let text = read::text(path)?;
    let lines = (1..).zip(read::lines(&text)).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| Ok((path, number, parse(path, number, line)?))).collect()
}

fn parse(path: &Path, number: usize, line: &str) -> Result<Told> {
    let unfit =
        |why: String| Error::line(path, number, format!("not an alignment as --format json tells it: {why}"));
    let object: serde_json::Value = serde_json::from_str(line).map_err(|why| unfit(why.to_string()))?;
    let gold = object["gold"].as_str().map(|links| SentenceLinks::parse(links, 0)).transpose().map_err(unfit)?;
    let alignment: Alignment = serde_json::from_value(object).map_err(|why| unfit(why.to_string()))?;
    let fits = |weights: &Vec<Vec<f32>>| {
        weights.len() == alignment.target.len() && weights.iter().all(|row| row.len() == alignment.source.len())
    };
    let without = alignment.weights.is_empty() && alignment.heads.is_empty();
    if !without && !std::iter::once(&alignment.weights).chain(&alignment.heads).all(fits) {
        let (rows, columns) = (alignment.target.len(), alignment.source.len());
        let message = format!("weights must be {rows} rows (target) of {columns} numbers (source), heads too");
        return Err(Error::line(path, number, message));
    }
    Ok(Told { alignment, gold })
}

fn curves(args: &CurvesArgs) -> anyhow::Result<()> {
    let language = args.language.language();
    let svg = match args.paths.iter().partition::<Vec<_>, _>(|path| path.is_dir()) {
        (runs, results) if results.is_empty() => of_runs(&runs, args.show.unwrap_or(Shown::Loss), language)?,
        (runs, results) if runs.is_empty() => of_results(&results, args.show.unwrap_or(Shown::Length), language)?,
        _ => {
            return Err(Error::Usage(
                "runs and results don't go into one picture: name the one or the other".into(),
            )
            .into());
        }
    };
    let path = args.out.numbered(1);
    plotting::write_svg(&svg, &path)?;
    note(&path.display().to_string());
    Ok(())
}

/// How runs learnt, each under its own name.
fn of_runs(paths: &[&PathBuf], shown: Shown, language: Language) -> Result<String> {
    let learning = match shown {
        Shown::Loss => Learning::Loss,
        Shown::Bleu => Learning::Bleu,
        Shown::Length | Shown::Sizes => {
            return Err(Error::Usage(
                "of runs there is --show loss or bleu; the other two are of results.json".into(),
            ));
        }
    };
    let curve = |path: &&PathBuf| -> Result<(String, Vec<Point>)> {
        let run = RunDir::find(Some(path), path)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok((name, points(&run)?))
    };
    let curves = paths.iter().map(curve).collect::<Result<Vec<_>>>()?;
    let learners = curves.iter().map(|(name, points)| Learner { name: name.clone(), runs: vec![points] });
    figures::learning(&learners.collect::<Vec<_>>(), learning, language)
}

fn of_results(paths: &[&PathBuf], shown: Shown, language: Language) -> Result<String> {
    let mut rows: Vec<Row> = Vec::new();
    for path in paths {
        let unfit = |why| Error::data(path, format!("not the results.json of an ablation: {why}"));
        let read = serde_json::from_str::<Vec<Row>>(&read::text(path)?).map_err(unfit)?;
        // Of several ablations, variants of one name are not one variant.
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let from = if paths.len() > 1 { format!("{folder}: ") } else { String::new() };
        rows.extend(read.into_iter().map(|row| Row { variant: format!("{from}{}", row.variant), ..row }));
    }
    check_alike(&rows, shown)?;
    match shown {
        Shown::Length => figures::by_length(&rows, language),
        Shown::Loss => figures::learning_of(&rows, Learning::Loss, language),
        Shown::Bleu => figures::learning_of(&rows, Learning::Bleu, language),
        Shown::Sizes => figures::sizes(&rows, language),
    }
}

/// Refuses to draw scores over each other that are of other lengths or another measure.
fn check_alike(rows: &[Row], shown: Shown) -> Result<()> {
    let kind = |row: &Row| (row.measure, row.by_length.iter().map(|bin| (bin.from, bin.to)).collect::<Vec<_>>());
    let by_length = matches!(shown, Shown::Length | Shown::Sizes);
    match rows.iter().find(|row| by_length && kind(row) != kind(&rows[0])) {
        Some(other) => Err(Error::Usage(format!(
            "`{}` was judged on sentences of other lengths, or by another measure, than `{}`: draw them apart",
            other.variant, rows[0].variant
        ))),
        None => Ok(()),
    }
}
