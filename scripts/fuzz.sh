#!/usr/bin/env bash
# Fuzzes every parser that meets a stranger's bytes, one after the other: JSON bodies, run directories, TSV, Pharaoh links, configs.
# What breaks one is kept in tests/fuzz/corpus.
#   scripts/fuzz.sh [SECONDS]      for each; default: 600
set -euo pipefail
cd "$(dirname "$0")/.."
ZHUYI_FUZZ_SECONDS=${1:-600} RUST_BACKTRACE=0 exec cargo test --locked --test fuzz -- --nocapture --test-threads=1
