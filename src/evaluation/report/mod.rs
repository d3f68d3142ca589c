//! An evaluation written down: as Markdown, or as a page that stands alone.

mod html;
mod markdown;
mod tables;

use super::Evaluation;

pub use html::page;
pub use markdown::markdown;
pub use tables::range;

/// What a report says beside the figures.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// What was evaluated, in a line.
    pub title: String,
    /// The command that made it, so that somebody else can.
    pub command: String,
}

/// What a part of a report is.
enum Part {
    /// A heading, what it says, and a table.
    Table(&'static str, String, Vec<Vec<String>>),
    /// A heading over what follows.
    Heading(&'static str),
    /// One of the worst sentences, by its place among them.
    Sentence(usize),
}

/// The parts of a report, in order.
fn parts(evaluation: &Evaluation) -> Vec<Part> {
    let told = format!("Of {} sentences.", evaluation.scores.sentences);
    let mut parts = vec![Part::Table("Scores", told, tables::scores(evaluation))];
    if let Some(against) = &evaluation.against {
        let told = format!(
            "The paired bootstrap draws {} test sets of the same size from the sentences (seed {}), and tells the mean of each system ± \
             half of what 95 in 100 of them lie between. Paired approximate randomisation exchanges the systems' sentences by coins, {} \
             times. p is how likely so large a difference is where there is none.",
            against.samples, against.seed, against.trials
        );
        parts.push(Part::Table("Beside the other system", told, tables::against(against)));
    }
    if !evaluation.by_length.is_empty() {
        let told = "BLEU of the sentences with so many source words.".to_owned();
        parts.push(Part::Table("By the length of the source", told, tables::by_length(&evaluation.by_length)));
    }
    if !evaluation.rare_words.is_empty() {
        let told = "How many words of the references are written, and how many that are written stand there, by how often a word occurs \
                    in the training data."
            .to_owned();
        parts.push(Part::Table("Rare words", told, tables::rare_words(&evaluation.rare_words)));
    }
    if !evaluation.worst.is_empty() {
        parts.push(Part::Heading("The worst sentences"));
        parts.extend((0..evaluation.worst.len()).map(Part::Sentence));
    }
    parts
}
