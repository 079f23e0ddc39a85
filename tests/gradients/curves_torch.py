#!/usr/bin/env python3
"""Records the losses of curves.py's networks in PyTorch, and the last running statistics, as curves.json. Needs torch.

    curves_torch.py OUT.json
"""

from __future__ import annotations

import json
import math
import sys

import torch
import torch.nn.functional as F
from curves import BATCH, CURVES, HEADS, LENGTH, MOMENTUM, WIDTH, WITH_OPERATOR, batches, statistics, weights


def cnn(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    y = F.max_pool2d(F.relu(F.conv2d(x, w["w1"], w["b1"], padding=1)), 2)
    y = F.relu(F.conv2d(y, w["w2"], w["b2"], padding=1, stride=2))
    y = F.conv2d(y, w["w3"], w["b3"], padding=1, groups=12)
    y = F.instance_norm(y, weight=w["scale"], bias=w["shift"], eps=0.1)
    return F.linear(torch.sigmoid(y).flatten(1), w["out"], w["bias"])


def cnn_batch_norm(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    def norm(y: torch.Tensor, number: int) -> torch.Tensor:
        mean, variance, scale, shift = (w[f"{key}{number}"] for key in ("mean", "var", "scale", "shift"))
        return F.batch_norm(y, mean, variance, scale, shift, training=True, momentum=1 - MOMENTUM, eps=1e-5)

    y = F.avg_pool2d(torch.tanh(norm(F.conv2d(x, w["w1"], padding=1), 1)), 2)
    y = torch.tanh(norm(F.conv2d(y, w["w2"], padding=1), 2))
    y = F.avg_pool2d(y, 3, stride=2, padding=1, count_include_pad=False)
    return F.linear(y.flatten(1), w["out"], w["bias"])


def lstm(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    h = c = torch.zeros(BATCH, WIDTH)
    for t in range(LENGTH):
        i, f, g, o = (F.linear(x[:, t], w["wx"]) + F.linear(h, w["wh"], w["b"])).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return F.linear(h, w["out"], w["bias"])


def transformer(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    def heads(value: torch.Tensor) -> torch.Tensor:
        return value.view(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(1, 2)

    q, k, v = (heads(F.linear(x, w[name])) for name in "qkv")
    mixed = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(WIDTH / HEADS), -1) @ v
    mixed = mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
    y = F.layer_norm(x + F.linear(mixed, w["o"]), [WIDTH], w["g1"], w["s1"])
    z = F.linear(F.gelu(F.linear(y, w["up"], w["ub"])), w["down"], w["db"])
    return F.linear(F.layer_norm(y + z, [WIDTH], w["g2"], w["s2"]).mean(1), w["out"], w["bias"])


def curve(name: str) -> tuple[list[float], dict[str, list[float]]]:
    """The losses and the running statistics."""
    network = {"cnn": cnn, "cnn-batch-norm": cnn_batch_norm, "lstm": lstm, "transformer": transformer}[name]
    kind, rate = CURVES[name]
    parameters = {key: torch.tensor(value, requires_grad=True) for key, value in weights(name).items()}
    optimizer = (torch.optim.SGD(parameters.values(), rate, momentum=0.9) if kind == "sgd"
                 else torch.optim.Adam(parameters.values(), rate))
    running = {key: torch.tensor(value) for key, value in statistics(name).items()}
    losses = []
    for x, labels in batches(name):
        optimizer.zero_grad()
        loss = F.cross_entropy(network(torch.tensor(x), {**parameters, **running}), torch.tensor(labels))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {key: value.tolist() for key, value in running.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    with open(sys.argv[1], "w") as file:
        found = {name: curve(name) for name in CURVES if name not in WITH_OPERATOR}
        json.dump({"torch": torch.__version__, "losses": {name: losses for name, (losses, _) in found.items()},
                   "statistics": {name: running for name, (_, running) in found.items() if running}}, file, indent=1)
        file.write("\n")
