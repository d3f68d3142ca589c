//! Given translations, reference forced.

use super::{Ends, Rendered, Source, Translator, View, blank};
use crate::alignment::{AlignmentErrorRate, Entropy, SentenceLinks};
use crate::corpus::Pair;
use crate::error::Result;
use crate::hash::sha256_of;
use crate::model::batched;
use crate::search::Forced;
use crate::text::words::Level;
use crate::text::{Encoded, normalize};

/// Pairs with what the model thinks of them and where it looks while it writes their targets; it can be told in several
/// views.
#[derive(Debug)]
pub struct Aligned<'a> {
    translator: &'a Translator,
    pairs: Vec<AlignedPair>,
}

#[derive(Debug)]
struct AlignedPair {
    /// Nothing for a blank source, which the model is not asked about.
    found: Option<(Source, Forced)>,
    target: Encoded,
    translation: String,
}

impl Translator {
    /// Scores given translations, reference forced, with where the model looks while writing them.
    ///
    /// # Errors
    /// As for [`Translator::translate`].
    pub fn align(&self, pairs: &[Pair]) -> Result<Aligned<'_>> {
        let sentences: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        let sources = self.sources(&sentences, 0)?;
        let targets = pairs
            .iter()
            .map(|pair| self.run.target.encode(normalize::without_breaks(&pair.target).trim()))
            .collect::<Result<Vec<_>>>()?;
        let chosen: Vec<(&Source, &Encoded)> =
            sources.iter().zip(&targets).filter_map(|(source, target)| Some((source.as_ref()?, target))).collect();
        let batch = self.run.config.search.batch;
        let ids = chosen.iter().map(|(source, target)| format!("{:?} {:?}", source.ids, target.ids));
        self.ranks.agree("pairs", || Ok(sha256_of(ids)))?;
        let scored = self.ranks.share(chosen.len(), |mine| {
            let sources: Vec<&[usize]> = mine.iter().map(|&i| chosen[i].0.ids.as_slice()).collect();
            let targets: Vec<&[usize]> = mine.iter().map(|&i| chosen[i].1.ids.as_slice()).collect();
            batched::score(&self.run.model, &self.laid, &sources, &targets, batch, &self.device)
        })?;
        let mut scored = scored.into_iter();
        let pairs = sources.into_iter().zip(targets).zip(pairs).map(|((source, target), pair)| AlignedPair {
            found: source.and_then(|source| Some((source, scored.next()?))),
            target,
            translation: pair.target.clone(),
        });
        Ok(Aligned { translator: self, pairs: pairs.collect() })
    }
}

impl Aligned<'_> {
    /// Each pair, told in a view.
    pub fn told(&self, view: View) -> Vec<Rendered> {
        let told = |pair: &AlignedPair| {
            let translation = pair.translation.clone();
            let Some((source, forced)) = &pair.found else {
                return Rendered { translation, ..blank(0).hypotheses.remove(0) };
            };
            let alignment = self.translator.alignment(source, &pair.target.pieces, &forced.attention, view);
            Rendered { alignment, translation, score: forced.log_prob(), cut: false }
        };
        self.pairs.iter().map(told).collect()
    }

    /// How well the links at words of each pair agree with its gold ones, and the best that one link for each target
    /// word can.
    pub fn error_rates(&self, gold: &[SentenceLinks]) -> Vec<[AlignmentErrorRate; 2]> {
        let counts = |(told, gold): (&Rendered, &SentenceLinks)| {
            let floor = AlignmentErrorRate::floor(gold, told.alignment.target.len());
            [AlignmentErrorRate::of(&told.alignment.links(), gold), floor]
        };
        self.told(View::WORDS).iter().zip(gold).map(counts).collect()
    }

    /// How sure attention is in each pair, over the pieces of the source and its end.
    pub fn entropies(&self) -> Vec<Entropy> {
        let whole = self.told(View { level: Level::Subword, ends: Ends::Shown });
        whole.iter().map(|rendered| Entropy::of(&rendered.alignment)).collect()
    }

    /// The log-probability of each target with its end, and how many tokens that are; blank sources have none.
    pub fn log_probs(&self) -> Vec<(f64, usize)> {
        let of = |(_, forced): &(Source, Forced)| (forced.log_prob(), forced.log_probs.len());
        self.pairs.iter().map(|pair| pair.found.as_ref().map_or((0.0, 0), of)).collect()
    }
}
