//! The figures as files: for programs, and for the next report.

use std::path::Path;

use serde::Serialize;

use super::{Bin, Place, Results, Row};
use crate::error::{Error, Result};
use crate::run::write_whole;

/// A row for each trial.
pub const RESULTS: &str = "results.json";
/// The same, a line for each bin of lengths and one for all.
pub const TABLE: &str = "results.csv";
/// How long each trial took.
pub const TIMES: &str = "timings.json";
/// How far variants are ahead of each other.
pub const COMPARISONS: &str = "comparisons.json";

impl Results {
    /// Writes the figures into an ablation's directory.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write(&self, place: &Place) -> Result<()> {
        let out = place.path();
        write_json(&out.join(RESULTS), &self.rows)?;
        write_json(&out.join(TIMES), &self.times)?;
        write_json(&out.join(COMPARISONS), &self.comparisons)?;
        write_whole(&out.join(TABLE), csv(&self.rows).as_bytes())
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string_pretty(value).map_err(|why| Error::Model(why.to_string()))?;
    write_whole(path, (json + "\n").as_bytes())
}

const COLUMNS: &str = "variant,seed,attention,context,parameters,steps,lengths,from,to,sentences,loss,perplexity,bleu,\
                       chrf,exact_match,token_accuracy,aer,entropy,cut,empty,low,high\n";

fn csv(rows: &[Row]) -> String {
    let mut text = COLUMNS.to_owned();
    for row in rows {
        text += &line(row, "all", &row.all);
        for bin in &row.by_length {
            text += &line(row, "bin", bin);
        }
    }
    text
}

fn line(row: &Row, lengths: &str, bin: &Bin) -> String {
    let maybe = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let cells = [
        row.variant.clone(),
        row.seed.to_string(),
        row.attention.clone(),
        row.context.to_string(),
        row.parameters.to_string(),
        row.train.steps.to_string(),
        lengths.to_owned(),
        bin.from.to_string(),
        bin.to.to_string(),
        bin.sentences.to_string(),
        bin.loss.to_string(),
        bin.perplexity.to_string(),
        bin.bleu.to_string(),
        bin.chrf.to_string(),
        bin.exact_match.to_string(),
        maybe(bin.token_accuracy),
        maybe(bin.aer),
        maybe(bin.entropy),
        bin.cut.to_string(),
        bin.empty.to_string(),
        bin.band[0].to_string(),
        bin.band[1].to_string(),
    ];
    cells.join(",") + "\n"
}
