//! What every variant is judged on.

use super::Measure;
use crate::alignment::SentenceLinks;
use crate::config::Config;
use crate::corpus::Pair;
use crate::corpus::read::Gold;
use crate::error::{Error, Result};
use crate::hash::sha256_hex;
use crate::metrics::by_length::{self, Bin};
use crate::metrics::{BleuConfig, Tokenization};

/// Source words of the sentences whose alignments are shown.
pub(super) const SHOWN: [usize; 3] = [8, 16, 32];

/// What every variant is judged on.
#[derive(Clone, Debug)]
pub struct TestSet {
    /// The pairs, in the direction of the runs.
    pub pairs: Vec<Pair>,
    /// Gold links of each pair, if there are any.
    pub gold: Option<Vec<SentenceLinks>>,
    /// The pairs by the length of their source.
    pub bins: Vec<Bin>,
    /// The sentences whose alignments are shown: for each of a few lengths the first one that is nearest to it.
    pub shown: Vec<usize>,
    /// By which score variants are compared.
    pub measure: Measure,
    /// How BLEU is computed.
    pub bleu: BleuConfig,
    /// A digest of all the data, training and dev too.
    pub digest: String,
}

impl TestSet {
    /// Reads the test data of a config.
    ///
    /// # Errors
    /// Data that can't be read, or no test data.
    pub fn read(config: &Config) -> Result<Self> {
        let data = &config.data;
        let missing = || {
            let message = "an ablation needs sentences to judge on that no choice was made by: set data.test";
            Error::Config(message.into())
        };
        let location = data.test.as_ref().ok_or_else(missing)?;
        // Only what the program writes itself is known to have links in its third column.
        let gold = if location.is_made() { Gold::ThirdColumn { base: 0 } } else { Gold::Ignored };
        let pairs = data.read(location, gold)?;
        if pairs.is_empty() {
            return Err(Error::Config(format!("data.test = {location}: no pair is in it")));
        }
        let [train, dev] = [data.read(&data.train, Gold::Ignored)?, data.read(&data.dev, Gold::Ignored)?];
        let targets: Vec<String> = pairs.iter().map(|pair| pair.target.clone()).collect();
        let tokenization = Tokenization::choose(Some(data.direction().1), &targets);
        let lengths = by_length::lengths(&pairs.iter().map(|pair| pair.source.as_str()).collect::<Vec<_>>());
        let sequences = matches!(location.collection(), Some("copy:" | "reverse:"));
        Ok(Self {
            gold: pairs.iter().map(|pair| pair.links.clone()).collect(),
            bins: by_length::even(&lengths),
            shown: shown(&lengths),
            measure: if sequences { Measure::TokenAccuracy } else { Measure::Bleu },
            bleu: BleuConfig { tokenization, ..BleuConfig::default() },
            digest: digest([&train, &dev, &pairs]),
            pairs,
        })
    }

    /// The source sides.
    pub fn sources(&self) -> Vec<&str> {
        self.pairs.iter().map(|pair| pair.source.as_str()).collect()
    }

    /// The target sides.
    pub fn references(&self) -> Vec<&str> {
        self.pairs.iter().map(|pair| pair.target.as_str()).collect()
    }
}

/// The sentences to show.
fn shown(lengths: &[usize]) -> Vec<usize> {
    let nearest = |wanted: usize| (0..lengths.len()).min_by_key(|&i| lengths[i].abs_diff(wanted));
    let mut shown: Vec<usize> = SHOWN.into_iter().filter_map(nearest).collect();
    shown.dedup();
    shown
}

fn digest(parts: [&[Pair]; 3]) -> String {
    let mut all = String::new();
    for part in parts {
        all += &format!("{} pairs\n", part.len());
        for pair in part {
            let links = pair.links.as_ref().map(SentenceLinks::to_string).unwrap_or_default();
            all += &format!("{}\t{}\t{links}\n", pair.source, pair.target);
        }
    }
    sha256_hex(all.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_shown_by_their_length_alone() {
        assert_eq!(shown(&[9, 3, 8, 8, 40, 17, 30]), [2, 5, 6]);
        assert_eq!(shown(&[5, 5]), [0]);
        assert!(shown(&[]).is_empty());
    }

    #[test]
    fn the_digest_depends_on_every_part() {
        let pair = |source: &str| Pair { source: source.into(), ..Pair::default() };
        let [a, b, both] = [vec![pair("a")], vec![pair("b")], vec![pair("a"), pair("b")]];
        assert_ne!(digest([&a, &a, &b]), digest([&b, &a, &a]));
        assert_ne!(digest([&a, &b, &a]), digest([&both, &[], &a]), "a pair that moves to another part");
    }
}
