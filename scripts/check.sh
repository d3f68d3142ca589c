#!/usr/bin/env bash
# What CI runs, cheapest first. No network: dependencies must be there (cargo fetch). The second build, with graphics and MPI,
# needs what .ci/run installs; ZHUYI_PLAIN=1 leaves it out.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --check
step cargo check --locked --no-default-features --lib
# A page without a server is a way that stays open.
step cargo check --locked --no-default-features --lib --target wasm32-unknown-unknown
step cargo clippy --locked --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --locked --no-deps --document-private-items
step cargo test --locked
if [ -z "${ZHUYI_PLAIN:-}" ]; then
    step cargo clippy --locked --all-targets --features wgpu,mpi -- -D warnings
    step cargo test --locked --features wgpu,mpi --test devices --test ranks
fi
