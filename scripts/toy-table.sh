#!/usr/bin/env bash
# Trains every attention on the toy corpus, one seed each, and prints the table of the README; the same numbers go to
# data/lesson/toy.json, which is part of the program (lesson `evolution`). Needs python3 for its JSON.
#   scripts/toy-table.sh [ZHUYI] [FOLDER]      default: target/debug/zhuyi runs/table
set -euo pipefail
cd "$(dirname "$0")/.."
zhuyi=${1:-target/debug/zhuyi}
runs=${2:-runs/table}
names=(none additive general dot scaled-dot concat linear location bahdanau luong
    multi-head local-m local-p hard gumbel sparsemax coverage)

measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
echo '| `--attention` | parameters | exact match | BLEU | alignment error rate | entropy (nats) | target tokens/s |'
echo '|---|---|---|---|---|---|---|'
for name in "${names[@]}"; do
    train=$("$zhuyi" train --quiet --attention "$name" --run "$runs/$name" --format json)
    score=$("$zhuyi" evaluate --run "$runs/$name" --format json)
    python3 - "$name" "$train" "$score" "$measured" <<'PYTHON'
import json, sys
name, train, score = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
alignment = score.get("alignment", {})
row = {
    "attention": name,
    "parameters": train["parameters"],
    "exact_match": score["exact_match"],
    "bleu": score["bleu"]["score"],
    "aer": alignment.get("aer"),
    "entropy": alignment.get("entropy"),
    "tokens_per_second": train["summary"]["tokens_per_second"],
}
with open(sys.argv[4], "a") as file:
    file.write(json.dumps(row) + "\n")
told = lambda x: "–" if x is None else f"{x:.3f}"
print(f"| `{name}` | {row['parameters']:,} | {100 * row['exact_match']:.1f} % | {row['bleu']:.2f} "
      f"| {told(row['aer'])} | {told(row['entropy'])} | {row['tokens_per_second']:,.0f} |", flush=True)
PYTHON
done
python3 -c 'import json, sys; print("[\n" + ",\n".join(line.strip() for line in open(sys.argv[1])) + "\n]")' \
    "$measured" > data/lesson/toy.json
