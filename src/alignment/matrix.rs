//! A soft alignment: how much each target token looked at each source token.

use serde::{Deserialize, Serialize};

use super::{Link, SentenceLinks};
use crate::text::words::Words;

/// Attention weights with the tokens they belong to.
///
/// Rows are target tokens, columns source tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Source tokens, one a column.
    pub source: Vec<String>,
    /// Target tokens, one a row.
    pub target: Vec<String>,
    /// `weights[target][source]`; of several heads the mean.
    pub weights: Vec<Vec<f32>>,
    /// `heads[head][target][source]`, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<Vec<Vec<f32>>>,
}

impl Alignment {
    /// From a model's pieces to words: what falls on the pieces of a source word is summed, what the
    /// pieces of a target word say is averaged. Rows and columns past the pieces (end-of-sentence) are
    /// left out; weights are not scaled up for it.
    pub fn at_words(weights: &[&[f32]], heads: &[Vec<&[f32]>], source: &Words, target: &Words) -> Self {
        Self {
            source: source.words.clone(),
            target: target.words.clone(),
            weights: merged(weights, source, target),
            heads: heads.iter().map(|head| merged(head, source, target)).collect(),
        }
    }

    /// One link for every target word: to the source word it looked at most (the first of equals).
    /// A row without any weight gives no link.
    pub fn links(&self) -> SentenceLinks {
        self.extracted(Extraction::Largest)
    }

    /// Its links.
    pub fn extracted(&self, extraction: Extraction) -> SentenceLinks {
        let rows = self.weights.iter().enumerate();
        match extraction {
            Extraction::Largest => rows.filter_map(|(t, row)| Some(Link::new(strongest(row)?, t))).collect(),
            Extraction::Above(least) => rows
                .flat_map(|(t, row)| {
                    let strong = row.iter().enumerate().filter(move |(_, weight)| **weight >= least);
                    strong.map(move |(s, _)| Link::new(s, t))
                })
                .collect(),
        }
    }
}

/// How weights become links.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extraction {
    /// The largest of each row.
    #[default]
    Largest,
    /// Every one that is at least so large.
    Above(f32),
}

/// Where the largest weight of a row is, if there is any.
fn strongest(row: &[f32]) -> Option<usize> {
    let best = row.iter().copied().enumerate().fold(None, |best, (s, weight)| match best {
        Some((_, most)) if weight <= most => best,
        _ if weight > 0.0 => Some((s, weight)),
        _ => best,
    });
    best.map(|(s, _)| s)
}

fn merged(weights: &[&[f32]], source: &Words, target: &Words) -> Vec<Vec<f32>> {
    let mut merged = vec![vec![0.0; source.words.len()]; target.words.len()];
    let mut pieces = vec![0.0f32; target.words.len()];
    for (row, &t) in weights.iter().zip(&target.word_of_piece) {
        pieces[t] += 1.0;
        for (&weight, &s) in row.iter().zip(&source.word_of_piece) {
            merged[t][s] += weight;
        }
    }
    for (row, pieces) in merged.iter_mut().zip(pieces) {
        row.iter_mut().for_each(|weight| *weight /= pieces);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn pieces_merge_by_sum_over_source_and_mean_over_target() {
        // Source ▁the ▁ca ts </s>, target ▁le ▁ch ats </s>.
        let weights: [&[f32]; 4] =
            [&[0.5, 0.25, 0.125, 0.125], &[0.25, 0.5, 0.25, 0.0], &[0.0, 0.25, 0.5, 0.25], &[0.0, 0.0, 0.0, 1.0]];
        let swapped = vec![weights[1], weights[0], weights[2], weights[3]];
        let merged = Alignment::at_words(
            &weights,
            &[weights.to_vec(), swapped],
            &Words::merged(&pieces("▁the ▁ca ts")),
            &Words::merged(&pieces("▁le ▁ch ats")),
        );
        assert_eq!(merged.source, ["the", "cats"]);
        assert_eq!(merged.target, ["le", "chats"]);
        assert_eq!(merged.weights, [vec![0.5, 0.375], vec![0.125, 0.75]]);
        assert_eq!(merged.heads, [merged.weights.clone(), vec![vec![0.25, 0.75], vec![0.25, 0.5625]]]);
        assert_eq!(merged.links().to_string(), "0-0 1-1");
    }

    #[test]
    fn ties_go_to_the_first_and_empty_rows_to_nobody() {
        let alignment = Alignment {
            source: pieces("a b"),
            target: pieces("x y z"),
            weights: vec![vec![0.5, 0.5], vec![0.0, 0.0], vec![0.1, 0.2]],
            heads: vec![],
        };
        assert_eq!(alignment.links().to_string(), "0-0 1-2");
        assert_eq!(alignment.extracted(Extraction::Above(0.2)).to_string(), "0-0 1-0 1-2");
        assert_eq!(alignment.extracted(Extraction::Above(0.6)).to_string(), "");
    }
}
