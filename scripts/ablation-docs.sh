#!/usr/bin/env bash
# Copies what an ablation measured into docs/: its report without the sentences (real text is not ours to pass on), and the
# pictures that are left.
#   scripts/ablation-docs.sh ablation/multi30k-de-en multi30k
set -euo pipefail
cd "$(dirname "$0")/.."
from=$1
name=$2

for picture in length learning-loss learning-bleu sizes; do
    if [ -f "$from/report/figures/$picture.svg" ]; then
        cp "$from/report/figures/$picture.svg" "docs/ablation-$name-$picture.svg"
    fi
done
awk '/^## / { left_out = /^## Where they looked/ } !left_out' "$from/report.md" \
    | sed "s|(report/figures/|(ablation-$name-|" > "docs/ablation-$name.md"
