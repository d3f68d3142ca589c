//! `zhuyi plot`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::output::note;
use super::plotting::{self, PlotPath};
use zhuyi::alignment::Alignment;
use zhuyi::corpus::read;
use zhuyi::{Error, Result, plot};

/// Pictures from alignments as `translate` and `align` tell them with --format json.
#[derive(Debug, Subcommand)]
pub enum PlotCommand {
    /// A row for each output word, a column for each source word, each head beside the mean
    Heatmap(PlotArgs),
    /// Lines between source and output words, as thick as the weights
    Lines(PlotArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi translate \"the cat eats fish\" --format json > cat.json
  zhuyi plot lines cat.json --out cat.svg")]
pub struct PlotArgs {
    /// Files with an alignment a line
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where to draw, .svg or .png; {n} in it becomes the number of the alignment
    #[arg(long, value_name = "FILE", default_value = "alignment-{n}.svg")]
    out: PlotPath,
}

pub fn run(command: PlotCommand) -> anyhow::Result<()> {
    let (args, draw): (_, fn(&Alignment) -> Result<String>) = match command {
        PlotCommand::Heatmap(args) => (args, plot::heatmap::svg),
        PlotCommand::Lines(args) => (args, plot::lines::svg),
    };
    let mut alignments = Vec::new();
    for file in &args.files {
        alignments.extend(read_alignments(file)?);
    }
    if alignments.len() > 1 {
        args.out.check_numbered()?;
    }
    for (n, (file, line, alignment)) in (1..).zip(&alignments) {
        let svg = draw(alignment).map_err(|why| Error::line(file, *line, why.to_string()))?;
        let path = args.out.numbered(n);
        plotting::write_svg(&svg, &path)?;
        note(&path.display().to_string());
    }
    Ok(())
}

/// The alignments of a file, one a line, with their lines; blank lines are passed over.
fn read_alignments(path: &Path) -> Result<Vec<(&Path, usize, Alignment)>> {
    let text = read::text(path)?;
    let lines = (1..).zip(read::lines(&text)).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| Ok((path, number, parse(path, number, line)?))).collect()
}

fn parse(path: &Path, number: usize, line: &str) -> Result<Alignment> {
    let alignment: Alignment = serde_json::from_str(line)
        .map_err(|why| Error::line(path, number, format!("not an alignment as --format json tells it: {why}")))?;
    let fits = |weights: &Vec<Vec<f32>>| {
        weights.len() == alignment.target.len() && weights.iter().all(|row| row.len() == alignment.source.len())
    };
    let without = alignment.weights.is_empty() && alignment.heads.is_empty();
    if !without && !std::iter::once(&alignment.weights).chain(&alignment.heads).all(fits) {
        let (rows, columns) = (alignment.target.len(), alignment.source.len());
        let message = format!("weights must be {rows} rows (target) of {columns} numbers (source), heads too");
        return Err(Error::line(path, number, message));
    }
    Ok(alignment)
}
