//! The tree of a beam search, as people look at it.

use serde::Serialize;

use super::Translator;
use crate::error::{Error, Result};
use crate::model::ModelStepper;
use crate::model::batched::FORBIDDEN;
use crate::search::{Fate, Request, SearchConfig, Task, beam_tree, tree};
use crate::text::EOS;

/// All that a beam search of one sentence took up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tree {
    /// The source's pieces, and its end.
    pub source: Vec<String>,
    /// Every token that was taken up; parents stand before their children.
    pub nodes: Vec<Node>,
    /// The translations, best first.
    pub found: Vec<Grown>,
}

/// A token that was taken up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The place of what it goes on from; nothing at the beginning.
    pub parent: Option<usize>,
    /// Its id.
    pub token: usize,
    /// Its piece.
    pub piece: String,
    /// The sum of the log-probabilities from the beginning to here.
    pub log_prob: f64,
    /// What became of it.
    pub fate: Fate,
}

/// A translation that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grown {
    /// The text.
    pub translation: String,
    /// The sum of the log-probabilities.
    pub log_prob: f64,
    /// What it was ranked by.
    pub score: f64,
    /// The place of its last token, its end if it has one; nothing where it is empty.
    pub node: Option<usize>,
}

impl Translator {
    /// Translates a sentence by beam search, everything that was taken up told.
    ///
    /// # Errors
    /// Several models; a source that is too long.
    pub fn tree(&self, sentence: &str, search: &SearchConfig) -> Result<Tree> {
        if !self.others.is_empty() {
            return Err(Error::Usage("several models have no tree of their own: ask one".into()));
        }
        let mut read = self.read(&[sentence], 0, search)?;
        let Some(source) = read.swap_remove(0).source else { return Ok(Tree::default()) };
        let model = &self.run.model;
        model.check_ids(&source.ids, &[])?;
        let words = source.ids.len() - 1;
        let tasks = [Task::of(words, search.limit(words))];
        let request = Request { config: search, n_best: search.beam, forbidden: &FORBIDDEN, tasks: &tasks };
        let mut stepper = ModelStepper::new(model, &self.device);
        let state = stepper.start(&[&source.ids]);
        let (branches, found) = beam_tree(&mut stepper, state, &request);
        let grown = |found: &crate::search::Hypothesis| {
            let end = (!found.cut).then_some(EOS);
            let tokens: Vec<usize> = found.tokens.iter().copied().chain(end).collect();
            Ok(Grown {
                translation: self.run.target.decode(&found.tokens)?,
                log_prob: found.log_prob,
                score: found.score,
                node: tree::place(&branches, &tokens),
            })
        };
        let found = found.iter().map(grown).collect::<Result<_>>()?;
        let pieces = source.encoded.pieces.iter().map(String::as_str).chain([self.run.source.piece(EOS)]);
        let source = pieces.map(str::to_owned).collect();
        let node = |branch: crate::search::Branch| Node {
            parent: branch.parent,
            token: branch.token,
            piece: self.run.target.piece(branch.token).to_owned(),
            log_prob: branch.log_prob,
            fate: branch.fate,
        };
        Ok(Tree { source, nodes: branches.into_iter().map(node).collect(), found })
    }
}
