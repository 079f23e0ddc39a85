#!/usr/bin/env python3
"""Training steps of an ONNX network in PyTorch, for training.py and `isomer repro`. Runs in a Python that has torch and onnx.

    torch_step.py NETWORK.onnx THREADS DATA [--rate RATE] [--channels-last] [--double] [--time WARMUP MIN MAX SECONDS]

DATA is a folder with a .npy file for each input. Reads lines; for each, runs as many steps as it says and prints the loss of the
last one, with --double in double precision. With --time, it times steps and sends their microseconds, and the loss of the first
step, over standard input, which is a socket. The network is that of `isomer models NAME`: its initializers are trained by SGD
with momentum, and batch normalizations have their training form.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import struct
import sys
import time
from collections.abc import Callable

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch_network import Network
except ImportError as error:
    sys.exit(f"needs the packages torch, numpy and onnx: {error}")

MOMENTUM = 0.9


def timed(step: Callable[[], torch.Tensor], warmup: int, min_runs: int, max_runs: int, seconds: float) -> dict:
    """The times of steps for so many seconds, within the numbers of steps that are given, and the loss of the first one."""
    losses = [step().item() for _ in range(max(warmup, 1))]
    if not math.isfinite(losses[0]):
        sys.exit("has a loss that is not finite")
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < min_runs or (len(times) < max_runs and time.perf_counter() < end):
        start = time.perf_counter()
        step()
        times.append(1e6 * (time.perf_counter() - start))
    return {"version": torch.__version__, "loss": losses[0], "microseconds": times}


def send(answer: dict) -> None:
    """Sends a message as Isomer's workers do: the lengths of header and payload, and the header."""
    header = json.dumps(answer).encode()
    with open(sys.stdin.fileno(), "wb", closefd=False) as channel:
        channel.write(struct.pack("<QQ", len(header), 0) + header)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=pathlib.Path)
    parser.add_argument("threads", type=int)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--time", nargs=4, type=float, metavar=("WARMUP", "MIN", "MAX", "SECONDS"))
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    network = Network(args.network, training=True, channels_last=args.channels_last, double=args.double)
    given = {path.stem: network.tensor(np.load(path)) for path in args.data.glob("*.npy")}
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

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    if args.time:
        warmup, min_runs, max_runs, seconds = args.time
        send(timed(step, int(warmup), int(min_runs), int(max_runs), seconds))
        return
    for line in sys.stdin:
        for _ in range(int(line)):
            value = step()
        sys.stdout.write(f"{value.item()}\n")  # at once: the process may be stopped after any write
        sys.stdout.flush()


if __name__ == "__main__":
    main()
