//! zhuyi (注意, "attention"): a translation system that shows where it looks.
//!
//! A GRU encoder reads a sentence, a decoder writes its translation, and a pluggable attention module decides
//! at every step where to look. This is the library; the program of the same name is made of it.
//!
//! # The idea that shapes everything
//!
//! Attention is three steps: **score** (how well does the query match each key), **normalise** (turn scores
//! into weights), **sum** (weights times values). They are written once, in [`attention`]'s `mod.rs`; every variant
//! of the literature changes the first step, where the decoder may look, or how weights are chosen. So there are four
//! small, independent choices, and any combination is a valid model:
//!
//! | choice | values | decides |
//! |---|---|---|
//! | [`attention::score`] | dot, scaled-dot, general, additive, concat, linear, location | how a query matches a key |
//! | [`attention::window`] | global, local-m, local-p | where the decoder may look |
//! | [`attention::choice`] | soft, hard, gumbel, sparsemax | how scores become weights |
//! | [`attention::heads`] | 1, 2, 4, 8, … | how many subspaces look at once |
//!
//! Beside them, [`attention::coverage`] lets keys know how much they have been looked at. One choice belongs to the
//! decoder instead: its [`model::Timing`], whether it looks before the recurrent step
//! (Bahdanau) or after it (Luong), with or without input feeding. `none` is the baseline: the same encoder and
//! decoder, and one fixed context vector for every step.
//!
//! # Map
//!
//! Imports go one way: each row may use only rows above it. A test reads the `use crate::` lines and holds this.
//!
//! | module | what lives there | must not know |
//! |---|---|---|
//! | [`error`], [`hash`], [`rng`], [`language`] | one error type; SHA-256; the seeded generator; text in two languages | everything else |
//! | [`text`] | normalisation, tokenizers, pieces and words | tensors |
//! | [`alignment`] | the weights matrix and what it looks like, links (Pharaoh) of one direction and both, error rate, lexicons, archives for NumPy | tensors, models |
//! | [`corpus`] | reading parallel text of any size, filtering, splitting, overlaps, vectors of words; the toy grammar, sequences to copy or reverse | tensors, models |
//! | [`metrics`] | BLEU, chrF, TER, exact match, by length, significance | tensors, models |
//! | [`plot`] | numbers in, picture out: SVG, PNG, terminal | models |
//! | [`mod@page`] | HTML that stands alone, light and dark | models |
//! | [`evaluation`] | every score of a test set, its worst sentences, rare words, another system beside it, and a report | tensors, models |
//! | [`init`] | first values of weights | words, files |
//! | [`kernels`] | fused operations with hand-written gradients, each beside its plain twin | models |
//! | [`attention`] | the three steps; score functions, windows, choices, heads, coverage, mask | words, files |
//! | [`search`] | beam search (greedy is a beam of one), sampling and forced scoring over a small `Stepper` trait, of one model or several | which model it drives |
//! | [`model`] | embedding, GRU, encoder, decoder, the whole; configs live beside their component | words, files |
//! | [`ranks`] | processes that work together, over MPI | models |
//! | [`train`] | the loop (readable in one sitting) and its state, data in its order, loss, optimizers, schedule, clipping, events | terminal, file names |
//! | [`config`] | puts the components' configs together; owns no knob of its own | |
//! | [`device`] | where tensors live, by name; what a device can take, and whether it computes rightly | models |
//! | [`prepare`] | config → checked, encoded data | |
//! | [`mod@bench`] | how fast this machine trains and translates | |
//! | [`parity`] | whether a device gives what the reference gives | |
//! | [`run`] | the run directory with its checkpoints; the only place that knows file names inside it | |
//! | [`translator`] | run directory → translations with alignment, step by step or as a tree where one looks inside | |
//! | [`lesson`] | the course: worked examples, computed with the attention of this library | terminal |
//! | [`ablation`] | what attention is worth: variants trained and judged alike, and a report | terminal |
//! | `server` (feature `server`) | over HTTP: a page to watch attention work, LibreTranslate's API and our own | terminal |
//! | `cli` (in the program) | one file a command; the only place that prints | |
//!
//! # Letters
//!
//! B sentences in a batch · S source positions · T target positions · E embedding · H decoder state · M memory
//! (encoder output) · K key size · C context · R readout · V target vocabulary · G = 3H gates · N rows without
//! padding (in [`attention`], where it is heads: see there). Every public tensor function states its shapes in these letters.
//!
//! # Exactness
//!
//! - A padded batch gives what single sentences give: states, weights, scores, gradients. Padding has weight
//!   exactly 0.
//! - Greedy is beam 1. Forced scoring of a beam's output returns its score and its alignment.
//! - First weights, the order of batches and the toy corpus come from our own generator ([`rng`]): the same on
//!   every device and in every version.
//! - A run that is stopped and resumed ends with the bytes of the run that was not.
//! - `cpu` (burn's flex) is the reference; every other device is compared with it.

pub mod ablation;
pub mod alignment;
pub mod attention;
pub mod bench;
pub mod config;
pub mod corpus;
pub mod device;
pub mod error;
pub mod evaluation;
pub mod hash;
pub mod init;
pub mod kernels;
pub mod language;
pub mod lesson;
pub mod metrics;
pub mod model;
pub mod page;
pub mod parity;
pub mod plot;
pub mod prepare;
pub mod ranks;
pub mod rng;
pub mod run;
pub mod search;
#[cfg(feature = "server")]
pub mod server;
pub mod text;
pub mod train;
pub mod translator;

pub use error::{Error, Result};
