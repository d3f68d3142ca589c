//! The score functions: one file each, one line each in the list below. The list is also the command
//! line's help, the config's values and what the tests loop over.

pub mod additive;
pub mod concat;
pub mod dot;
pub mod general;
pub mod linear;
pub mod location;
pub mod scaled_dot;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{AttentionConfig, Sizes};
use crate::init::Draw;
use crate::kernels::attentive::Matching;

macro_rules! score_functions {
    ($($variant:ident = $name:literal, $module:ident::$type:ident, $about:literal;)*) => {
        /// How a query is matched with a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ScoreKind {
            /// No attention: one fixed context vector for every step.
            None,
            $(#[doc = $about] $variant,)*
        }

        impl ScoreKind {
            /// Every score function; `none` is not one.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in configs and on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::None => "none",
                    $(Self::$variant => $name,)*
                }
            }

            /// What it computes, in one line.
            pub fn about(self) -> &'static str {
                match self {
                    Self::None => "one fixed context vector for every step",
                    $(Self::$variant => $about,)*
                }
            }
        }

        /// A score function with its weights.
        #[derive(Module, Debug)]
        pub enum Score {
            $(#[doc = $about] $variant($module::$type),)*
        }

        impl Score {
            /// The score function that the config names, with fresh weights.
            pub fn init(
                config: &AttentionConfig,
                sizes: Sizes,
                draw: &mut Draw<'_>,
                device: &Device,
            ) -> Option<Self> {
                Some(match config.score {
                    ScoreKind::None => return None,
                    $(ScoreKind::$variant => Self::$variant($module::$type::init(config, sizes, draw, device)),)*
                })
            }

            /// What queries are compared with, computed once a sentence: `[B, S, M]` → `[B, S, K]`.
            pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
                match self {
                    $(Self::$variant(score) => score.keys(memory),)*
                }
            }

            /// The size of a key.
            pub fn key_size(&self, sizes: Sizes) -> usize {
                match self {
                    $(Self::$variant(score) => score.key_size(sizes),)*
                }
            }

            /// What a comparison of these sizes costs.
            pub fn work(&self, sizes: Sizes) -> Work {
                match self {
                    $(Self::$variant(score) => score.work(sizes),)*
                }
            }

            /// How kernels do it with queries of a size, if they can.
            pub fn kernel(&self, query: usize) -> Option<Kernel> {
                match self {
                    $(Self::$variant(score) => score.kernel(query),)*
                }
            }

            /// How well each query matches each key: `[B, T, H]` and `[B, S, K]` → `[B, T, S]`.
            pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
                match self {
                    $(Self::$variant(score) => score.scores(query, keys),)*
                }
            }
        }
    };
}

score_functions! {
    Dot = "dot", dot::Dot, "q·k (Luong 2015)";
    ScaledDot = "scaled-dot", scaled_dot::ScaledDot, "q·k / √K of projections W_q q, W_k k, with values W_v h (Vaswani 2017)";
    General = "general", general::General, "q·W k (Luong 2015)";
    Additive = "additive", additive::Additive, "v·tanh(W q + U k) (Bahdanau 2015)";
    Concat = "concat", concat::Concat, "v·tanh(W[q; k]) (Luong 2015)";
    Linear = "linear", linear::Linear, "w·[q; k]: a control, can't choose by query";
    Location = "location", location::Location, "W q over positions: never sees the content (Luong 2015)";
}

/// What a score function costs, in multiply-adds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// For each key, once a sentence.
    pub key: usize,
    /// For each query.
    pub query: usize,
    /// For each pair.
    pub pair: usize,
}

/// A score function as kernels do it: the query is projected (or not), then matched with the key.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// How they are matched.
    pub matching: Matching,
    /// What the query is projected by, `[H, K]`.
    pub query: Option<Tensor<2>>,
    /// v, `[K]`, of additive scores.
    pub energy: Option<Tensor<1>>,
}

impl Kernel {
    /// A product of the query as it is.
    pub fn product(scale: f32) -> Self {
        Self { matching: Matching::Product { scale }, query: None, energy: None }
    }

    /// An additive score.
    pub fn additive(query: Tensor<2>, energy: Tensor<1>) -> Self {
        Self { matching: Matching::Additive, query: Some(query), energy: Some(energy) }
    }
}

impl std::fmt::Display for ScoreKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_everywhere() {
        for &kind in ScoreKind::ALL.iter().chain([&ScoreKind::None]) {
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("{:?}", kind.name()));
        }
    }
}
