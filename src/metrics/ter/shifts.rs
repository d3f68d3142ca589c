//! Moving a run of words to where the reference has it, at the price of one edit: which runs are tried, and where
//! to. The rules are Tercom's, in sacreBLEU's reading.

use super::edits::{Edit, Edits};

/// The longest run that is moved.
const LONGEST: usize = 10;
/// How far apart the two places of a run may be.
const FURTHEST: usize = 50;
/// How many moves are tried in a sentence.
const TRIES: usize = 1000;

/// The edits that a hypothesis needs, moves counted as one each (Snover et al. 2006, section 3): as long as a move
/// saves more than it costs, the best one is made.
pub(super) fn edits(hypothesis: &[usize], reference: &[usize]) -> usize {
    if reference.is_empty() {
        return hypothesis.len();
    }
    let mut table = Edits::new(reference);
    let mut words = hypothesis.to_vec();
    let (mut moves, mut tries) = (0, 0);
    loop {
        let best = best_move(&words, reference, &mut table, &mut tries);
        // Out of tries, sacreBLEU does not make the best move that it has seen either.
        let Some(moved) = best.filter(|_| tries < TRIES) else { break };
        words = moved;
        moves += 1;
    }
    moves + table.distance(&words)
}

/// A run of words that both sentences have.
#[derive(Clone, Copy)]
struct Run {
    hypothesis: usize,
    reference: usize,
    length: usize,
}

/// The words after the move that saves most, if any saves anything; of equals the longest run, then the earliest,
/// then the earliest target.
fn best_move(words: &[usize], reference: &[usize], table: &mut Edits, tries: &mut usize) -> Option<Vec<usize>> {
    let before = table.distance(words);
    let aligned = Aligned::new(&table.trace());
    let mut best = None;
    'runs: for from in 0..words.len() {
        for to in from.saturating_sub(FURTHEST)..reference.len().min(from + FURTHEST + 1) {
            for run in runs(words, reference, from, to).filter(|run| aligned.is_movable(run)) {
                for target in aligned.targets(&run) {
                    let moved = moved(words, from, run.length, target);
                    let after = table.distance(&moved);
                    *tries += 1;
                    // The largest wins; a move that makes things worse is never made, so below 0 all are equal.
                    let rank = (before.saturating_sub(after), run.length, usize::MAX - from, usize::MAX - target);
                    if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                        best = Some((rank, moved));
                    }
                }
                if *tries >= TRIES {
                    break 'runs;
                }
            }
        }
    }
    best.filter(|(rank, _)| rank.0 > 0).map(|(_, moved)| moved)
}

/// The runs from two places, the shortest first.
fn runs(words: &[usize], reference: &[usize], from: usize, to: usize) -> impl Iterator<Item = Run> {
    let same = words[from..].iter().zip(&reference[to..]).take(LONGEST).take_while(|(a, b)| a == b).count();
    (1..=same).map(move |length| Run { hypothesis: from, reference: to, length })
}

/// Which words of two sentences stand beside each other, and which are wrong.
struct Aligned {
    /// How many words of the hypothesis end no later than a word of the reference.
    after: Vec<usize>,
    wrong_in_hypothesis: Vec<bool>,
    wrong_in_reference: Vec<bool>,
}

impl Aligned {
    fn new(edits: &[Edit]) -> Self {
        let mut aligned =
            Self { after: Vec::new(), wrong_in_hypothesis: Vec::new(), wrong_in_reference: Vec::new() };
        for &edit in edits {
            let is_wrong = edit != Edit::Keep;
            if edit != Edit::Insert {
                aligned.wrong_in_hypothesis.push(is_wrong);
            }
            if edit != Edit::Delete {
                aligned.wrong_in_reference.push(is_wrong);
                aligned.after.push(aligned.wrong_in_hypothesis.len());
            }
        }
        aligned
    }

    /// Whether a run is wrong where it is, missing where it would go, and not moved onto itself.
    fn is_movable(&self, run: &Run) -> bool {
        let Run { hypothesis, reference, length } = *run;
        self.wrong_in_hypothesis[hypothesis..hypothesis + length].contains(&true)
            && self.wrong_in_reference[reference..reference + length].contains(&true)
            && !(hypothesis + 1..=hypothesis + length).contains(&self.after[reference])
    }

    /// Where a run may go: before the word of the hypothesis that follows the word before it in the reference, and
    /// likewise for each of its own words but the last. Places that come twice in a row are tried once.
    fn targets(&self, run: &Run) -> Vec<usize> {
        let before = run.reference.checked_sub(1).map_or(0, |place| self.after[place]);
        let own = &self.after[run.reference..run.reference + run.length];
        let mut targets: Vec<usize> = std::iter::once(before).chain(own.iter().copied()).collect();
        targets.dedup();
        targets
    }
}

/// Words with a run moved to before the word at `target`; a target inside the run moves it that many words on.
fn moved(words: &[usize], start: usize, length: usize, target: usize) -> Vec<usize> {
    let (end, all) = (start + length, words.len());
    let run = &words[start..end];
    if target < start {
        [&words[..target], run, &words[target..start], &words[end..]].concat()
    } else {
        let target = if target > end { target } else { (target + length).min(all) };
        [&words[..start], &words[end..target], run, &words[target..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_moved() {
        let words = [0, 1, 2, 3, 4, 5];
        assert_eq!(moved(&words, 3, 2, 1), [0, 3, 4, 1, 2, 5]);
        assert_eq!(moved(&words, 1, 2, 5), [0, 3, 4, 1, 2, 5]);
        assert_eq!(moved(&words, 1, 2, 6), [0, 3, 4, 5, 1, 2]);
        // Inside itself: on by as much.
        assert_eq!(moved(&words, 1, 2, 1), words);
        assert_eq!(moved(&words, 1, 2, 2), [0, 3, 1, 2, 4, 5]);
        assert_eq!(moved(&words, 3, 3, 5), words);
    }

    #[test]
    fn a_moved_run_is_one_edit() {
        let reference: Vec<usize> = (0..8).collect();
        assert_eq!(edits(&[3, 4, 5, 6, 7, 0, 1, 2], &reference), 1);
        assert_eq!(edits(&[2, 0, 1, 3, 4, 5, 7, 6], &reference), 2);
        // A move that saves one edit only costs as much as it saves: no move.
        assert_eq!(edits(&[1, 0], &[0, 1]), 1);
        assert_eq!(edits(&[], &reference), 8);
        assert_eq!(edits(&reference, &[]), 8);
    }

    /// The example of Snover et al. 2006, section 3: one move, two substitutions, one insertion.
    #[test]
    fn the_papers_example_needs_four_edits() {
        let (reference, hypothesis) = (
            "saudi arabia denied this week information published in the american new york times",
            "this week the saudis denied information published in the new york times",
        );
        let mut known: Vec<&str> = Vec::new();
        let mut ids = |text: &'static str| -> Vec<usize> {
            let mut id = |word| {
                known.iter().position(|&other| other == word).unwrap_or_else(|| {
                    known.push(word);
                    known.len() - 1
                })
            };
            text.split(' ').map(&mut id).collect()
        };
        let (reference, hypothesis) = (ids(reference), ids(hypothesis));
        assert_eq!((edits(&hypothesis, &reference), reference.len()), (4, 13));
    }
}
