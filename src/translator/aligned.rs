//! Given translations, reference forced.

use super::source::Source;
use super::{Ends, Rendered, StepOf, TooLong, Translator, View, blank};
use crate::alignment::{AlignmentErrorRate, Entropy, SentenceLinks};
use crate::corpus::Pair;
use crate::error::Result;
use crate::hash::sha256_of;
use crate::search::{Forced, Long, SearchConfig};
use crate::text::words::Level;
use crate::text::{Encoded, normalize};

/// Pairs with what the model thinks of them and where it looks while it writes their targets; it can be told in several
/// views.
#[derive(Debug)]
pub struct Aligned<'a> {
    translator: &'a Translator,
    pairs: Vec<AlignedPair>,
}

/// How well the links of a head agree with gold ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The head, from 0; nothing for the mean of all.
    pub head: Option<usize>,
    /// Which step's look was a word's.
    pub step: StepOf,
    /// The counts.
    pub rate: AlignmentErrorRate,
}

#[derive(Debug)]
struct AlignedPair {
    /// Nothing for a blank source, which the model is not asked about, and for one that is too long.
    found: Option<(Source, Forced)>,
    target: Encoded,
    translation: String,
    too_long: Option<TooLong>,
}

impl Translator {
    /// Scores given translations, reference forced, with where the model looks while writing them; `before` came before these.
    /// A source that is too long is left out, unless `search` refuses it.
    ///
    /// # Errors
    /// As for [`Translator::translate`].
    pub fn align(&self, pairs: &[Pair], search: &SearchConfig, before: usize) -> Result<Aligned<'_>> {
        let sentences: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        // Links of half a sentence would be taken for those of all of it.
        let long = if search.long == Long::Refuse { Long::Refuse } else { Long::Skip };
        let read = self.read(&sentences, before, &SearchConfig { long, ..search.clone() })?;
        let (sources, too_long): (Vec<Option<Source>>, Vec<Option<TooLong>>) =
            read.into_iter().map(|reading| (reading.source, reading.too_long)).unzip();
        let targets = pairs
            .iter()
            .map(|pair| self.run.target.encode(normalize::without_breaks(&pair.target).trim()))
            .collect::<Result<Vec<_>>>()?;
        let chosen: Vec<(&Source, &Encoded)> =
            sources.iter().zip(&targets).filter_map(|(source, target)| Some((source.as_ref()?, target))).collect();
        let batch = search.batch;
        let ids = chosen.iter().map(|(source, target)| format!("{:?} {:?}", source.ids, target.ids));
        self.ranks.agree("pairs", || Ok(sha256_of(ids)))?;
        let scored = self.ranks.share(chosen.len(), |mine| {
            let sources: Vec<&[usize]> = mine.iter().map(|&i| chosen[i].0.ids.as_slice()).collect();
            let targets: Vec<&[usize]> = mine.iter().map(|&i| chosen[i].1.ids.as_slice()).collect();
            self.models().score(&sources, &targets, batch)
        })?;
        let mut scored = scored.into_iter();
        let pair = |(((source, target), too_long), pair): (((Option<Source>, Encoded), _), &Pair)| AlignedPair {
            found: source.and_then(|source| Some((source, scored.next()?))),
            target,
            translation: pair.target.clone(),
            too_long,
        };
        let pairs = sources.into_iter().zip(targets).zip(too_long).zip(pairs).map(pair).collect();
        Ok(Aligned { translator: self, pairs })
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
            Rendered { alignment, translation, score: forced.log_prob(), cut: false, copied: Vec::new() }
        };
        self.pairs.iter().map(told).collect()
    }

    /// Of each pair, where its source was too long and it was left out.
    pub fn too_long(&self) -> impl Iterator<Item = Option<TooLong>> {
        self.pairs.iter().map(|pair| pair.too_long)
    }

    /// How well the links at words of each pair agree with its gold ones, and the best that one link for each target
    /// word can; nothing is counted of pairs that were left out.
    pub fn error_rates(&self, gold: &[SentenceLinks]) -> Vec<[AlignmentErrorRate; 2]> {
        let counts = |(told, gold): (&Rendered, &SentenceLinks)| {
            AlignmentErrorRate::beside_floor(&told.alignment.links(), gold, told.alignment.target.len())
        };
        let told = self.told(View::WORDS);
        let each = told.iter().zip(gold).zip(self.too_long());
        each.map(|(pair, too_long)| too_long.map_or_else(|| counts(pair), |_| Default::default())).collect()
    }

    /// How well the links of each head (from 0), and of their mean, agree with the gold ones, by the look of the step that
    /// writes a word and by that of the next; nothing is counted of pairs that were left out.
    pub fn by_head(&self, gold: &[SentenceLinks]) -> Vec<Judged> {
        let heads = self.translator.heads();
        let each = (heads > 1).then_some(0..heads).into_iter().flatten().map(Some);
        let judge = |(head, step)| {
            let told = self.told(View { head, step, ..View::WORDS });
            let counts = told.iter().zip(gold).zip(self.too_long()).filter(|(_, too_long)| too_long.is_none());
            let rate = counts.map(|((told, gold), _)| AlignmentErrorRate::of(&told.alignment.links(), gold)).sum();
            Judged { head, step, rate }
        };
        let views = std::iter::once(None).chain(each).flat_map(|head| StepOf::ALL.map(|step| (head, step)));
        views.map(judge).collect()
    }

    /// How sure attention is in each pair, over the pieces of the source and its end.
    pub fn entropies(&self) -> Vec<Entropy> {
        let whole = self.told(View { level: Level::Subword, ends: Ends::Shown, ..View::default() });
        whole.iter().map(|rendered| Entropy::of(&rendered.alignment)).collect()
    }

    /// The log-probability of each target with its end, and how many tokens that are; blank sources have none.
    pub fn log_probs(&self) -> Vec<(f64, usize)> {
        let of = |(_, forced): &(Source, Forced)| (forced.log_prob(), forced.log_probs.len());
        self.pairs.iter().map(|pair| pair.found.as_ref().map_or((0.0, 0), of)).collect()
    }
}
