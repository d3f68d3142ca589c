//! The least edits that turn one sentence into another (Levenshtein 1966), near the diagonal only.

/// How far from the diagonal edits are looked for, in words of the reference.
const BEAM: usize = 25;

/// Cells that the beam leaves out.
const FAR: usize = usize::MAX / 2;

/// How a hypothesis becomes its reference, one word at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The word is right.
    Keep,
    /// Another word stands there.
    Substitute,
    /// A word of the hypothesis is too much.
    Delete,
    /// A word of the reference is missing.
    Insert,
}

/// Edits between a reference and hypotheses of one length, which differ in their order of words only. What the
/// last two hypotheses share at their start is not computed again.
pub(super) struct Edits<'a> {
    reference: &'a [usize],
    hypothesis: Vec<usize>,
    rows: Vec<Row>,
}

/// The least edits from so many words of the hypothesis to each number of words of the reference that is within the beam, and
/// the last of them.
#[derive(Clone, Debug, Default)]
struct Row {
    /// The first number of words.
    from: usize,
    cells: Vec<(usize, Edit)>,
}

impl Row {
    /// A cell; further from the diagonal nothing is found.
    fn at(&self, j: usize) -> (usize, Edit) {
        let cell = j.checked_sub(self.from).and_then(|place| self.cells.get(place));
        cell.copied().unwrap_or((FAR, Edit::Delete))
    }
}

impl<'a> Edits<'a> {
    pub(super) fn new(reference: &'a [usize]) -> Self {
        let first = Row { from: 0, cells: (0..=reference.len()).map(|j| (j, Edit::Insert)).collect() };
        Self { reference, hypothesis: Vec::new(), rows: vec![first] }
    }

    /// How many edits a hypothesis needs.
    pub(super) fn distance(&mut self, hypothesis: &[usize]) -> usize {
        let same = self.hypothesis.iter().zip(hypothesis).take_while(|(a, b)| a == b).count();
        // The beam is laid for a length, and wider in the last row.
        let same = if self.hypothesis.len() == hypothesis.len() { same } else { 0 };
        self.hypothesis.clear();
        self.hypothesis.extend_from_slice(hypothesis);
        self.rows.resize_with(hypothesis.len() + 1, Row::default);
        for i in same + 1..=hypothesis.len() {
            self.fill(i);
        }
        self.rows[hypothesis.len()].at(self.reference.len()).0
    }

    /// Computes a row from the one before it.
    fn fill(&mut self, i: usize) {
        let (from, to) = self.beam(i);
        let word = self.hypothesis[i - 1];
        let (done, rest) = self.rows.split_at_mut(i);
        let (above, row) = (&done[i - 1], &mut rest[0]);
        row.from = from;
        row.cells.clear();
        for j in from..to {
            row.cells.push(if j == 0 { (above.at(0).0 + 1, Edit::Delete) } else { (FAR, Edit::Delete) });
            if j == 0 {
                continue;
            }
            let is_same = word == self.reference[j - 1];
            let (cost, edit) = if is_same { (0, Edit::Keep) } else { (1, Edit::Substitute) };
            let mut best = (above.at(j - 1).0 + cost, edit);
            // Of equals the first counts. Tercom, which edits the reference, prefers insertion to deletion: ours
            // are the other way round.
            for other in [(above.at(j).0 + 1, Edit::Delete), (row.at(j - 1).0 + 1, Edit::Insert)] {
                if other.0 < best.0 {
                    best = other;
                }
            }
            if best.0 < FAR {
                row.cells[j - from] = best;
            }
        }
    }

    /// The part of a row that is near the diagonal, which is as steep as the lengths say.
    fn beam(&self, i: usize) -> (usize, usize) {
        let end = self.reference.len() + 1;
        let slope = self.reference.len() as f64 / self.hypothesis.len() as f64;
        // Steeper ones would leave rows without a cell in common.
        let steep = (slope / 2.0 + BEAM as f64).ceil() as usize;
        let width = if (BEAM as f64) < slope / 2.0 { steep } else { BEAM };
        let middle = (i as f64 * slope).floor() as usize;
        let to = if i == self.hypothesis.len() { end } else { end.min(middle + width) };
        (middle.saturating_sub(width), to)
    }

    /// The edits of the last hypothesis, from the first word to the last.
    pub(super) fn trace(&self) -> Vec<Edit> {
        let (mut i, mut j) = (self.hypothesis.len(), self.reference.len());
        let mut edits = Vec::with_capacity(i + j);
        while i > 0 || j > 0 {
            let edit = self.rows[i].at(j).1;
            if edit != Edit::Insert {
                i -= 1;
            }
            if edit != Edit::Delete {
                j -= 1;
            }
            edits.push(edit);
        }
        edits.reverse();
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_edits_are_found_and_ties_are_broken_as_by_tercom() {
        let mut edits = Edits::new(&[1, 2, 3]);
        assert_eq!(edits.distance(&[1, 2, 3]), 0);
        assert_eq!(edits.trace(), [Edit::Keep; 3]);
        assert_eq!(edits.distance(&[]), 3);
        assert_eq!(edits.trace(), [Edit::Insert; 3]);
        assert_eq!(edits.distance(&[1, 4]), 2);
        assert_eq!(edits.trace(), [Edit::Keep, Edit::Insert, Edit::Substitute]);
        assert_eq!(edits.distance(&[4, 1, 2, 3]), 1);
        assert_eq!(edits.trace(), [Edit::Delete, Edit::Keep, Edit::Keep, Edit::Keep]);
    }

    #[test]
    fn what_was_computed_before_changes_nothing() {
        let reference: Vec<usize> = (0..12).map(|i| i * i % 7).collect();
        let mut used = Edits::new(&reference);
        for seed in 1..200 {
            let hypothesis: Vec<usize> = (0..5 + seed % 3).map(|i| (i * seed + seed / 5) % 7).collect();
            let mut fresh = Edits::new(&reference);
            assert_eq!(used.distance(&hypothesis), fresh.distance(&hypothesis));
            assert_eq!(used.trace(), fresh.trace());
        }
    }

    /// Of long sentences only what is near the diagonal is kept.
    #[test]
    fn long_sentences_take_memory_by_the_beam() {
        let reference: Vec<usize> = (0..6000).collect();
        let mut hypothesis = reference.clone();
        hypothesis[3000] = 9999;
        let mut edits = Edits::new(&reference);
        assert_eq!(edits.distance(&hypothesis), 1);
        let cells: usize = edits.rows.iter().map(|row| row.cells.len()).sum();
        assert!(cells < 6001 * (2 * BEAM + 2), "{cells}");
        assert_eq!(edits.trace().iter().filter(|edit| **edit == Edit::Keep).count(), 5999);
    }

    /// 30 deleted and 30 inserted would do, but what would be kept is further from the diagonal than the beam.
    #[test]
    fn far_from_the_diagonal_nothing_is_found() {
        let reference: Vec<usize> = (0..100).collect();
        let hypothesis: Vec<usize> = (100..130).chain(0..70).collect();
        assert_eq!(Edits::new(&reference).distance(&hypothesis), 100);
        // Much longer than its hypothesis: the beam is wide enough for a way through.
        let reference: Vec<usize> = (0..500).collect();
        assert_eq!(Edits::new(&reference).distance(&[200, 390]), 498);
    }
}
