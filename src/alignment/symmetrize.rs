//! Links of both directions made one: Koehn, Och & Marcu 2003, "Statistical phrase-based translation", section 4, as Koehn et
//! al. 2005, "Edinburgh system description for the 2005 IWSLT speech translation evaluation", writes it down.

use std::collections::BTreeSet;

use super::{Link, SentenceLinks};

/// How links of two directions become one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// Links that both have.
    Intersection,
    /// Links that either has.
    Union,
    /// From the intersection to neighbours, also across corners, that the union has.
    GrowDiag,
    /// … then links of either direction that have a word without a link.
    GrowDiagFinal,
    /// … then links of either direction that have no word with a link.
    GrowDiagFinalAnd,
}

/// When a link may be added while growing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grow {
    /// One of its words, or both, has no link yet: Koehn's.
    #[default]
    Either,
    /// Neither of its words has one: that of alignment-scripts (Zenkel et al. 2019).
    Both,
}

/// The eight neighbours, those beside a link before those across a corner.
const NEIGHBOURS: [(isize, isize); 8] = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];

impl Symmetry {
    /// Every one.
    pub const ALL: [Self; 5] =
        [Self::Intersection, Self::Union, Self::GrowDiag, Self::GrowDiagFinal, Self::GrowDiagFinalAnd];

    /// Its usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Intersection => "intersection",
            Self::Union => "union",
            Self::GrowDiag => "grow-diag",
            Self::GrowDiagFinal => "grow-diag-final",
            Self::GrowDiagFinalAnd => "grow-diag-final-and",
        }
    }

    /// The links of `forward` and `backward`, both source–target.
    pub fn apply(self, forward: &SentenceLinks, backward: &SentenceLinks, grow: Grow) -> SentenceLinks {
        let union = || forward.iter().chain(backward.iter()).collect::<BTreeSet<Link>>();
        let mut links = Aligned::default();
        forward.iter().filter(|link| backward.contains(*link)).for_each(|link| links.add(link));
        let last = match self {
            Self::Intersection => return links.told(),
            Self::Union => return union().into_iter().collect(),
            Self::GrowDiag => None,
            Self::GrowDiagFinal => Some(Grow::Either),
            Self::GrowDiagFinalAnd => Some(Grow::Both),
        };
        links.grow(&union(), grow);
        if let Some(when) = last {
            for direction in [forward, backward] {
                direction.iter().for_each(|link| links.add_where(link, when));
            }
        }
        links.told()
    }
}

/// Links so far, and the words that have any.
#[derive(Default)]
struct Aligned {
    links: BTreeSet<Link>,
    sources: BTreeSet<usize>,
    targets: BTreeSet<usize>,
}

impl Aligned {
    fn add(&mut self, link: Link) {
        self.links.insert(link);
        self.sources.insert(link.source);
        self.targets.insert(link.target);
    }

    fn add_where(&mut self, link: Link, when: Grow) {
        let free = [!self.sources.contains(&link.source), !self.targets.contains(&link.target)];
        let may = match when {
            Grow::Either => free[0] || free[1],
            Grow::Both => free[0] && free[1],
        };
        if may {
            self.add(link);
        }
    }

    /// Adds neighbours of links, in the order of source and target, and of what was added, until there is none to add.
    fn grow(&mut self, union: &BTreeSet<Link>, when: Grow) {
        loop {
            let before = self.links.len();
            // Links that are added further on are met in the same pass, as in the paper's loops over all pairs of words.
            let mut at = self.links.first().copied();
            while let Some(link) = at {
                for (down, right) in NEIGHBOURS {
                    let source = link.source.checked_add_signed(down);
                    let neighbour = source.zip(link.target.checked_add_signed(right));
                    let neighbour = neighbour.map(|(source, target)| Link::new(source, target));
                    if let Some(neighbour) = neighbour.filter(|neighbour| union.contains(neighbour)) {
                        self.add_where(neighbour, when);
                    }
                }
                let after = (std::ops::Bound::Excluded(link), std::ops::Bound::Unbounded);
                at = self.links.range(after).next().copied();
            }
            if self.links.len() == before {
                return;
            }
        }
    }

    fn told(self) -> SentenceLinks {
        self.links.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(forward: &str, backward: &str, grow: Grow) -> Vec<String> {
        let parse = |links| SentenceLinks::parse(links, 0).unwrap();
        let (forward, backward) = (parse(forward), parse(backward));
        Symmetry::ALL.iter().map(|symmetry| symmetry.apply(&forward, &backward, grow).to_string()).collect()
    }

    /// By hand. Both have 0-0. 1-0 is beside it and its source is free: Koehn's rule adds it, the other does not, for 0 of the
    /// target is taken. 3-3 touches nothing: only the last step adds it, both of whose words are free. 3-1 comes then: its
    /// target is free, its source no longer.
    #[test]
    fn growth_by_hand() {
        let (forward, backward) = ("0-0 1-0 3-3", "0-0 3-1");
        assert_eq!(
            all(forward, backward, Grow::Either),
            ["0-0", "0-0 1-0 3-1 3-3", "0-0 1-0", "0-0 1-0 3-1 3-3", "0-0 1-0 3-3"]
        );
        assert_eq!(
            all(forward, backward, Grow::Both),
            ["0-0", "0-0 1-0 3-1 3-3", "0-0", "0-0 1-0 3-1 3-3", "0-0 3-3"]
        );
    }

    /// Growth goes on from what was added, across corners, also backward.
    #[test]
    fn growth_goes_on_from_what_was_added() {
        let (forward, backward) = ("2-2 1-1 3-3", "2-2 0-0");
        for grow in [Grow::Either, Grow::Both] {
            assert_eq!(all(forward, backward, grow)[2], "0-0 1-1 2-2 3-3");
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(all("", "", Grow::Either), [""; 5]);
        // Without an intersection there is nothing to grow from.
        assert_eq!(all("0-0", "1-1", Grow::Either), ["", "0-0 1-1", "", "0-0 1-1", "0-0 1-1"]);
    }
}
