#!/usr/bin/env python3
"""BLEU of a run on a TSV test set, all references of a source sentence counted together.

Tatoeba holds many translations of one sentence as lines of their own; scored line by line, all but one of them are
called wrong. Sources with fewer references than the most have their first one repeated, which changes nothing.

    python3 scripts/grouped_bleu.py RUN TEST.tsv [--zhuyi target/debug/zhuyi] [--target-language zh]
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--zhuyi", type=Path, default=ROOT / "target" / "debug" / "zhuyi")
    parser.add_argument("--target-language", default="zh")
    args = parser.parse_args()
    groups = {}
    for line in args.test.read_text(encoding="utf-8").splitlines():
        source, target = line.split("\t")[:2]
        groups.setdefault(source, []).append(target)
    most = max(map(len, groups.values()))
    print(f"{len(groups)} sources, at most {most} references each")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "source").write_text("".join(f"{source}\n" for source in groups), encoding="utf-8")
        files = []
        for i in range(most):
            lines = [references[i] if i < len(references) else references[0] for references in groups.values()]
            files += ["--reference", folder / f"reference{i}"]
            (folder / f"reference{i}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        output = folder / "output"
        translate = ["translate", "--run", args.run, "--input", folder / "source", "--output", output]
        subprocess.run([args.zhuyi, *translate], check=True)
        evaluate = ["evaluate", "--hypothesis", output, *files, "--target-language", args.target_language]
        subprocess.run([args.zhuyi, *evaluate], check=True)


if __name__ == "__main__":
    main()
