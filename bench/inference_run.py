#!/usr/bin/env python3
"""One network in one runtime, for inference.py.

    inference_run.py RUNTIME MODEL.onnx DATA.npz OUTPUTS.npz [--threads N] [--streams N] [--pause SECONDS]

RUNTIME is `onednn`, `ort` (in a Python that has onnxruntime), `openvino` (openvino) or `pytorch` (torch and onnx). The network runs
in this process, so that all runtimes are called from Python in the same way. Reads lines; loads the
network when it gets the first one, and writes the outputs, and for PyTorch the form that it chose. For each line, a number of
seconds, runs the network for so long, with a pause before each run, and prints the median latency in microseconds.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

Run = Callable[[], list[np.ndarray]]


def median_us(run: Callable[[], object], seconds: float, pause: float = 0) -> float:
    """Of the runs in so many seconds, at least three, without a first one: another process had the caches before it."""
    run()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        if pause > 0:
            time.sleep(pause)
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def of_onednn(args: argparse.Namespace, data: dict[str, np.ndarray]) -> tuple[Run, str]:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "build/python"))
    import isomer

    session = isomer.Session(args.model, engine="onednn", threads=args.threads, streams=args.streams)
    return lambda: list(session.run(data).values()), ""


def of_ort(args: argparse.Namespace, data: dict[str, np.ndarray]) -> tuple[Run, str]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, data), ""


def of_openvino(args: argparse.Namespace, data: dict[str, np.ndarray]) -> tuple[Run, str]:
    import openvino

    # Otherwise OpenVINO computes in a smaller type where the processor has one.
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": args.threads, "NUM_STREAMS": args.streams}
    request = openvino.Core().compile_model(args.model, "CPU", options).create_infer_request()
    outputs = range(len(request.model_outputs))

    def run() -> list[np.ndarray]:
        request.infer(data, share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(i).data for i in outputs]

    return run, ""


def of_pytorch(args: argparse.Namespace, data: dict[str, np.ndarray]) -> tuple[Run, str]:
    """The fastest of eager and frozen TorchScript, each with images in both layouts."""
    import torch
    from torch_network import Network

    torch.set_num_threads(args.threads)
    torch.set_grad_enabled(False)
    warnings.filterwarnings("ignore")  # TorchScript is deprecated, and tracing warns of shapes that become constants

    forms: dict[str, Run] = {}
    for channels_last in (False, True):
        network = Network(args.model, training=False, channels_last=channels_last)
        values = [network.tensor(data[name]) for name in network.inputs if name in data]
        if channels_last and all(value.dim() != 4 for value in values):
            continue

        class Module(torch.nn.Module):
            def forward(self, *values: torch.Tensor, network=network) -> tuple[torch.Tensor, ...]:
                return tuple(network.run(dict(zip((name for name in network.inputs if name in data), values))))

        eager = Module().eval()
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(eager, values, check_trace=False)))
        for kind, call in (("eager", eager), ("frozen", frozen)):
            form = f"{kind}, channels last" if channels_last else kind
            forms[form] = lambda call=call, values=values: [output.numpy() for output in call(*values)]
    for run in forms.values():
        run()
        run()  # TorchScript compiles in its first two runs
    best = min(forms, key=lambda form: median_us(forms[form], 0.3))
    return forms[best], best


RUNTIMES = {"onednn": of_onednn, "ort": of_ort, "openvino": of_openvino, "pytorch": of_pytorch}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", choices=RUNTIMES)
    parser.add_argument("model")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("outputs", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0)
    args = parser.parse_args()
    load = RUNTIMES[args.runtime]
    run = None
    for line in sys.stdin:
        if run is None:
            run, form = load(args, dict(np.load(args.data)))
            np.savez(args.outputs, *run(), form=form)
        sys.stdout.write(f"{median_us(run, float(line), args.pause)}\n")  # at once: the process may be stopped after any write
        sys.stdout.flush()


if __name__ == "__main__":
    main()
