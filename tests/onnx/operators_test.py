"""Imports and exports nodes of every operator of ONNX at every opset from 7 on, with every attribute of their version.

    operators_test.py ROUNDTRIP [--operator NAME] [--keep FOLDER]

ROUNDTRIP is the program made of roundtrip.cc. A node must come back as it was: operator, operands, results, attributes.
Constants become initializers, and a CastLike becomes a Cast to the type of its second operand.
"""

from __future__ import annotations

import argparse
import collections
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, defs, helper, numpy_helper
from operators import CASES, Case, Typed, X

FIRST_OPSET = 7
# ONNX's own shape inference refuses every such node.
INFERENCE_FAILS = {"MeanVarianceNormalization"}

GRAPH = helper.make_graph([helper.make_node("Identity", ["captured"], ["inner"])], "g", [], [onnx.ValueInfoProto(name="inner")])
INDICES = numpy_helper.from_array(np.array([1], np.int64), "indices")
SPARSE = helper.make_sparse_tensor(numpy_helper.from_array(np.array([1], np.float32), "values"), INDICES, [3])
# A value of each kind, for operators that Isomer does not know.
ANY_VALUE = {
    AttributeProto.INT: 1,
    AttributeProto.INTS: [1, 2],
    AttributeProto.FLOAT: 0.5,
    AttributeProto.FLOATS: [0.5, 2.0],
    AttributeProto.STRING: "a",
    AttributeProto.STRINGS: ["a", "b"],
    AttributeProto.TENSOR: numpy_helper.from_array(np.array([1.5], np.float32), "tensor"),
    AttributeProto.GRAPH: GRAPH,
    AttributeProto.SPARSE_TENSOR: SPARSE,
    AttributeProto.TYPE_PROTO: helper.make_tensor_type_proto(TensorProto.FLOAT, [2]),
}
PREFERRED = ["float", "int64", "int32", "bool", "string", "uint8", "double"]


def versions():
    """(schema, opsets at which it holds) for each operator and version."""
    newest = {"": defs.onnx_opset_version()}
    grouped = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        grouped[schema.domain, schema.name].append(schema)
        newest[schema.domain] = max(newest.get(schema.domain, 1), schema.since_version)
    for (domain, _), schemas in sorted(grouped.items()):
        schemas.sort(key=lambda schema: schema.since_version)
        ends = [schema.since_version for schema in schemas[1:]] + [newest[domain] + 1]
        for schema, end in zip(schemas, ends, strict=True):
            opsets = range(max(schema.since_version, 1 if domain else FIRST_OPSET), end)
            if opsets:
                yield schema, opsets


def formal(schema, i):
    return schema.inputs[min(i, len(schema.inputs) - 1)]


def element_type(schema, i):
    """The preferred element type that the i-th operand may have."""
    allowed = {name.removeprefix("tensor(").removesuffix(")") for name in formal(schema, i).types}
    return TensorProto.DataType.Value(next((name for name in PREFERRED if name in allowed), "float").upper())


def generic_cases(schema):
    """A case for each attribute, with operands of any shape."""
    count = max(schema.min_input, 1 if schema.inputs else 0)
    base = {name: ANY_VALUE[attr.type.value] for name, attr in schema.attributes.items() if attr.required}
    return [Case([X] * count, base | {name: ANY_VALUE[attr.type.value]}) for name, attr in schema.attributes.items()] or [Case([X] * count)]


def cases_of(schema):
    """The cases of one version, and whether they are valid nodes. Fails where the table leaves out an attribute."""
    if schema.domain or schema.name not in CASES:
        return generic_cases(schema), False
    cases = [case for case in CASES[schema.name] if fits(schema, case)]
    missing = set(schema.attributes) - {name for case in cases for name in case.attributes}
    if missing or not cases:
        raise SystemExit(f"operators.py has no case of {schema.name} of opset {schema.since_version} with {sorted(missing)}")
    return cases, schema.name not in INFERENCE_FAILS


def fits(schema, case):
    in_time = case.since <= schema.since_version <= case.until
    return in_time and len(case.operands) <= schema.max_input and set(case.attributes) <= set(schema.attributes)


