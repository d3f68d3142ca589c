#!/usr/bin/env bash
# Trains the small run that is part of the program, for lessons: data/lesson/run.
#   scripts/lesson-model.sh [ZHUYI]      default: target/debug/zhuyi
set -euo pipefail
cd "$(dirname "$0")/.."
zhuyi=${1:-target/debug/zhuyi}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

"$zhuyi" train --quiet --attention multi-head --run "$made/run" \
    --set embedding.size=32 --set encoder.hidden=32 --set decoder.hidden=64 --set attention.size=64 \
    --set model.dropout=0.2 --set train.max_epochs=40
"$zhuyi" evaluate --run "$made/run"
# The log says when and how fast: not part of the program.
rm "$made/run/log.jsonl"
rm -rf data/lesson/run
mkdir -p data/lesson
mv "$made/run" data/lesson/run
