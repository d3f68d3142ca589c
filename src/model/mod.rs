//! The translation model: embedding, GRU encoder, decoder with attention. Configs live beside their
//! component; [`Seq2Seq`] puts them together.
//!
//! Letters: B sentences, S source and T target positions, E embedding, H decoder state, M memory,
//! C context, R readout, V target vocabulary.

pub mod arithmetic;
pub mod batched;
pub mod decoder;
pub mod embedding;
pub mod encoder;
pub mod fastest;
pub mod gru;
pub mod host;
pub mod names;
pub mod seq2seq;
pub mod stepper;

pub use decoder::{Decoder, DecoderConfig, DecoderState, Timing};
pub use embedding::EmbeddingConfig;
pub use encoder::{Encoder, EncoderConfig};
pub use gru::Gru;
pub use seq2seq::{ModelConfig, Regularization, Seq2Seq, SourceBatch, TargetBatch, Vocabularies};
pub use stepper::ModelStepper;
