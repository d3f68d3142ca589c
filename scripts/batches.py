#!/usr/bin/env python3
"""Whether a file is translated alike whatever the batch: zhuyi translate with batches of 1, 16 and 64, line by line.

Prints how many lines differ from those of batch 1 and, of each, by how much the scores of its two best translations differ: where
that is nothing but rounding, the batch may decide which is told.

    python3 scripts/batches.py RUN SOURCE [--program zhuyi] [--beam 5] [--batches 1 16 64]
"""

import argparse
import json
import subprocess


def translated(arguments, batch):
    command = [arguments.program, "translate", "-q", "--run", arguments.run, "--input", arguments.source]
    command += ["--beam", str(arguments.beam), "--n-best", "2", "--batch", str(batch), "--format", "json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip("\n").split("\n")
    return [json.loads(line) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("source")
    parser.add_argument("--program", default="zhuyi")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16, 64])
    arguments = parser.parse_args()
    first, *others = arguments.batches
    alone = translated(arguments, first)
    for batch in others:
        differing, apart = 0, 0.0
        for number, (one, other) in enumerate(zip(alone, translated(arguments, batch), strict=True), 1):
            apart = max(apart, abs(one["score"] - other["score"]))
            if one["translation"] != other["translation"]:
                differing += 1
                best, second = [hypothesis["score"] for hypothesis in one["hypotheses"]][:2]
                print(f"  line {number}: the two best differ by {best - second:.2e}")
        print(f"batch {batch} against {first}: {differing} of {len(alone)} lines differ, scores by {apart:.1e} at most")


if __name__ == "__main__":
    main()
