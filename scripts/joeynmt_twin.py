#!/usr/bin/env python3
"""JoeyNMT 2.3 on what `zhuyi bench --export DIR` wrote: the same sizes, data and (for translation) weights.

Its recurrent decoder is zhuyi's with `score = additive`, `timing = after` and input feeding. Tokens are written as
"w17", so that both systems have the same vocabulary. Prints one JSON object.

    python3 joeynmt_twin.py train DIR WORK --updates 60
    python3 joeynmt_twin.py translate DIR WORK --beam 5 --batch 64
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

# Theirs come in this order; zhuyi's ids of the same tokens.
SPECIALS = {"<unk>": 3, "<pad>": 0, "<s>": 1, "</s>": 2}


def word(token):
    return f"w{token}"


def write_data(export, work):
    """Every sentence of the exported batches as training data, the exported dev set as test data."""
    pairs = {"train": [], "test": []}
    for line in (export / "batches.jsonl").open():
        batch = json.loads(line)
        pairs["train"] += [(source[:-1], target) for source, target in zip(batch["source"], batch["target"])]
    for line in (export / "dev.jsonl").open():
        pair = json.loads(line)
        pairs["test"].append((pair["source"][:-1], pair["target"]))
    # JoeyNMT's test mode also translates the dev set: a few lines, not to wait for it.
    pairs["dev"] = pairs["test"][:4]
    for name, sentences in pairs.items():
        for side, suffix in ((0, "src"), (1, "trg")):
            lines = [" ".join(map(word, pair[side])) + "\n" for pair in sentences]
            (work / f"{name}.{suffix}").write_text("".join(lines))


def write_vocabulary(size, path):
    # The ids 0 to 3 are the special tokens, which JoeyNMT adds itself.
    path.write_text("".join(f"{token}\n" for token in [*SPECIALS, *map(word, range(4, size))]))


def config_of(export, work, vocabulary, updates, beam, batch):
    ours = tomllib.loads((export / "config.toml").read_text())
    size, encoder, decoder = ours["embedding"]["size"], ours["encoder"]["hidden"], ours["decoder"]["hidden"]
    side = {"level": "word", "lowercase": False, "max_length": 200, "voc_file": str(vocabulary)}
    embeddings = {"embedding_dim": size, "scale": False, "dropout": 0.0}
    return {
        "name": "twin",
        "joeynmt_version": "2.3.0",
        "model_dir": str(work / "model"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "data": {
            "train": str(work / "train"),
            "dev": str(work / "dev"),
            "test": str(work / "test"),
            "dataset_type": "plain",
            "src": {"lang": "src", **side},
            "trg": {"lang": "trg", **side},
            "special_symbols": {
                "unk_token": "<unk>", "unk_id": 0, "pad_token": "<pad>", "pad_id": 1,
                "bos_token": "<s>", "bos_id": 2, "eos_token": "</s>", "eos_id": 3,
            },
        },
        "testing": {
            "batch_size": batch, "batch_type": "sentence", "beam_size": beam, "beam_alpha": 1.0, "n_best": 1,
            "max_output_length": 60, "eval_metrics": [], "generate_unk": False,
        },
        "training": {
            "optimizer": "adam", "learning_rate": 0.001, "clip_grad_norm": 1.0, "loss": "crossentropy",
            "batch_size": 64, "batch_type": "sentence", "normalization": "tokens", "scheduling": "exponential",
            "early_stopping_metric": "loss", "epochs": 100, "updates": updates, "validation_freq": 10**9,
            "logging_freq": 10, "overwrite": True, "shuffle": True, "print_valid_sents": [], "keep_best_ckpts": 1,
        },
        "model": {
            "initializer": "xavier_uniform", "bias_initializer": "zeros",
            "encoder": {
                "type": "recurrent", "rnn_type": "gru", "embeddings": embeddings, "hidden_size": encoder,
                "bidirectional": True, "num_layers": 1, "dropout": 0.0,
            },
            "decoder": {
                "type": "recurrent", "rnn_type": "gru", "embeddings": embeddings, "hidden_size": decoder,
                "num_layers": 1, "dropout": 0.0, "hidden_dropout": 0.0, "input_feeding": True,
                "init_hidden": "bridge", "attention": "bahdanau",
            },
        },
    }


def checkpoint_of(export, path):
    """zhuyi's weights under JoeyNMT's names."""
    import torch
    from safetensors.torch import load_file

    weights = load_file(export / "model.safetensors")

    def rows(table):
        order = [*SPECIALS.values(), *range(4, table.shape[0])]
        return table[order].contiguous()

    def gru(name, suffix):
        return {
            f"weight_ih_l0{suffix}": weights[f"{name}.input_weight"].T.contiguous(),
            f"weight_hh_l0{suffix}": weights[f"{name}.hidden_weight"].T.contiguous(),
            f"bias_ih_l0{suffix}": weights[f"{name}.input_bias"],
            f"bias_hh_l0{suffix}": weights[f"{name}.hidden_bias"],
        }

    encoder = gru("encoder.layers.0.forward", "") | gru("encoder.layers.0.backward", "_reverse")
    state = {f"encoder.rnn.{name}": value for name, value in encoder.items()}
    state |= {f"decoder.rnn.{name}": value for name, value in gru("decoder.layers.0", "").items()}
    score = "decoder.attention.score"
    state |= {
        "src_embed.lut.weight": rows(weights["source_embedding.weight"]),
        "trg_embed.lut.weight": rows(weights["target_embedding.weight"]),
        "decoder.bridge_layer.weight": weights["decoder.bridge.weight"].T.contiguous(),
        "decoder.bridge_layer.bias": weights["decoder.bridge.bias"],
        "decoder.att_vector_layer.weight": weights["decoder.readout.weight"].T.contiguous(),
        "decoder.att_vector_layer.bias": weights["decoder.readout.bias"],
        "decoder.output_layer.weight": rows(weights["output.weight"].T),
        "decoder.attention.key_layer.weight": weights[f"{score}.key.weight"].T.contiguous(),
        "decoder.attention.query_layer.weight": weights[f"{score}.query.weight"].T.contiguous(),
        "decoder.attention.energy_layer.weight": weights[f"{score}.energy"].unsqueeze(0).contiguous(),
    }
    torch.save({"model_state": state}, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=["train", "translate"])
    parser.add_argument("export", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    import yaml
    from safetensors import safe_open

    args.work.mkdir(parents=True, exist_ok=True)
    write_data(args.export, args.work)
    with safe_open(args.export / "model.safetensors", "pt") as file:
        size = file.get_slice("target_embedding.weight").get_shape()[0]
    write_vocabulary(size, args.work / "vocabulary")
    config = config_of(args.export, args.work, args.work / "vocabulary", args.updates, args.beam, args.batch)
    if args.mode == "translate":
        (args.work / "model").mkdir(exist_ok=True)
        checkpoint_of(args.export, args.work / "twin.ckpt")
        config["testing"]["load_model"] = str(args.work / "twin.ckpt")
    path = args.work / f"{args.mode}.yaml"
    path.write_text(yaml.safe_dump(config))
    # Their GRU's denormals are left as they come, as a user of JoeyNMT has them.
    command = [sys.executable, "-m", "joeynmt", "train" if args.mode == "train" else "test", str(path)]
    command += ["--skip-test"] if args.mode == "train" else ["--output-path", str(args.work / "output")]
    environment = os.environ | {"OMP_NUM_THREADS": str(args.threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    told = done.stdout + done.stderr
    if args.mode == "train":
        rates = [float(rate) for rate in re.findall(r"Tokens per Sec:\s*([0-9.]+)", told)]
        # The first report holds the warm-up.
        answer = {"target_tokens_per_second": sorted(rates[1:])[len(rates[1:]) // 2] if rates[1:] else None}
    else:
        # The few lines of the dev set come first.
        seconds = [float(value) for value in re.findall(r"Generation took ([0-9.]+)\[sec\]", told)]
        sentences = sum(1 for _ in (args.work / "test.src").open())
        answer = {"sentences_per_second": sentences / seconds[-1] if len(seconds) == 2 else None}
    if done.returncode or None in answer.values():
        sys.exit(told[-4000:])
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
