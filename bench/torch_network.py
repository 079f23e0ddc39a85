"""An ONNX network as calls of PyTorch, for torch_step.py and inference_run.py. Needs torch and onnx."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


class Network:
    """A network of `isomer models`. Gelu, linear layers, attention and LSTM layers are single functions, as PyTorch has them.
    Raises AttributeError for an operator that no benchmark network has."""

    def __init__(self, path: str, *, training: bool, channels_last: bool = False, double: bool = False) -> None:
        model = onnx.load(path)
        self.nodes = list(model.graph.node)
        self.inputs = [value.name for value in model.graph.input]
        self.outputs = [value.name for value in model.graph.output]
        self.training = training
        self.channels_last = channels_last
        self.double = double
        self.constants: dict[str, torch.Tensor] = {}
        self.integers: dict[str, list[int]] = {}
        for tensor in model.graph.initializer:
            self.take(tensor.name, numpy_helper.to_array(tensor))
        for node in self.nodes:
            if node.op_type == "Constant":
                self.take(node.output[0], numpy_helper.to_array(node.attribute[0].t))
        self.nodes = [node for node in self.nodes if node.op_type != "Constant"]
        for node in self.nodes:
            if node.op_type == "LSTM":
                self.take_layer(node)
        statistics = {name for node in self.nodes if node.op_type == "BatchNormalization" for name in node.input[3:5]}
        self.parameters = [value.requires_grad_(training) for name, value in self.constants.items()
                           if value.dim() > 0 and name not in statistics]
        self.join()

    def take(self, name: str, value: np.ndarray) -> None:
        if value.dtype == np.int64:
            self.integers[name] = value.reshape(-1).tolist()
            return
        self.constants[name] = self.tensor(value)

    def take_layer(self, node: onnx.NodeProto) -> None:
        """Puts the weights of an LSTM layer in PyTorch's order: input, forget, cell, output. ONNX has the output second."""
        assert len(node.input) == 4 and all(entry.name == "hidden_size" for entry in node.attribute), node
        input_weights, state_weights, bias = node.input[1:]

        def ordered(rows: torch.Tensor) -> torch.Tensor:
            gates = rows.chunk(4)
            return torch.cat([gates[0], gates[2], gates[3], gates[1]]).contiguous()

        for name in (input_weights, state_weights):
            self.constants[name] = ordered(self.constants[name][0])
        both = self.constants[bias][0].chunk(2)
        self.constants[bias], self.constants[bias + "/state"] = (ordered(part) for part in both)

    def tensor(self, value: np.ndarray) -> torch.Tensor:
        """A copy in the network's precision and layout."""
        tensor = torch.tensor(value)
        if self.double and tensor.is_floating_point():
            tensor = tensor.double()
        return (tensor.contiguous(memory_format=torch.channels_last) if self.channels_last and tensor.dim() == 4 else tensor)

    def join(self) -> None:
        """Makes single functions of a gelu and of attention that are written out, and of products with a bias."""
        readers = defaultdict(list)
        maker = {}
        for node in self.nodes:
            maker[node.output[0]] = node
            for name in node.input:
                readers[name].append(node)
        self.calls, self.scales = {}, {}
        gone = set()

        def only_reader(node: onnx.NodeProto) -> onnx.NodeProto | None:
            found = readers[node.output[0]]
            return found[0] if len(found) == 1 and node.output[0] not in self.outputs else None

        for node in self.nodes:
            if node.op_type == "Erf":
                scaled, one = maker[node.input[0]], only_reader(node)
                first = only_reader(one)
                last = only_reader(first)
                self.calls[last.output[0]] = ("gelu", scaled.input[0])
                gone.update(part.output[0] for part in (scaled, node, one, first))
            elif node.op_type == "MatMul" and node.input[1] in self.constants:
                add = only_reader(node)
                if add is None or add.op_type != "Add":
                    continue
                other = next(name for name in add.input if name != node.output[0])
                if other in self.constants and self.constants[other].dim() == 1:
                    self.calls[add.output[0]] = ("linear", node.input[0], node.input[1], other)
                    gone.add(node.output[0])
            elif node.op_type == "Softmax" and node.input[0] in maker:
                scaled, last = maker[node.input[0]], only_reader(node)
                scale = self.constants.get(scaled.input[1]) if scaled.op_type in ("Mul", "Div") else None
                product = maker.get(scaled.input[0])
                if (scale is None or scale.dim() > 0 or product is None or product.op_type != "MatMul"
                        or only_reader(product) is not scaled or only_reader(scaled) is not node
                        or last is None or last.op_type != "MatMul" or last.input[0] != node.output[0]):
                    continue
                factor = float(scale) if scaled.op_type == "Mul" else 1 / float(scale)
                self.calls[last.output[0]] = ("attention", *product.input, last.input[1])
                self.scales[last.output[0]] = factor
                gone.update(part.output[0] for part in (product, scaled, node))
        self.nodes = [node for node in self.nodes if node.output[0] not in gone]

    def call(self, output: str, function: str, operands: list[torch.Tensor]) -> torch.Tensor:
        if function == "gelu":
            return F.gelu(*operands)
        if function == "linear":
            return F.linear(operands[0], operands[1].t(), operands[2])
        queries, keys, values = operands
        return F.scaled_dot_product_attention(queries, keys.transpose(-1, -2), values, scale=self.scales[output])

    def run(self, inputs: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        values = {**self.constants, **inputs}
        for node in self.nodes:
            call = self.calls.get(node.output[0])
            if call is not None:
                values[node.output[0]] = self.call(node.output[0], call[0], [values[name] for name in call[1:]])
                continue
            attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
            result = getattr(self, node.op_type)(node, [values.get(name) for name in node.input], attributes)
            results = [result] if isinstance(result, torch.Tensor) else result
            values.update(zip(node.output, results))
        return [values[name] for name in self.outputs]

    @staticmethod
    def padded(x: torch.Tensor, pads: list[int], value: float) -> tuple[torch.Tensor, list[int]]:
        """The pads that a function of PyTorch can take; other ones are added to the image."""
        half = len(pads) // 2
        if not pads or pads[:half] == pads[half:]:
            return x, pads[:half] or [0, 0]
        flat = [pad for axis in reversed(range(half)) for pad in (pads[axis], pads[half + axis])]
        return F.pad(x, flat, value=value), [0] * half

    def Conv(self, node, operands, attributes):
        x, pads = self.padded(operands[0], list(attributes.get("pads", [])), 0)
        return F.conv2d(x, operands[1], operands[2] if len(operands) > 2 else None, attributes.get("strides", [1, 1]), pads,
                        attributes.get("dilations", [1, 1]), attributes.get("group", 1))

    def BatchNormalization(self, node, operands, attributes):
        x, scale, shift, mean, variance = operands
        return F.batch_norm(x, mean, variance, scale, shift, self.training, 1 - attributes.get("momentum", 0.9),
                            attributes.get("epsilon", 1e-5))

    def MaxPool(self, node, operands, attributes):
        x, pads = self.padded(operands[0], list(attributes.get("pads", [])), -float("inf"))
        return F.max_pool2d(x, attributes["kernel_shape"], attributes.get("strides", [1, 1]), pads,
                            ceil_mode=bool(attributes.get("ceil_mode", 0)))

    def AveragePool(self, node, operands, attributes):
        pads = list(attributes.get("pads", [0, 0, 0, 0]))
        kernel, strides = attributes["kernel_shape"], attributes.get("strides", [1, 1])
        ceil = bool(attributes.get("ceil_mode", 0))
        if pads[:2] != pads[2:]:
            # PyTorch's pads are those of both sides. A last window that reaches over the end is what its ceil_mode adds.
            window_ends = [extent + pad - size for extent, pad, size in zip(operands[0].shape[2:], pads[2:], kernel)]
            assert pads == [0, 0, 1, 1] and not ceil and all(end % step == 0 for end, step in zip(window_ends, strides)), node
            pads, ceil = [0, 0], True
        return F.avg_pool2d(operands[0], kernel, strides, pads[:2], ceil, bool(attributes.get("count_include_pad", 0)))

    def GlobalAveragePool(self, node, operands, attributes):
        return F.adaptive_avg_pool2d(operands[0], 1)

    def Gemm(self, node, operands, attributes):
        a, b, c = operands
        return torch.addmm(c, a.t() if attributes.get("transA", 0) else a, b.t() if attributes.get("transB", 0) else b)

    def Pad(self, node, operands, attributes):
        assert attributes.get("mode", b"constant") == b"constant" and len(node.input) == 2, node
        pads = self.integers[node.input[1]]
        half = len(pads) // 2
        return F.pad(operands[0], [pad for axis in reversed(range(half)) for pad in (pads[axis], pads[half + axis])])

    def Slice(self, node, operands, attributes):
        starts, ends, axes, steps = (self.integers[name] for name in node.input[1:])
        x = operands[0]
        for start, end, axis, step in zip(starts, ends, axes, steps):
            x = x[(slice(None),) * axis + (slice(start, end, step),)]
        return x

    def Gather(self, node, operands, attributes):
        indices = self.integers[node.input[1]]
        assert len(indices) == 1, node
        return operands[0].select(attributes.get("axis", 0), indices[0])

    def Where(self, node, operands, attributes):
        return torch.where(*operands)

    def Pow(self, node, operands, attributes):
        return operands[0] ** operands[1].item()

    def Clip(self, node, operands, attributes):
        return torch.clamp(operands[0], operands[1].item(), operands[2].item())

    def LayerNormalization(self, node, operands, attributes):
        x, scale, shift = operands
        return F.layer_norm(x, scale.shape, scale, shift, attributes.get("epsilon", 1e-5))

    def Reshape(self, node, operands, attributes):
        shape = self.integers[node.input[1]]
        x = operands[0]
        return x.reshape([x.shape[i] if extent == 0 else extent for i, extent in enumerate(shape)])

    def Split(self, node, operands, attributes):
        sizes = self.integers[node.input[1]] if len(node.input) > 1 else None
        axis = attributes.get("axis", 0)
        return operands[0].split(sizes or operands[0].shape[axis] // len(node.output), axis)

    def Squeeze(self, node, operands, attributes):
        axes = self.integers[node.input[1]] if len(node.input) > 1 else attributes["axes"]
        return operands[0].squeeze(tuple(axes))

    def LSTM(self, node, operands, attributes):
        x, w, r, bias = operands
        zeros = x.new_zeros(1, x.shape[1], attributes["hidden_size"])
        state = self.constants[node.input[3] + "/state"]
        y, h, c = torch._VF.lstm(x, (zeros, zeros), [w, r, bias, state], True, 1, 0.0, True, False, False)
        return [y.unsqueeze(1), h, c]

    def Flatten(self, node, operands, attributes):
        return operands[0].flatten(attributes.get("axis", 1))

    def Transpose(self, node, operands, attributes):
        return operands[0].permute(*attributes["perm"])

    def Concat(self, node, operands, attributes):
        return torch.cat(operands, attributes["axis"])

    def Softmax(self, node, operands, attributes):
        return torch.softmax(operands[0], attributes.get("axis", -1))

    def Relu(self, node, operands, attributes):
        return F.relu(operands[0])

    def Sigmoid(self, node, operands, attributes):
        return torch.sigmoid(operands[0])

    def Tanh(self, node, operands, attributes):
        return torch.tanh(operands[0])

    def MatMul(self, node, operands, attributes):
        return operands[0] @ operands[1]

    def Add(self, node, operands, attributes):
        return operands[0] + operands[1]

    def Sub(self, node, operands, attributes):
        return operands[0] - operands[1]

    def Mul(self, node, operands, attributes):
        return operands[0] * operands[1]

    def Div(self, node, operands, attributes):
        return operands[0] / operands[1]
