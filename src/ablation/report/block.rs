//! What a report is made of, whatever it is written as.

use super::marked::Marked;

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph; what stands between backticks is code.
    Say(String),
    /// A table, its first row the head, its first column names.
    Table(Vec<Vec<String>>),
    /// Pictures beside each other.
    Figures(Vec<Figure>),
    /// Texts under each other with what is wrong in them marked, each with its name.
    Wrote(Vec<(String, Vec<Marked>)>),
    /// Lines to type.
    Code(Vec<String>),
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of its file, without what it ends in.
    pub name: String,
    /// It.
    pub svg: String,
    /// What it shows.
    pub caption: String,
}

impl Figure {
    /// The file of a form.
    pub fn file(&self, form: &str) -> String {
        format!("{}.{form}", self.name)
    }
}

impl Block {
    /// Its pictures.
    pub fn figures(&self) -> &[Figure] {
        match self {
            Self::Figures(figures) => figures,
            _ => &[],
        }
    }
}
