#!/usr/bin/env python3
"""Draws what `zhuyi bench --scaling` measures: the cost of a look by source length, of the output by vocabulary.

    python3 scripts/scaling.py [--zhuyi target/debug/zhuyi] [--out docs/scaling.svg]

Needs matplotlib (scripts/compare.py's virtual environment has it).
"""

import argparse
import json
import subprocess
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zhuyi", type=Path, default=ROOT / "target" / "debug" / "zhuyi")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "scaling.svg")
    args = parser.parse_args()
    told = subprocess.run([args.zhuyi, "bench", "--scaling"], capture_output=True, text=True, check=True).stdout
    found = json.loads(told)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    sources = [point["source"] for point in found["attention"]]
    for name, label in (("additive_us", "additive"), ("product_us", "product")):
        left.plot(sources, [point[name] for point in found["attention"]], marker="o", label=label)
    left.set(xlabel="source tokens", ylabel="µs a look (K = C = 512)", title="Attention: one query, one source")
    sizes = [point["vocabulary"] for point in found["vocabulary"]]
    right.plot(sizes, [point["us"] for point in found["vocabulary"]], marker="o", label="output, loss, gradients")
    right.plot(sizes, [point["products_us"] for point in found["vocabulary"]], "--", label="its products alone")
    right.set(xlabel="vocabulary", ylabel="µs a target token (R = 512)", title="Output in training")
    for axes in (left, right):
        axes.set(xlim=0, ylim=0)
        axes.legend()
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(args.out, metadata={"Date": None})
    for point in found["attention"]:
        each = {name: point[name] / point["source"] for name in ("product_us", "additive_us")}
        print(f"{point['source']:4} tokens: " + ", ".join(f"{name[:-3]} {us:.3f} µs a token" for name, us in each.items()))
    for point in found["vocabulary"]:
        print(f"V {point['vocabulary']:5}: {point['us']:.1f} µs, {point['us'] / point['products_us']:.2f} of its products")


if __name__ == "__main__":
    main()
