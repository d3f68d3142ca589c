//! The largest tensors that training will need, known before it starts.

use crate::config::Config;
use crate::device::Need;
use crate::error::Result;
use crate::model::Seq2Seq;
use crate::rng::Rng;
use crate::train::batch::Example;

/// The parameters, the logits and the attention of the largest batch of the first epoch, where so many processes share it.
///
/// # Errors
/// A config that can't be meant.
pub(super) fn needs(
    model: &Seq2Seq,
    config: &Config,
    examples: &[Example],
    processes: usize,
) -> Result<Vec<Need>> {
    let parameters = model.parameters().into_iter().map(|(name, values)| Need {
        what: format!("the parameter {name}"),
        values: values as u64,
        products: 1,
        way_out: "make text.source.size, text.target.size or embedding.size smaller",
    });
    let (mut tokens, mut sentences, mut cells) = (0, 0, 0);
    for batch in config.train.batching()?.plan(examples, &mut Rng::new(config.train.seed, 1)) {
        let examples = || batch.iter().map(|&i| &examples[i]);
        let source = examples().map(|example| example.source.len()).max().unwrap_or(0);
        let target = examples().map(Example::target_tokens).max().unwrap_or(0);
        tokens = tokens.max(examples().map(Example::target_tokens).sum());
        sentences = sentences.max(batch.len());
        cells = cells.max(batch.len() * source * target);
    }
    let share = |all: usize| all.div_ceil(processes) as u64;
    let smaller = "make train.batch_sentences or train.batch_tokens smaller";
    let vocabulary = model.output().vocabulary() as u64;
    let batch = [
        Need {
            what: format!("the logits of a batch, {} tokens by {vocabulary} words,", share(tokens)),
            values: share(tokens) * vocabulary,
            products: 1,
            way_out: smaller,
        },
        Need {
            what: "attention over a batch".into(),
            // Every pair of a source and a target position has a vector where a score is no product.
            values: share(cells) * config.attention.size as u64,
            products: share(sentences) * model.decoder.attention.heads() as u64,
            way_out: smaller,
        },
    ];
    Ok(parameters.chain(batch).collect())
}
