//! The largest tensors that training will need, known before it starts.

use crate::attention::ScoreKind;
use crate::config::Config;
use crate::device::Need;
use crate::error::Result;
use crate::model::Seq2Seq;
use crate::prepare::Prepared;
use crate::train::batch::Example;
use crate::train::feed::{Feed, Position};
use crate::train::share::parts;
use crate::train::validate::BATCH_TOKENS;

/// The parameters, and of the batches of the first epoch (later ones are drawn alike) the largest logits, gates and attention,
/// where so many processes share a batch.
///
/// # Errors
/// A config that can't be meant; what the system refuses.
pub(super) fn needs(model: &Seq2Seq, config: &Config, data: &Prepared, processes: usize) -> Result<Vec<Need>> {
    let mut needs = Need::of_parameters(
        &model.parameters(),
        "make its sizes in the config smaller (text.*.size, embedding.size, encoder.hidden, decoder.hidden)",
    );
    let hidden = config.encoder.hidden.max(config.decoder.hidden);
    // How many numbers a query and a key make before they are a score.
    let a_pair = match config.attention.score {
        ScoreKind::Additive | ScoreKind::Concat => config.attention.size,
        _ => model.decoder.attention.heads(),
    };
    let dev_tokens: usize = data.dev.examples.iter().map(Example::target_tokens).sum();
    let (mut tokens, mut gates, mut pairs) = (dev_tokens.min(BATCH_TOKENS), 0, 0);
    let mut feed = Feed::new(&data.examples, config.train.batching()?, config.train.seed, Position::default());
    while let Some(batch) = feed.take(1)?.pop() {
        let source = batch.iter().map(|example| example.source.len()).max().unwrap_or(0);
        let target = batch.iter().map(Example::target_tokens).max().unwrap_or(0);
        let share = parts(processes, batch.len());
        let (rows, steps) = (batch.len().div_ceil(share), if model.decoder.at_once() { target } else { 1 });
        let all: usize = batch.iter().map(Example::target_tokens).sum();
        tokens = tokens.max(all.div_ceil(share));
        gates = gates.max(rows * source.max(target) * 3 * hidden);
        pairs = pairs.max(rows * source * steps * a_pair);
    }
    let vocabulary = model.output().vocabulary();
    let of_batch = [
        (format!("logits of {tokens} tokens by {vocabulary} words"), tokens * vocabulary),
        ("the gates of a batch".to_owned(), gates),
        ("attention over a batch".to_owned(), pairs),
    ];
    needs.extend(of_batch.map(|(what, values)| Need {
        what,
        values: values as u64,
        way_out: "make train.batch_sentences or train.batch_tokens smaller",
    }));
    Ok(needs)
}
