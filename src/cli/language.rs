//! Which language people read.

use clap::ValueEnum;

use zhuyi::language::Language;

/// [`Language`] for clap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LanguageArg {
    /// English
    En,
    /// Chinese
    Zh,
}

impl LanguageArg {
    /// What was chosen.
    pub fn language(self) -> Language {
        match self {
            Self::En => Language::English,
            Self::Zh => Language::Chinese,
        }
    }
}
