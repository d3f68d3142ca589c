//! What a server takes, so that no request can take all of it.

use std::time::Duration;

/// What a server takes. What is more is refused with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Characters of all texts of a request.
    pub characters: usize,
    /// Sentences of a request: lines of its texts, or pairs.
    pub sentences: usize,
    /// The widest beam, and the most translations of a sentence.
    pub beam: usize,
    /// The most tokens of a source; its translation may have four times as many.
    pub tokens: usize,
    /// Sentences that may wait, of all requests together.
    pub waiting: usize,
    /// Connections at a time.
    pub connections: usize,
    /// How long a request's head may take to come, its body, then its answer to be found, and each piece of it to be taken.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            characters: 50_000,
            sentences: 1_000,
            beam: 32,
            tokens: 512,
            waiting: 4_000,
            connections: 512,
            timeout: Duration::from_secs(60),
        }
    }
}
