"""What happens to a model before and after its export."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx
import torch
import torchvision

from architectures import DTYPES, Architecture, Input


def randomise(model: torch.nn.Module) -> None:
    """Gives weights that start out constant varied values, so that each one matters."""
    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        if not value.is_floating_point() or value.numel() == 0:
            continue
        data = value.data
        if name.endswith("running_mean"):
            data.normal_(0, 0.1)
        elif name.endswith("running_var"):
            data.uniform_(0.5, 1.5)
        elif isinstance(value, torch.nn.Parameter) and (data == data.flatten()[0]).all():
            start = float(data.flatten()[0])
            if start == 0:
                data.normal_(0, 0.05)
            elif abs(start) < 0.01:  # layer scales start too small to have an effect
                data.uniform_(0.1, 0.5)
            else:
                data.mul_(torch.empty_like(data).uniform_(0.5, 1.5))


def calibrate(model: torch.nn.Module, args: tuple) -> None:
    """Sets the statistics of batch normalisations so that activations keep their scale.

    They divide by about the root mean square of all channels and subtract little: what
    these very weights produce in one channel does not hold for the regenerated weights.
    """

    def measure(module: torch.nn.Module, values: tuple) -> None:
        square = values[0].square().mean() + 1e-6
        module.running_mean.normal_(0, 0.1).mul_(square.sqrt())
        module.running_var.uniform_(0.7, 1.3).mul_(square)

    kinds = (torch.nn.modules.batchnorm._BatchNorm, torchvision.ops.FrozenBatchNorm2d)
    hooks = [m.register_forward_pre_hook(measure) for m in model.modules() if isinstance(m, kinds)]
    model(*args)
    for hook in hooks:
        hook.remove()


def example(item: Input) -> torch.Tensor:
    """Makes a tensor to trace with."""
    dtype = DTYPES[item.dtype]
    values = torch.rand(item.shape) * (item.high - item.low) + item.low
    return values.to(dtype) if dtype.is_floating_point else values.floor().to(dtype)


def quantize(model: onnx.ModelProto, arch: Architecture) -> onnx.ModelProto:
    """Quantizes an exported model with ONNX Runtime's tools."""
    from onnxruntime import quantization as q

    class Samples(q.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = [{i.name: example(i).numpy() for i in arch.inputs} for _ in range(4)]

        def get_next(self) -> dict | None:
            return self.left.pop() if self.left else None

    with tempfile.TemporaryDirectory() as folder:
        source, prepared, target = (str(Path(folder) / f"{n}.onnx") for n in "abc")
        onnx.save(model, source)
        q.shape_inference.quant_pre_process(source, prepared, skip_symbolic_shape=True)
        if arch.quantize == "dynamic":
            q.quantize_dynamic(prepared, target)
        else:
            style = q.QuantFormat.QDQ if arch.quantize == "qdq" else q.QuantFormat.QOperator
            q.quantize_static(
                prepared, target, Samples(), quant_format=style,
                per_channel=arch.quantize == "qdq",
            )  # fmt: skip
        return onnx.load(target)
