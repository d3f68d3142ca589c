#!/usr/bin/env python3
"""zhuyi beside plain PyTorch and JoeyNMT on this machine: the same data, sizes, batches and (but for JoeyNMT's
training) weights, alternating runs, medians, as ratios.

    python3 scripts/compare.py --data DIR [--only NAME]... [--rounds 5] [--out FILE.json]

DIR holds multi30k/ (docs/data.md). A virtual environment with the other systems is made under --work on the first
run; nothing is installed elsewhere. Names: luong, bahdanau (training beside PyTorch), feeding (training beside
JoeyNMT), greedy, beam5 (translating beside JoeyNMT), int8 (translating beside our own 32 bits).
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# JoeyNMT imports importlib_metadata without asking for it.
PACKAGES = ["torch==2.11.0", "numpy", "safetensors", "joeynmt==2.3.0", "importlib_metadata"]
# The sizes of the comparison: E 256, encoder 2 × 256, decoder 512, no dropout, no smoothing.
SIZES = [
    "decoder.hidden=512", "decoder.tied=false", "attention.size=512", "model.dropout=0",
    "train.label_smoothing=0", "train.batch_sentences=64",
]
LUONG = [*SIZES, "attention.score=general", "decoder.timing=after"]
BAHDANAU = [*SIZES, "attention.score=additive", "decoder.timing=before"]
# JoeyNMT's decoder.
FEEDING = [*SIZES, "attention.score=additive", "decoder.timing=after", "decoder.input_feeding=true"]
WARM_UP = 3
# At 64 sentences a batch, all of Multi30k.
EPOCH = 454
# Losses of the same updates in another system's arithmetic.
LOSSES_MAY_DIFFER = 1e-2
JOEYNMT_BATCHES = [64, 256]


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Comparison:
    def __init__(self, args):
        self.args = args
        self.work = args.work
        threads = str(args.threads)
        self.environment = os.environ | {"ZHUYI_DATA": str(args.data.resolve()), "RAYON_NUM_THREADS": threads}
        self.python = self.work / "venv" / "bin" / "python"
        if not self.python.exists():
            print("making a virtual environment for the other systems", file=sys.stderr)
            run([sys.executable, "-m", "venv", self.work / "venv"])
            run([self.python, "-m", "pip", "install", "-q", *PACKAGES])

    def zhuyi(self, command, settings, *more):
        config = ROOT / "configs" / "multi30k-de-en.toml"
        sets = [part for setting in settings for part in ("--set", setting)]
        return run([self.args.zhuyi, command, "--config", config, *sets, *more], env=self.environment)

    def export(self, name, settings, *more):
        path = self.work / name
        shutil.rmtree(path, ignore_errors=True)
        self.zhuyi("bench", settings, "--export", path, *more)
        return path

    def bench(self, settings, *more):
        return json.loads(self.zhuyi("bench", settings, "--format", "json", *more))

    def training(self, name, settings):
        """Alternating runs of the same first updates, beside PyTorch."""
        steps = self.args.steps
        export = self.export(name, settings, "--steps", WARM_UP + steps)
        ours, theirs = [], []
        for _ in range(self.args.rounds):
            theirs.append(json.loads(run([self.python, ROOT / "scripts" / "pytorch_twin.py", export, "--threads", self.args.threads])))
            ours.append(self.bench(settings, "--steps", steps, "--sentences", 0))
        apart = max(abs(a - b) for a, b in zip(ours[0]["train"]["losses"], theirs[0]["losses"], strict=True))
        if apart > LOSSES_MAY_DIFFER:
            sys.exit(f"{name}: not the same model, losses are {apart} apart")
        speed = [one["train"]["target_tokens_per_second"] for one in ours]
        answer = ratios(speed, [one["target_tokens_per_second"] for one in theirs])
        memory = statistics.median(one["train"]["peak_rss_mib"] for one in ours)
        their_memory = statistics.median(one["peak_rss_mib"] for one in theirs)
        product = statistics.median(one["product_gflops"] for one in ours)
        answer |= {
            "losses_apart": apart,
            "product_ratio": product / statistics.median(one["product_gflops"] for one in theirs),
            "arithmetic_utilisation": statistics.median(one["train"]["arithmetic_utilisation"] for one in ours),
            "peak_rss_mib": memory,
            "their_peak_rss_mib": their_memory,
            "memory_ratio": memory / their_memory,
        }
        return answer

    def feeding(self):
        """Training beside JoeyNMT, which makes its own batches of the same sentences."""
        export = self.export("feeding", FEEDING, "--steps", EPOCH)
        ours, theirs = [], []
        for _ in range(self.args.rounds):
            theirs.append(self.joeynmt("train", export, "--updates", 40)["target_tokens_per_second"])
            bench = self.bench(FEEDING, "--steps", self.args.steps, "--sentences", 0)
            ours.append(bench["train"]["target_tokens_per_second"])
        return ratios(ours, theirs)

    def joeynmt(self, mode, export, *more):
        twin = [self.python, ROOT / "scripts" / "joeynmt_twin.py", mode, export, self.work / "joeynmt"]
        return json.loads(run([*twin, "--threads", self.args.threads, *more]))

    def translation_settings(self):
        test = [f"${{ZHUYI_DATA}}/multi30k/test_2016_flickr.{side}" for side in ("de", "en")]
        # JoeyNMT's length penalty (joeynmt_twin.py).
        return [*FEEDING, f"data.dev={json.dumps(test)}", "search.length_penalty=gnmt:1"]

    def model(self):
        """A trained model of JoeyNMT's kind; trained once and kept."""
        model = self.work / "model"
        if not (model / "model.safetensors").exists():
            print("training a model to translate with (one epoch)", file=sys.stderr)
            shutil.rmtree(model, ignore_errors=True)
            self.zhuyi("train", [*FEEDING, "train.max_epochs=1"], "--run", model, "--quiet")
        return model

    def translation(self, beam):
        """The same trained model in both systems."""
        model = self.model()
        settings = self.translation_settings()
        export = self.export("translation", settings, "--steps", 1, "--run", model)
        key = "greedy_sentences_per_second" if beam == 1 else "beam5_sentences_per_second"

        def theirs_with(batch):
            return self.joeynmt("translate", export, "--beam", beam, "--batch", batch)["sentences_per_second"]

        tried = {batch: theirs_with(batch) for batch in JOEYNMT_BATCHES}
        best = max(tried, key=tried.get)
        ours, theirs = [], []
        for _ in range(self.args.rounds):
            theirs.append(theirs_with(best))
            ours.append(self.bench(settings, "--steps", 0, "--run", model)["translate"][key])
        return ratios(ours, theirs) | {"their_batch": best, "their_batches": tried}

    def int8(self):
        """Our own 8 bits beside our own 32, with a beam of 5 and greedily."""
        model = self.model()
        key, greedy = "beam5_sentences_per_second", "greedy_sentences_per_second"
        found = {"int8": [], "f32": []}
        for _ in range(self.args.rounds):
            for precision, speeds in found.items():
                settings = [*self.translation_settings(), f"search.precision={precision}"]
                speeds.append(self.bench(settings, "--steps", 0, "--run", model)["translate"])
        each = {name: [[speed[way] for speed in speeds] for way in (key, greedy)] for name, speeds in found.items()}
        answer = ratios(each["int8"][0], each["f32"][0])
        return answer | {"greedy_ratio": ratios(each["int8"][1], each["f32"][1])["ratio"]}

    def all(self):
        return {
            "luong": lambda: self.training("luong", LUONG),
            "bahdanau": lambda: self.training("bahdanau", BAHDANAU),
            "feeding": self.feeding,
            "greedy": lambda: self.translation(1),
            "beam5": lambda: self.translation(5),
            "int8": self.int8,
        }


def ratios(ours, theirs):
    return {
        "ratio": statistics.median(ours) / statistics.median(theirs),
        "ours": statistics.median(ours),
        "theirs": statistics.median(theirs),
        "all_ours": ours,
        "all_theirs": theirs,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--zhuyi", type=Path, default=ROOT / "target" / "debug" / "zhuyi")
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "compare")
    parser.add_argument("--only", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(args)
    answers = {}
    for name, measure in comparison.all().items():
        if args.only and name not in args.only:
            continue
        answers[name] = answer = measure()
        extra = [f"{key} {value:.3g}" for key, value in answer.items() if isinstance(value, float) and key != "ratio"]
        print(f"{name}: {answer['ratio']:.2f}× ({', '.join(extra)})", flush=True)
        if args.out:
            args.out.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
