//! Sentences as the model reads them.

use super::{TooLong, Translator};
use crate::error::{Error, Result};
use crate::search::{Long, SearchConfig};
use crate::text::{EOS, Encoded, normalize};

/// A sentence as the model reads it.
#[derive(Debug)]
pub(super) struct Source {
    pub encoded: Encoded,
    /// With the end of the sentence.
    pub ids: Vec<usize>,
}

/// What became of a sentence.
#[derive(Debug)]
pub(super) struct Reading {
    /// Nothing for a blank one, and for one that was skipped.
    pub source: Option<Source>,
    /// Where it has too many tokens.
    pub too_long: Option<TooLong>,
}

impl Translator {
    /// Reads sentences; `before` came before these.
    pub(super) fn read(&self, sentences: &[&str], before: usize, search: &SearchConfig) -> Result<Vec<Reading>> {
        let of_model = self.members().filter_map(|model| model.most_positions()).min();
        let most = of_model.map_or(search.max_source, |positions| positions.min(search.max_source));
        let read = |(i, sentence): (usize, &&str)| {
            let text = self.run.config.text.normalize.apply(sentence);
            if normalize::is_blank(&text) {
                return Ok(Reading { source: None, too_long: None });
            }
            let mut encoded = self.run.source.encode(&text)?;
            let tokens = encoded.ids.len() + 1;
            let too_long = (tokens > most).then_some(TooLong { tokens, most });
            match (too_long, search.long) {
                (Some(_), Long::Refuse) => {
                    return Err(Error::Model(format!(
                        "sentence {}: {}",
                        before + i + 1,
                        self.refusal(tokens, search)
                    )));
                }
                (Some(_), Long::Skip) => return Ok(Reading { source: None, too_long }),
                (Some(_), Long::Cut) => {
                    encoded.ids.truncate(most - 1);
                    encoded.pieces.truncate(most - 1);
                    encoded.spans.truncate(most - 1);
                }
                (None, _) => {}
            }
            let ids: Vec<usize> = encoded.ids.iter().copied().chain([EOS]).collect();
            Ok(Reading { source: Some(Source { encoded, ids }), too_long })
        };
        sentences.iter().enumerate().map(read).collect()
    }

    /// Why so many tokens are too many.
    fn refusal(&self, tokens: usize, search: &SearchConfig) -> String {
        let of_model = self.members().find_map(|model| model.check_length(tokens).err());
        of_model.map_or_else(
            || {
                format!(
                    "{tokens} tokens, more than search.max_source = {0}: cut the line, raise the limit (--max-source \
                     {tokens}), or let longer lines be cut (--long cut) or left out (--long skip)",
                    search.max_source
                )
            },
            |why| why.to_string(),
        )
    }
}
