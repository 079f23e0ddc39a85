"""Writes ONNX's backend tests (of the installed onnx package) as files: one folder a case, as ONNX's own tools lay it out.

    generate.py OUT        OUT/KIND/CASE/model.onnx, OUT/KIND/CASE/test_data_set_0/{input,output}_0.pb, ...

Does nothing when OUT already holds the cases of this version of onnx.
"""

import pathlib
import shutil
import sys
import warnings

import onnx
import onnx.backend.test
from onnx import TensorProto, numpy_helper

# Sets whose models and data ship inside the package, beside those that are made on the fly ("node").
SHIPPED = ["simple", "pytorch-converted", "pytorch-operator"]


def to_proto(value, info):
    """The protobuf message of one input or output, by the type that the model declares for it."""
    if isinstance(value, TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(value, info.name)


def write_node_cases(out):
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Overflows and divisions by zero that the cases want.
        cases = collect_testcases(None)
    for case in cases:
        folder = out / case.name
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{i}"
            data.mkdir()
            for prefix, values, infos in [("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)]:
                for j, (value, info) in enumerate(zip(values, infos, strict=True)):
                    (data / f"{prefix}_{j}.pb").write_bytes(to_proto(value, info).SerializeToString())


def main():
    out = pathlib.Path(sys.argv[1])
    stamp = out / "onnx-version.txt"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return
    shutil.rmtree(out, ignore_errors=True)
    write_node_cases(out / "node")
    shipped = pathlib.Path(onnx.backend.test.__file__).parent / "data"
    for kind in SHIPPED:
        shutil.copytree(shipped / kind, out / kind)
    stamp.write_text(onnx.__version__)
    print(sum(1 for _ in out.glob("*/*/model.onnx")), "cases")


if __name__ == "__main__":
    main()
