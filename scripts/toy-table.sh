#!/usr/bin/env bash
# Trains every attention on the toy corpus and prints the table of the README. Needs python3 for its JSON.
#   scripts/toy-table.sh [ZHUYI] [FOLDER]      default: target/debug/zhuyi runs/table
set -euo pipefail
cd "$(dirname "$0")/.."
zhuyi=${1:-target/debug/zhuyi}
runs=${2:-runs/table}

echo '| `--attention` | parameters | training | exact match | BLEU | alignment error rate |'
echo '|---|---|---|---|---|---|'
for name in bahdanau luong additive general dot scaled-dot concat linear location none; do
    train=$("$zhuyi" train --quiet --attention "$name" --run "$runs/$name" --format json)
    score=$("$zhuyi" evaluate --run "$runs/$name" --format json)
    python3 - "$name" "$train" "$score" <<'PYTHON'
import json, sys
name, train, score = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
aer = f"{score['alignment']['aer']:.3f}" if "alignment" in score else "–"
print(f"| `{name}` | {train['parameters']:,} | {train['summary']['seconds']:.0f} s | {100 * score['exact_match']:.1f} % "
      f"| {score['bleu']['score']:.2f} | {aer} |")
PYTHON
done
