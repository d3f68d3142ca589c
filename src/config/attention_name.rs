//! What `--attention` can name.

use crate::attention::{ChoiceKind, ScoreKind, WindowKind};
use crate::model::Timing;

/// What `--attention` can name: every score function, `none`, every window and choice that is not the plain one,
/// several heads, coverage, and the presets of two papers. What a name does not say, is as the config says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttentionName {
    /// A score function (or none).
    Score(ScoreKind),
    /// Several heads, with the scaled dot product that they were made for.
    MultiHead,
    /// A window.
    Window(WindowKind),
    /// A choice.
    Choice(ChoiceKind),
    /// Coverage, with the additive score that it was made for.
    Coverage,
    /// Bahdanau 2015: additive, before the step.
    Bahdanau,
    /// Luong 2015: general, after the step, no input feeding.
    Luong,
}

impl AttentionName {
    /// Every name, in the order of the help.
    pub fn all() -> impl Iterator<Item = Self> {
        let scores = [ScoreKind::None].into_iter().chain(ScoreKind::ALL.iter().copied()).map(Self::Score);
        let windows = WindowKind::ALL.into_iter().filter(|&window| window != WindowKind::default());
        let choices = ChoiceKind::ALL.into_iter().filter(|&choice| choice != ChoiceKind::default());
        scores.chain([Self::MultiHead]).chain(windows.map(Self::Window)).chain(choices.map(Self::Choice)).chain([
            Self::Coverage,
            Self::Bahdanau,
            Self::Luong,
        ])
    }

    /// The name as typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score(kind) => kind.name(),
            Self::MultiHead => "multi-head",
            Self::Window(kind) => kind.name(),
            Self::Choice(kind) => kind.name(),
            Self::Coverage => "coverage",
            Self::Bahdanau => "bahdanau",
            Self::Luong => "luong",
        }
    }

    /// What it means, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Score(kind) => kind.about(),
            Self::MultiHead => "scaled-dot with 8 heads (Vaswani 2017)",
            Self::Window(kind) => kind.about(),
            Self::Choice(kind) => kind.about(),
            Self::Coverage => "additive, keys know how much they have been looked at (See 2017)",
            Self::Bahdanau => "preset: additive, timing before, all else plain (Bahdanau 2015)",
            Self::Luong => "preset: general, timing after, all else plain (Luong 2015)",
        }
    }

    /// The settings it stands for.
    pub fn settings(self) -> Vec<String> {
        let setting = |key: &str, value: &str| format!("{key}={value}");
        let timing = |timing| match timing {
            Timing::Before => setting("decoder.timing", "before"),
            Timing::After => setting("decoder.timing", "after"),
        };
        let score = |kind: ScoreKind| setting("attention.score", kind.name());
        // A preset is a whole model: whatever else a config says about attention, it says otherwise.
        let plain = || {
            vec![
                setting("attention.window", WindowKind::default().name()),
                setting("attention.choice", ChoiceKind::default().name()),
                setting("attention.heads", "1"),
                setting("attention.coverage", "false"),
                setting("decoder.input_feeding", "false"),
            ]
        };
        match self {
            // Nothing is looked at that a penalty could count.
            Self::Score(ScoreKind::None) => vec![score(ScoreKind::None), setting("search.coverage_penalty", "0")],
            Self::Score(kind) => vec![score(kind)],
            Self::MultiHead => vec![score(ScoreKind::ScaledDot), setting("attention.heads", "8")],
            Self::Window(kind) => vec![setting("attention.window", kind.name())],
            Self::Choice(kind) => vec![setting("attention.choice", kind.name())],
            Self::Coverage => vec![score(ScoreKind::Additive), setting("attention.coverage", "true")],
            Self::Bahdanau => [vec![score(ScoreKind::Additive), timing(Timing::Before)], plain()].concat(),
            Self::Luong => [vec![score(ScoreKind::General), timing(Timing::After)], plain()].concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, TOY};

    fn named(name: AttentionName, settings: &[&str]) -> Config {
        let mut all: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        all.extend(name.settings());
        Config::parse("toy.toml".as_ref(), TOY, &all).unwrap()
    }

    /// Presets are whole, other names change what they name.
    #[test]
    fn names_set_what_they_say() {
        let odd = ["attention.heads=4", "attention.choice=hard", "decoder.input_feeding=true"];
        for (name, score, timing) in [
            (AttentionName::Bahdanau, ScoreKind::Additive, Timing::Before),
            (AttentionName::Luong, ScoreKind::General, Timing::After),
        ] {
            let config = named(name, &odd);
            let attention = &config.attention;
            assert_eq!(
                (attention.score, config.decoder.timing, config.decoder.input_feeding),
                (score, timing, false)
            );
            assert_eq!((attention.heads, attention.choice), (1, ChoiceKind::Soft));
        }
        let config = named(AttentionName::Window(WindowKind::LocalP), &odd);
        assert_eq!((config.attention.heads, config.attention.window), (4, WindowKind::LocalP));
        assert_eq!(
            named(AttentionName::Score(ScoreKind::None), &["search.coverage_penalty=1"]).search.coverage_penalty,
            0.0
        );
    }
}