def model_of(schema, opset, cases):
    """One model with a node for each case. No two have a common operand, so that none are the same."""
    graph = onnx.GraphProto(name="g")
    if any(attr.type == AttributeProto.GRAPH for attr in schema.attributes.values()):
        graph.input.append(helper.make_tensor_value_info("captured", TensorProto.FLOAT, [2]))
    for n, case in enumerate(cases):
        inputs = []
        for i, operand in enumerate(case.operands):
            inputs.append("" if operand is None else f"x{n}_{i}")
            if isinstance(operand, np.ndarray):
                graph.initializer.append(numpy_helper.from_array(operand, inputs[-1]))
            elif operand is not None:
                typed = operand if isinstance(operand, Typed) else Typed(element_type(schema, i), operand)
                graph.input.append(helper.make_tensor_value_info(inputs[-1], typed.type, typed.shape))
        outputs = [f"y{n}_{i}" for i in range(case.results)]
        graph.node.append(helper.make_node(schema.name, inputs, outputs, f"node{n}", domain=schema.domain, **case.attributes))
        graph.output.extend(onnx.ValueInfoProto(name=output) for output in outputs)
    opsets = [helper.make_opsetid("", opset if not schema.domain else defs.onnx_opset_version())]
    if schema.domain:
        opsets.append(helper.make_opsetid(schema.domain, opset))
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def described(model):
    """What must not change of each node, by its first result. An initializer stands for a constant."""
    data = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    types = {info.name: info.type.tensor_type.elem_type for info in model.graph.input}
    nodes = {name: ("constant", array.dtype.str, array.tolist()) for name, array in data.items()}
    for node in model.graph.node:
        attributes = {attr.name: attr.SerializeToString() for attr in node.attribute}
        inputs = [nodes.get(name, name) for name in node.input]
        while inputs and not inputs[-1]:
            inputs.pop()
        op_type = node.op_type
        if op_type == "CastLike":
            op_type = "Cast"
            attributes["to"] = helper.make_attribute("to", types[inputs.pop()]).SerializeToString()
        nodes[node.output[0]] = (node.name, node.domain, op_type, inputs, list(node.output), attributes)
        if node.op_type == "Constant" and not node.attribute[0].HasField("sparse_tensor"):
            array = constant_value(node.attribute[0])
            nodes[node.output[0]] = ("constant", array.dtype.str, array.tolist())
    return {name: nodes[name] for output in model.graph.output if (name := output.name) in nodes}


def constant_value(attr):
    value = helper.get_attribute_value(attr)
    if attr.type == AttributeProto.TENSOR:
        return numpy_helper.to_array(value)
    if attr.type in (AttributeProto.STRING, AttributeProto.STRINGS):
        return np.array(value.decode() if isinstance(value, bytes) else [each.decode() for each in value], dtype=object)
    return np.array(value, dtype=np.float32 if attr.type in (AttributeProto.FLOAT, AttributeProto.FLOATS) else np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roundtrip", help="the program made of roundtrip.cc")
    parser.add_argument("--operator", help="test only this operator")
    parser.add_argument("--keep", type=Path, help="leave the models in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        before, after = folder / "before", folder / "after"
        for each in (before, after):
            each.mkdir(parents=True, exist_ok=True)
        written = []
        for schema, opsets in versions():
            if options.operator not in (None, schema.name):
                continue
            cases, valid = cases_of(schema)
            model = model_of(schema, opsets[0], cases)
            if valid:
                onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
            for opset in opsets:
                model.opset_import[-1].version = opset
                name = f"{schema.domain or 'onnx'}.{schema.name}.{opset}.onnx"
                (before / name).write_bytes(model.SerializeToString())
                written.append(name)
        run = subprocess.run([options.roundtrip, str(before), str(after)], capture_output=True, text=True)
        print(run.stderr, end="")
        failed = 0
        # A node that is left opaque comes back unchanged without being read: that must not be the rule.
        understood = run.stdout.count(" 0 opaque")
        for name in written:
            if not (after / name).exists():
                failed += 1
                continue
            expected = described(onnx.load(before / name))
            actual = described(onnx.load(after / name))
            for node in expected:
                if actual.get(node) != expected[node]:
                    failed += 1
                    print(f"FAILED {name}: {expected[node]}\n    became {actual.get(node)}")
    print(f"{len(written)} models, {understood} without opaque nodes, {failed} failures")
    enough = options.operator is not None or 2 * understood > len(written)
    return 0 if enough and not failed and run.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
