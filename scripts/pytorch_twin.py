#!/usr/bin/env python3
"""The same model, weights and batches as `zhuyi bench --export DIR`, in plain PyTorch, for comparison.

Idiomatic PyTorch: nn.GRU (the encoder's over packed sequences, each sentence by its own length), batches of like
length, cross-entropy with ignore_index, the fused Adam. Two decoders: Luong's (general score after the step, all
steps at once) and Bahdanau's (additive score before the step, step by step). Prints one JSON object.

    python3 pytorch_twin.py DIR --warm-up 3 [--keep-denormals] [--threads N]
"""

import argparse
import json
import resource
import time
import tomllib
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD, BOS, EOS = 0, 1, 2


class Additive(nn.Module):
    """v·tanh(W q + U k)."""

    def __init__(self, query, memory, size):
        super().__init__()
        self.query = nn.Linear(query, size, bias=False)
        self.key = nn.Linear(memory, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)

    def forward(self, query, keys):
        return self.energy(torch.tanh(self.query(query).unsqueeze(1) + keys)).squeeze(2)


class General(nn.Module):
    """q·W k, for all queries at once."""

    def __init__(self, query, memory):
        super().__init__()
        self.key = nn.Linear(memory, query, bias=False)

    def forward(self, queries, keys):
        return torch.bmm(queries, keys.transpose(1, 2))


class Twin(nn.Module):
    def __init__(self, config, vocabularies):
        super().__init__()
        size, encoder, decoder = config["embedding"]["size"], config["encoder"]["hidden"], config["decoder"]["hidden"]
        memory = 2 * encoder
        self.before = config["decoder"]["timing"] == "before"
        self.source_embedding = nn.Embedding(vocabularies[0], size, padding_idx=PAD)
        self.target_embedding = nn.Embedding(vocabularies[1], size, padding_idx=PAD)
        self.encoder = nn.GRU(size, encoder, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(memory, decoder)
        if self.before:
            self.attention = Additive(decoder, memory, config["attention"]["size"])
            self.decoder = nn.GRUCell(size + memory, decoder)
            self.readout = nn.Linear(decoder + memory + size, decoder)
        else:
            self.attention = General(decoder, memory)
            self.decoder = nn.GRU(size, decoder, batch_first=True)
            self.readout = nn.Linear(decoder + memory, decoder)
        self.output = nn.Linear(decoder, vocabularies[1], bias=False)
        self.dropout = nn.Dropout(config["model"]["dropout"])

    def forward(self, source, lengths, inputs):
        embedded = self.dropout(self.source_embedding(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        start = torch.tanh(self.bridge(torch.cat([last[0], last[1]], 1)))
        keys = self.attention.key(states)
        padding = torch.arange(source.shape[1]) >= lengths.unsqueeze(1)
        target = self.dropout(self.target_embedding(inputs))
        decode = self.step_by_step if self.before else self.at_once
        return self.output(self.dropout(decode(target, start, states, keys, padding)))

    def at_once(self, target, start, memory, keys, padding):
        states, _ = self.decoder(target, start.unsqueeze(0))
        scores = self.attention(states, keys).masked_fill(padding.unsqueeze(1), float("-inf"))
        context = torch.bmm(scores.softmax(2), memory)
        return torch.tanh(self.readout(torch.cat([states, context], 2)))

    def step_by_step(self, target, state, memory, keys, padding):
        states, contexts = [], []
        for embedded in target.unbind(1):
            scores = self.attention(state, keys).masked_fill(padding, float("-inf"))
            context = torch.bmm(scores.softmax(1).unsqueeze(1), memory).squeeze(1)
            state = self.decoder(torch.cat([embedded, context], 1), state)
            states.append(state)
            contexts.append(context)
        return torch.tanh(self.readout(torch.cat([torch.stack(states, 1), torch.stack(contexts, 1), target], 2)))


def copy_weights(model, file):
    """From zhuyi's names and [in, out] layout to PyTorch's."""
    weights = load_file(file)

    def gru(name, suffix):
        return {
            f"weight_ih{suffix}": weights[f"{name}.input_weight"].T,
            f"weight_hh{suffix}": weights[f"{name}.hidden_weight"].T,
            f"bias_ih{suffix}": weights[f"{name}.input_bias"],
            f"bias_hh{suffix}": weights[f"{name}.hidden_bias"],
        }

    layer = "encoder.layers.0"
    model.encoder.load_state_dict(gru(f"{layer}.forward", "_l0") | gru(f"{layer}.backward", "_l0_reverse"))
    model.decoder.load_state_dict(gru("decoder.layers.0", "" if model.before else "_l0"))
    pairs = {
        model.source_embedding.weight: weights["source_embedding.weight"],
        model.target_embedding.weight: weights["target_embedding.weight"],
        model.bridge.weight: weights["decoder.bridge.weight"].T,
        model.bridge.bias: weights["decoder.bridge.bias"],
        model.readout.weight: weights["decoder.readout.weight"].T,
        model.readout.bias: weights["decoder.readout.bias"],
        model.output.weight: weights["output.weight"].T,
        model.attention.key.weight: weights["decoder.attention.score.key.weight"].T,
    }
    if model.before:
        pairs[model.attention.query.weight] = weights["decoder.attention.score.query.weight"].T
        pairs[model.attention.energy.weight] = weights["decoder.attention.score.energy"].unsqueeze(0)
    with torch.no_grad():
        for parameter, weight in pairs.items():
            parameter.copy_(weight)


def padded(sentences):
    return nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in sentences], batch_first=True, padding_value=PAD)


def peak_rate():
    """GFLOP/s of [960, 512] · [512, 8000], the best of ten, with the right side as nn.Linear keeps it."""
    left, right = torch.randn(960, 512), torch.randn(8000, 512)
    best = float("inf")
    for _ in range(10):
        started = time.perf_counter()
        nn.functional.linear(left, right)
        best = min(best, time.perf_counter() - started)
    return 2 * 960 * 512 * 8000 / best / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", type=Path)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep-denormals", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(not args.keep_denormals)

    config = tomllib.loads((args.export / "config.toml").read_text())
    batches = [json.loads(line) for line in (args.export / "batches.jsonl").open()]
    weights = load_file(args.export / "model.safetensors")
    vocabularies = [weights[f"{side}_embedding.weight"].shape[0] for side in ("source", "target")]
    model = Twin(config, vocabularies)
    copy_weights(model, args.export / "model.safetensors")
    del weights
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    loss_function = nn.CrossEntropyLoss(ignore_index=PAD)
    seconds, tokens, losses = 0.0, 0, []
    for i, batch in enumerate(batches):
        started = time.perf_counter()
        source, lengths = padded(batch["source"]), torch.tensor([len(ids) for ids in batch["source"]])
        inputs = padded([[BOS, *ids] for ids in batch["target"]])
        targets = padded([[*ids, EOS] for ids in batch["target"]])
        logits = model(source, lengths, inputs)
        loss = loss_function(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), config["train"]["clip_norm"])
        for group in optimizer.param_groups:
            group["lr"] = batch["rate"]
        optimizer.step()
        losses.append(loss.item())
        if i >= args.warm_up:
            seconds += time.perf_counter() - started
            tokens += sum(len(ids) + 1 for ids in batch["target"])
    answer = {
        "torch": torch.__version__,
        "product_gflops": peak_rate(),
        "target_tokens_per_second": tokens / seconds,
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "losses": losses,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
