//! SHA-256 in hexadecimal, by which a run knows its own files again.

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of texts, each on a line of its own, in lower-case hexadecimal.
pub fn sha256_of(lines: impl IntoIterator<Item = String>) -> String {
    let mut digest = Sha256::new();
    for line in lines {
        digest.update(line);
        digest.update("\n");
    }
    hex(&digest.finalize())
}

/// Bytes in lower-case hexadecimal.
pub fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
