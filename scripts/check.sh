#!/usr/bin/env bash
# What CI runs, cheapest first. No network: dependencies must be there (cargo fetch).
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --check
step cargo check --locked --no-default-features --lib
step cargo clippy --locked --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --locked --no-deps --document-private-items
step cargo test --locked
