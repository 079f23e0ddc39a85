#!/usr/bin/env python3
"""Training steps of an ONNX network in PyTorch, for training.py. Runs in a Python that has torch and onnx.

    torch_step.py NETWORK.onnx THREADS DATA.npz [--rate RATE] [--channels-last] [--double]

Reads lines; for each, runs as many steps as it says and prints the loss of the last one, with --double in double precision. The
network is that of `isomer models NAME`: its initializers are trained by SGD with momentum, and batch normalizations have their
training form.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch_network import Network

MOMENTUM = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=pathlib.Path)
    parser.add_argument("threads", type=int)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--double", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    network = Network(args.network, training=True, channels_last=args.channels_last, double=args.double)
    given = {name: network.tensor(value) for name, value in np.load(args.data).items()}
    inputs = {name: given[name] for name in network.inputs}
    optimizer = torch.optim.SGD(network.parameters, args.rate, MOMENTUM, fused=True)

    def loss() -> torch.Tensor:
        results = network.run(inputs)
        parts = []
        for i, result in enumerate(results):
            suffix = "" if len(results) == 1 else f"_{i}"
            if result.dim() == 2:
                parts.append(F.cross_entropy(result, given["labels" + suffix]))
            else:
                parts.append(F.mse_loss(result, given["target" + suffix]))
        return sum(parts)

    for line in sys.stdin:
        for _ in range(int(line)):
            optimizer.zero_grad()
            value = loss()
            value.backward()
            optimizer.step()
        sys.stdout.write(f"{value.item()}\n")  # at once: the process may be stopped after any write
        sys.stdout.flush()


if __name__ == "__main__":
    main()
