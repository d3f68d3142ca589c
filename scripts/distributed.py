#!/usr/bin/env python3
"""Measures training with two processes against one, and what adding up gradients costs; prints the tables of
docs/distributed.md and what they predict for more machines. Needs mpirun, a build with --features mpi, and for the limited
rates root and tc's token bucket (sch_tbf).

    scripts/distributed.py [--zhuyi target/debug/zhuyi] [--config configs/multi30k-de-en.toml] [--steps 30] [--rounds 3]
"""

import argparse
import json
import os
import statistics
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--zhuyi", default="target/debug/zhuyi")
parser.add_argument("--config", action="append", help="default: toy and, with $ZHUYI_DATA, Multi30k")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
configs = options.config or ["toy"] + (["configs/multi30k-de-en.toml"] if os.environ.get("ZHUYI_DATA") else [])

MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
# Through the loopback device, as between machines; without this two processes of a machine share memory.
TCP = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]
RATES = ["10gbit", "1gbit"]


def run(command, threads=None):
    environment = dict(os.environ, OMPI_MCA_btl_vader_single_copy_mechanism="none")
    if threads:
        environment["RAYON_NUM_THREADS"] = str(threads)
    output = subprocess.run(command, env=environment, capture_output=True, text=True)
    if output.returncode:
        raise SystemExit(f"{' '.join(command)}\n{output.stderr}")
    return json.loads(output.stdout.strip().splitlines()[-1])


def limited(rate, work):
    """Does work while the loopback device passes no more than a rate."""
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], capture_output=True)
    if rate is None:
        return work()
    subprocess.run(
        ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms"], check=True
    )
    try:
        return work()
    finally:
        subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], check=True)


def exchanged(config, more, rate, processes):
    command = MPI + more + ["-np", str(processes), options.zhuyi, "bench", "-q", "--exchange", "--config", config]
    return limited(rate, lambda: run(command, 1))


def trained(config, processes, threads, rate="memory"):
    """The `train` part of zhuyi bench."""
    launch = [] if processes == 1 else MPI + ([] if rate == "memory" else TCP) + ["-np", str(processes)]
    command = launch + [options.zhuyi, "bench", "-q", "--config", config, "--sentences", "0", "--format", "json"]
    command += ["--steps", str(options.steps)]
    return limited(None if rate in ("memory", "loopback") else rate, lambda: run(command, threads))["train"]


def milliseconds(seconds):
    return f"{1e3 * seconds:.1f}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"


def bits(rate):
    return float(rate.removesuffix("gbit")) * 1e9


print("### Adding up gradients until all processes have the sums, median of 20, in milliseconds\n")
print("| model | tensors | MB | processes | way | MB sent a process | in one piece | tensor by tensor | a number, twice | network alone |")
print("|---|---|---|---|---|---|---|---|---|---|")
ways = [("shared memory", [], None), ("TCP over loopback", TCP, None)]
ways += [(f"TCP over loopback, {rate}", TCP, rate) for rate in RATES]
costs = {}
for config in configs:
    name = os.path.basename(config).removesuffix(".toml")
    for processes in (2, 4):
        for way, more, rate in ways:
            found = exchanged(config, more, rate, processes)
            costs[config, processes, way] = found
            sent = 2 * (processes - 1) / processes * found["bytes"]
            columns = [name, found["tensors"], f"{found['bytes'] / 1e6:.2f}", processes, way, f"{sent / 1e6:.2f}"]
            columns += [milliseconds(found[key]) for key in ("fused_seconds", "by_tensor_seconds")]
            columns.append(f"{1e3 * found['number_seconds']:.2f}")
            # All of them send through the one loopback device.
            columns.append(milliseconds(8 * processes * sent / bits(rate)) if rate else "–")
            print("| " + " | ".join(map(str, columns)) + " |", flush=True)

print(f"\n### Training, target tokens a second, {options.rounds} rounds in turn\n")
print("| model | processes × threads | way | target tokens/s | median | ms a step | of it adding up and waiting |")
print("|---|---|---|---|---|---|---|")
setups = [(1, 1, "memory"), (1, 2, "memory"), (2, 1, "memory"), (2, 1, "loopback")] + [(2, 1, rate) for rate in RATES]
medians = {}
for config in configs:
    name = os.path.basename(config).removesuffix(".toml")
    rounds = {setup: [] for setup in setups}
    for _ in range(options.rounds):
        for setup in setups:
            rounds[setup].append(trained(config, *setup))
    for (processes, threads, way), found in rounds.items():
        rates = [train["target_tokens_per_second"] for train in found]
        middle = sorted(found, key=lambda train: train["target_tokens_per_second"])[len(found) // 2]
        medians[config, processes, threads, way] = middle
        exchange = middle.get("exchange")
        told = {"memory": "shared memory", "loopback": "TCP over loopback"}.get(way, f"TCP over loopback, {way}")
        columns = [name, f"{processes} × {threads}", told if processes > 1 else "–", ", ".join(f"{rate:,.0f}" for rate in rates)]
        columns += [f"{statistics.median(rates):,.0f}", milliseconds(middle["seconds_a_step"])]
        print("| " + " | ".join(columns + [milliseconds(exchange["seconds_a_step"]) if exchange else "–"]) + " |", flush=True)

print("\n### Predicted: machines of two cores like this one, each with the batch of the config, 10 Gb/s, 50 µs from one to the next\n")
print("| model | machines | ms a step | of it adding up | times as fast as one | of what so many could be |")
print("|---|---|---|---|---|---|")
BYTES_A_SECOND, LATENCY = 10e9 / 8, 50e-6
for config in configs:
    name = os.path.basename(config).removesuffix(".toml")
    one = medians[config, 1, 2, "memory"]["seconds_a_step"]
    size = costs[config, 2, "shared memory"]["bytes"]
    # What is no network: laying gradients out and taking them apart, adding; from the loopback, which has no wire.
    own = medians[config, 2, 1, "memory"]["exchange"]["seconds_a_step"]
    for machines in (2, 8, 64):
        # A ring: every machine sends and receives this much, in so many turns.
        ring = 2 * (machines - 1) / machines * size / BYTES_A_SECOND + 2 * (machines - 1) * LATENCY
        exchange = own + ring
        faster = machines * one / (one + exchange)
        columns = [name, machines, milliseconds(one + exchange), milliseconds(exchange)]
        print("| " + " | ".join(map(str, columns + [f"{faster:.1f}", f"{100 * faster / machines:.0f} %"])) + " |")
