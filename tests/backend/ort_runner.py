"""Checks that models which Isomer imported, folded and exported compute on ONNX Runtime what the originals compute there.

    ort_runner.py CASES EXPORTED [--filter TEXT] [--list-unsupported]

CASES is what generate.py wrote, EXPORTED what `isomer_node_tests CASES --export EXPORTED` wrote. A case whose original ONNX
Runtime does not load or run is counted as unsupported. Exits with 1 when a case fails.
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

# The tolerances of ONNX's own runner.
RTOL, ATOL = 1e-3, 1e-7


def load_value(path, info):
    """One input of a data set as numpy, by the type that the model declares for it."""
    data = path.read_bytes()
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def same(got, expected, values):
    """Whether two outputs agree; `values` False compares only types and shapes."""
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(lambda g, e: same(g, e, values), got, expected))
    if expected is None or got is None:
        return got is expected
    got, expected = np.asarray(got), np.asarray(expected)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if not values:
        return True
    if got.dtype.kind in "OUSbiu":
        return np.array_equal(got, expected)
    return np.allclose(got.astype(np.complex128), expected.astype(np.complex128), rtol=RTOL, atol=ATOL, equal_nan=True)


def check(case, exported):
    """"passed", "unsupported: why" or "FAILED: why"."""
    original = onnx.load(case / "model.onnx")
    runs = []
    try:
        reference = session((case / "model.onnx").read_bytes())
        for data in sorted(case.glob("test_data_set_*")):
            inputs = {}
            for j, info in enumerate(original.graph.input):
                if (data / f"input_{j}.pb").exists():
                    inputs[info.name] = load_value(data / f"input_{j}.pb", info)
            first, second = reference.run(None, inputs), reference.run(None, inputs)
            runs.append((inputs, first, all(map(lambda a, b: same(a, b, True), first, second))))
    except Exception as error:  # ONNX Runtime raises many kinds
        return f"unsupported: {error}"
    try:
        onnx.checker.check_model(str(exported))
        ours = session(exported.read_bytes())
        if [o.name for o in ours.get_outputs()] != [o.name for o in reference.get_outputs()]:
            return "FAILED: other output names"
        for inputs, expected, deterministic in runs:
            got = ours.run(None, inputs)
            for i, (g, e) in enumerate(zip(got, expected, strict=True)):
                if not same(g, e, deterministic):
                    return f"FAILED: output {i} differs"
    except Exception as error:
        return f"FAILED: {error}"
    return "passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("exported", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--list-unsupported", action="store_true")
    options = parser.parse_args()
    counts = {"passed": 0, "FAILED": 0, "unsupported": 0}
    for model in sorted(options.exported.glob("*/*/model.onnx")):
        name = str(model.parent.relative_to(options.exported))
        if options.filter not in name:
            continue
        verdict = check(options.cases / name, model)
        kind = verdict.split(":")[0]
        counts[kind] += 1
        if kind == "FAILED" or (kind == "unsupported" and options.list_unsupported):
            print(name, " ".join(verdict.split())[:400], flush=True)
    print(f"onnxruntime: {counts['passed']} passed, {counts['FAILED']} failed, {counts['unsupported']} unsupported by it")
    return 1 if counts["FAILED"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
