//! Tests across modules, in one binary so that they link once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod ablation;
mod aer;
mod asking;
mod attention_binary;
mod binary;
#[path = "../support/browser.rs"]
mod browser;
mod exactness;
mod fused_decoder;
#[path = "../support/gradients.rs"]
mod gradients;
mod hard;
mod house;
#[cfg(feature = "server")]
#[path = "../support/http.rs"]
mod http;
mod judging;
mod learning;
mod lessons;
mod metrics;
mod oracle_attention;
mod oracle_decoder;
mod oracle_gru;
#[cfg(feature = "server")]
mod page;
#[path = "../support/person.rs"]
mod person;
mod resume;
mod self_attention;
#[cfg(feature = "server")]
mod serving;
mod streaming;
mod support;
mod tokenizers;
mod trainers;
#[path = "../support/variants.rs"]
mod variants;
