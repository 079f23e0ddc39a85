"""Optimizes graphs as exporters write them, replays the certificate, and compares the result with the original in ONNX Runtime.

    python optimize_test.py ISOMER                a few small graphs of every kind
    python optimize_test.py ISOMER --all          all graphs
    python optimize_test.py ISOMER --graph NAME [--rules FILE] [--keep DIRECTORY]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import likeness
import onnx
import restore

# Both exporters, convolutions, attention, recurrence, control flow, half precision, every form of quantization,
# symbolic dimensions, shapes that depend on values, many outputs.
QUICK = [
    "torch_greedy_loop",
    "torch_generator",
    "torch_unet",
    "torch_unet_half",
    "torch_super_resolution_dynamo",
    "torch_gru",
    "torch_lstm_dynamo",
    "torch_transformer_dynamo",
    "torchvision_squeezenet1_1_qoperator",
    "torchvision_mobilenet_v3_small_qdq",
    "torchvision_shufflenet_v2_x0_5_dynamo",
    "transformers_bert_half",
    "transformers_bert_dynamic_quantized",
    "transformers_llama_dynamo_opset23",
    "transformers_gpt2_with_cache",
    "torchvision_vit",
    "torchvision_ssdlite320_mobilenet_v3_large",
    "torchvision_fasterrcnn_mobilenet_v3_large_320_fpn",
]

TOLERANCE = 1e-4
# Half precision keeps 11 bits; reordered sums of a dozen layers lose some of them.
HALF_TOLERANCE = 2e-2


def check(name: str, isomer: str, folder: Path, options: list[str]) -> tuple[str, str]:
    """Returns what is wrong (empty: nothing) and what was done."""
    before, after = folder / f"{name}.onnx", folder / f"{name}.optimized.onnx"
    original = restore.restore(restore.GRAPHS / f"{name}.onnx.xz")
    onnx.save(original, before)
    certificate = folder / f"{name}.cert"
    command = [isomer, "optimize", str(before), "-o", str(after), "--engine", "roofline", "--json", *options]
    command += ["--certificate", str(certificate)]
    start = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if run.returncode != 0:
        return f"exit code {run.returncode}: {run.stderr.strip()[-600:]}", ""
    report = json.loads(run.stdout)
    steps = [step["rule"] for step in report["steps"]]
    nodes = [sum(report["ops"][when].values()) for when in ("before", "after")]
    done = f"{len(steps)} steps, {nodes[0]} -> {nodes[1]} nodes, {seconds:.1f} s"
    verify = [isomer, "verify", str(certificate), str(before), str(after), "--inputs", "0"]
    if not any(option == "--rules" for option in options):
        verified = subprocess.run(verify, capture_output=True, text=True)
        if verified.returncode != 0:
            return f"the certificate: {verified.stdout.strip()}{verified.stderr.strip()[-600:]}", done
    result = onnx.load(after)
    try:
        onnx.checker.check_model(result)
    except onnx.checker.ValidationError as error:
        return f"the checker refuses the result: {error}", done
    if wrong := likeness.differing_presentation(original, result):
        return wrong, done
    inputs = restore.random_inputs(name)
    expected = likeness.outputs_of(str(before), inputs, likeness.DEFAULT)
    try:
        actual = likeness.outputs_of(str(after), inputs, likeness.DEFAULT)
    except Exception as error:  # ONNX Runtime has no common type of errors
        return f"ONNX Runtime refuses the result: {error}", done
    tolerance = HALF_TOLERANCE if likeness.is_half(original) else TOLERANCE
    wrong = likeness.differing_outputs(expected, actual, tolerance)
    return (f"{wrong}; rules: {', '.join(sorted(set(steps)))}" if wrong else ""), done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("isomer", help="the program")
    parser.add_argument("--all", action="store_true", help="all graphs")
    parser.add_argument("--graph", action="append", help="only this graph; may be repeated")
    parser.add_argument("--rules", help="a rule file instead of the built-in rules")
    parser.add_argument("--keep", type=Path, help="leave the models in this directory")
    options = parser.parse_args()
    names = options.graph or (list(restore.table()) if options.all else QUICK)
    extra = ["--rules", options.rules] if options.rules else []
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            wrong, done = check(name, options.isomer, folder, extra)
        print(f"{'FAILED' if wrong else 'ok'} {name}: {wrong or done}", flush=True)
        failed += bool(wrong)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
