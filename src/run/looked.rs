//! Where a model in training looks in sentences of the dev set, reference forced.

use burn::tensor::Device;

use crate::alignment::Alignment;
use crate::error::Result;
use crate::model::host::LaidOut;
use crate::model::{Seq2Seq, batched};
use crate::prepare::Prepared;
use crate::text::Tokenizer;
use crate::text::words::Level;
use crate::train::batch::Example;

/// The alignments of some examples; none of a model without attention, or whose weights are no numbers, which is told elsewhere.
pub(super) fn looked(
    model: &Seq2Seq,
    examples: &[&Example],
    data: &Prepared,
    device: &Device,
) -> Result<Vec<Alignment>> {
    let sources: Vec<&[usize]> = examples.iter().map(|example| example.source.as_slice()).collect();
    let targets: Vec<&[usize]> = examples.iter().map(|example| example.target.as_slice()).collect();
    let Ok(forced) = batched::score(model, &LaidOut::default(), &sources, &targets, examples.len(), device) else {
        return Ok(Vec::new());
    };
    let words = |tokenizer: &Tokenizer, ids: &[usize]| {
        let pieces: Vec<String> = ids.iter().map(|&id| tokenizer.piece(id).to_owned()).collect();
        tokenizer.words(Level::Auto, &pieces)
    };
    let mut alignments = Vec::new();
    for (forced, (source, target)) in forced.iter().zip(sources.into_iter().zip(targets)) {
        if forced.attention.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<&[f32]> = forced.attention.iter().map(|look| look.weights.as_slice()).collect();
        let source = words(&data.source, &source[..source.len() - 1]);
        alignments.push(Alignment::at_words(&rows, &[], &source, &words(&data.target, target)));
    }
    Ok(alignments)
}

/// The dev sentence that is watched from validation to validation: the first that a person can take in.
pub(super) fn watched(data: &Prepared) -> Option<&Example> {
    let is_short = |example: &&Example| example.source.len().max(example.target.len()) <= SHORT;
    data.dev.examples.iter().find(is_short).or(data.dev.examples.first())
}

/// Pieces that a person can take in.
const SHORT: usize = 16;
