//! What attention is made of: four independent choices, any of which goes with any other, and coverage.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::choice::{Choice, ChoiceKind};
use super::coverage::Coverage;
use super::heads::Projections;
use super::score::{Score, ScoreKind, dot};
use super::window::{Window, WindowKind};
use super::{Attention, Sizes};
use crate::error::{Error, Result};
use crate::init::Draw;

/// What attention is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttentionConfig {
    /// How a query matches a key; `none` is the single fixed context vector, whatever the other keys say.
    pub score: ScoreKind,
    /// Where it may look.
    pub window: WindowKind,
    /// How scores become weights.
    pub choice: ChoiceKind,
    /// How many subspaces look at once; they share `size`.
    pub heads: usize,
    /// Whether keys know how much they have been looked at.
    pub coverage: bool,
    /// K, the size in which queries and keys are compared (additive, concat, scaled-dot, several heads), and that
    /// of the layer which predicts a position (local-p).
    pub size: usize,
    /// D, how many positions a window reaches to each side.
    pub window_size: usize,
    /// Whether the rows of local-p are scaled up to a sum of 1. Luong's are not: an option of ours.
    pub window_renormalized: bool,
    /// τ of gumbel: the smaller, the nearer its gradient is to that of the choice, and the noisier.
    pub temperature: f64,
    /// The longest source that `location` can point into, in tokens with the end of the sentence.
    pub max_positions: usize,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self {
            score: ScoreKind::General,
            window: WindowKind::Global,
            choice: ChoiceKind::Soft,
            heads: 1,
            coverage: false,
            size: 128,
            window_size: 10,
            window_renormalized: false,
            temperature: 1.0,
            max_positions: 128,
        }
    }
}

impl AttentionConfig {
    /// Refuses what can't be meant or connected.
    ///
    /// # Errors
    /// Names the keys and what to change.
    pub fn check(&self, sizes: Sizes) -> Result<()> {
        let positive = [
            ("size", self.size),
            ("heads", self.heads),
            ("window_size", self.window_size),
            ("max_positions", self.max_positions),
        ];
        if let Some((key, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(Error::Config(format!("attention.{key} must be at least 1")));
        }
        if !(1e-3..=1e3).contains(&self.temperature) {
            let message = format!("attention.temperature is {}; it must be 0.001 to 1000", self.temperature);
            return Err(Error::Config(message));
        }
        if self.score == ScoreKind::None {
            return Ok(());
        }
        if !self.size.is_multiple_of(self.heads) {
            let fitting = self.size.div_ceil(self.heads).saturating_mul(self.heads);
            return Err(Error::Config(format!(
                "attention.size = {} can't be split into attention.heads = {}: make it {fitting}, or take another number",
                self.size, self.heads
            )));
        }
        match self.score {
            ScoreKind::Location if self.coverage => Err(Error::Config(
                "attention.coverage joins the keys, and attention.score = \"location\" never sees them: take another \
                 score, or leave coverage out"
                    .into(),
            )),
            ScoreKind::Dot if self.heads == 1 => dot::Dot::check(sizes),
            _ => Ok(()),
        }
    }

    /// Attention with fresh weights. What [`AttentionConfig::check`] refuses must not come here.
    pub fn init(&self, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Attention {
        let projections = self.projected().then(|| Projections::init(self, sizes, draw, device));
        // What is compared: all of it, or a head's part of the projections.
        let (size, sizes) = match &projections {
            Some(projections) => (projections.head_size(), projections.inside()),
            None => (self.size, sizes),
        };
        let inside = Self { size, ..self.clone() };
        let score = Score::init(&inside, sizes, draw, device);
        let attends = score.is_some();
        Attention {
            window: Window::init(
                &inside,
                if attends { self.window } else { WindowKind::Global },
                sizes,
                draw,
                device,
            ),
            coverage: score
                .as_ref()
                .filter(|_| self.coverage)
                .map(|score| Coverage::init(score.key_size(sizes), draw, device)),
            score,
            projections,
            choice: Choice::new(self.choice, self.temperature),
        }
    }

    /// The longest source that it can look at, in tokens with the end of the sentence; nothing if there is no limit.
    pub fn reach(&self) -> Option<usize> {
        (self.score == ScoreKind::Location).then_some(self.max_positions)
    }

    /// What it is made of, in few words: the score function, and whatever else is not plain.
    pub fn told(&self) -> String {
        let mut told = self.score.name().to_owned();
        if self.score == ScoreKind::None {
            return told;
        }
        if self.heads > 1 {
            told += &format!(" × {}", self.heads);
        }
        let (plain_window, plain_choice) = (WindowKind::default(), ChoiceKind::default());
        let window = (self.window != plain_window).then(|| self.window.name());
        let choice = (self.choice != plain_choice).then(|| self.choice.name());
        let coverage = self.coverage.then_some("coverage");
        for part in [window, choice, coverage].into_iter().flatten() {
            told += &format!(" + {part}");
        }
        told
    }

    /// The same as part of a file name.
    pub fn slug(&self) -> String {
        self.told().replace(" × ", "-x").replace(" + ", "-")
    }

    /// Whether queries, keys and values are projected before they are compared: that is what several heads are, and
    /// what Vaswani's single one is.
    fn projected(&self) -> bool {
        self.score != ScoreKind::None && (self.heads > 1 || self.score == ScoreKind::ScaledDot)
    }
}
