#!/usr/bin/env bash
# Shows that memory does not grow with the corpus: 100,000 and 10 million pairs of tatoeba-fra-eng (docs/data.md), repeated
# and packed; a whole epoch of reading, filtering, cutting, mixing and batching, then 500 updates. Takes some minutes and
# 2 GB of room in TMPDIR. The file is sorted by length: the last column says how well batches are mixed all the same.
set -euo pipefail
: "${ZHUYI_DATA:?point it at the folder with the data (docs/data.md)}"
zhuyi="${ZHUYI:-target/debug/zhuyi}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
train="$ZHUYI_DATA/tatoeba-fra-eng/train.tsv.gz"

zcat "$train" | awk 'NR <= 100000' | gzip -1 > "$folder/small.tsv.gz"
# Each line as often as makes ten million, so that the whole stays sorted.
zcat "$train" | awk 'NR <= 100000 { for (i = 0; i < 100; i++) print }' | gzip -1 > "$folder/large.tsv.gz"
for size in small large; do
    "$zhuyi" bench --config own --epoch --steps 500 --sentences 0 --format json \
        --set data.train="$folder/$size.tsv.gz" --set data.dev="$ZHUYI_DATA/tatoeba-fra-eng/dev.tsv" \
        --set data.buffer=100000 --set data.filter.max_ratio=9 > "$folder/$size.json"
done
python3 - "$folder" << 'END'
import json, sys
told = [json.load(open(f"{sys.argv[1]}/{size}.json")) for size in ("small", "large")]
for one in told:
    epoch, train = one["epoch"], one["train"]
    print(f"{epoch['pairs']:>9} pairs: prepared in {epoch['prepare_seconds']:.0f} s, an epoch of {epoch['batches']} batches "
          f"read in {epoch['seconds']:.0f} s, order correlation {epoch['order_correlation']:.4f}; after {train['steps']} "
          f"updates at most {train['peak_rss_mib']:.0f} MiB")
print(f"memory x {told[1]['train']['peak_rss_mib'] / told[0]['train']['peak_rss_mib']:.3f}")
END
