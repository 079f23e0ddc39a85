"""PyTorch's TorchScript exporter of 1.13, at opsets 7 to 17, also with initializers kept as inputs and with batches of any size."""

from __future__ import annotations

import io
import warnings

import numpy as np
import onnx
import torch
import weights
from corpus import Model, versions
from torch import nn
from torch.nn import functional

EXPORTER = versions("torch")
IMAGE = (2, 3, 20, 20)


class Residual(nn.Module):
    """Convolutions with batch normalizations and shortcuts."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(8, eps=eps) for eps in (1e-5, 1e-3, 0.0 + 1e-12))
        self.middle = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1, groups=g) for g in (1, 8))
        self.last = nn.Linear(8, 5)

    def forward(self, x):
        x = functional.relu(self.norms[0](self.first(x)))
        for convolution, norm in zip(self.middle, self.norms[1:]):
            x = functional.relu6(norm(convolution(x)) + x)
        x = functional.adaptive_avg_pool2d(x, 1)
        return functional.softmax(self.last(torch.flatten(x, 1)), dim=1)


class Squeezed(nn.Module):
    """A squeeze-and-fire block; the classifier is a convolution, a global pool and a softmax over one pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.small, self.last = nn.Conv2d(3, 8, 3, 2), nn.Conv2d(8, 4, 1), nn.Conv2d(8, 5, 1)
        self.one, self.three = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.stem(x)), 3, 2, ceil_mode=True)
        x = functional.relu(self.small(x))
        x = torch.cat([functional.relu(self.one(x)), functional.relu(self.three(x))], 1)
        x = functional.avg_pool2d(functional.relu(self.last(x)), 4)
        return functional.softmax(x, dim=1)


class Upsampled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 6, 3, 2, 1), nn.ConvTranspose2d(6, 4, 4, 2, 1, bias=False)
        self.norm, self.slope = nn.InstanceNorm2d(6, affine=True), nn.PReLU(4)

    def forward(self, x):
        x = functional.leaky_relu(self.norm(self.down(x)), 0.1)
        x = self.slope(self.up(x))
        return torch.tanh(functional.interpolate(x, scale_factor=2.0, mode="nearest"))


class Shuffled(nn.Module):
    """Channel split and shuffle, by reshapes and transposes, with shapes read at run time."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3, padding=1, groups=4)
        self.stem = nn.Conv2d(3, 8, 1)

    def forward(self, x):
        a, b = self.stem(x).chunk(2, dim=1)
        x = torch.cat([self.left(a), functional.hardtanh(self.right(b))], 1)
        n, c, h, w = x.shape
        return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


class Attention(nn.Module):
    """A causal block with its mask in a buffer, and an output that shares the embedding."""

    def __init__(self, fill: float = float("-inf")) -> None:
        super().__init__()
        self.embed, self.joined, self.out = nn.Embedding(17, 8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.norm, self.fill = nn.LayerNorm(8, eps=1e-12), fill
        self.register_buffer("mask", torch.triu(torch.ones(5, 5), 1).bool())

    def forward(self, ids):
        x = self.embed(ids)
        q, k, v = (t.view(-1, 5, 2, 4).transpose(1, 2) for t in self.joined(self.norm(x)).split(8, 2))
        scores = (q @ k.transpose(2, 3) / 2.0).masked_fill(self.mask, self.fill)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, 5, 8))
        return functional.gelu(x) @ self.embed.weight.t()


class Recurrent(nn.Module):
    def __init__(self, kind=nn.LSTM) -> None:
        super().__init__()
        self.cells, self.last = kind(6, 4, num_layers=2, bidirectional=True), nn.Linear(8, 3)

    def forward(self, x):
        result, state = self.cells(x)
        return self.last(result), state[0] if isinstance(state, tuple) else state


class Tied(nn.Module):
    """An autoencoder whose second half has the first one's weights, transposed."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(9, 6)), nn.Parameter(torch.randn(6, 4))

    def forward(self, x):
        code = torch.sigmoid(torch.sigmoid(x @ self.a) @ self.b)
        return functional.linear(functional.linear(code, self.b), self.a), functional.linear(x, self.a.t())


class Mixed(nn.Module):
    """Indices at the edges, masks, sorts, reductions and comparisons."""

    def forward(self, x, ids):
        low = torch.finfo(torch.float32).min
        kept = torch.where(x > 0.2, x, torch.full_like(x, low))
        best, places = x.topk(2, dim=1)
        y = x[:, -1:] - x[..., :1] + x.mean(1, keepdim=True) * x.std(1, keepdim=True) + x.norm(dim=1, keepdim=True)
        return kept.softmax(1), best, places, y.clamp(-0.5, 0.5), x.index_select(1, ids), x.argmax(1), x.prod(1)


class Volume(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.Conv3d(4, 2, 1)

    def forward(self, x):
        x = functional.max_pool3d(functional.elu(self.norm(self.first(x))), 2)
        return functional.log_softmax(self.second(x), 1), functional.pad(x, (1, 0, 0, 2), value=0.5)


class Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Conv1d(3, 6, 3, dilation=2), nn.BatchNorm1d(6), nn.Conv1d(6, 6, 1, groups=3)
        self.groups = nn.GroupNorm(2, 6)

    def forward(self, x):
        x = functional.glu(self.norm(self.first(x)).repeat(1, 2, 1), 1)
        return self.groups(functional.softplus(self.second(x))).flatten(1).unsqueeze(1)


class Choice(nn.Module):
    """Control flow that scripting keeps."""

    def forward(self, x):
        for _ in range(int(x.size(0))):
            x = x * 0.5 + 1.0
        if bool(x.sum() > 3.0):
            x = x - 2.0
        else:
            x = -x
        return x


def image(shape=IMAGE) -> tuple:
    return (torch.rand(shape),)


NETWORKS = {
    "residual": (Residual, image()), "squeezed": (Squeezed, image()), "upsampled": (Upsampled, image()),
    "shuffled": (Shuffled, image()), "attention": (Attention, (torch.zeros(2, 5, dtype=torch.int64),)),
    "attention_least": (lambda: Attention(torch.finfo(torch.float32).min), (torch.ones(2, 5, dtype=torch.int64),)),
    "attention_1e9": (lambda: Attention(-1e9), (torch.ones(2, 5, dtype=torch.int64),)),
    "lstm": (Recurrent, (torch.rand(5, 2, 6),)), "gru": (lambda: Recurrent(nn.GRU), (torch.rand(5, 2, 6),)),
    "rnn": (lambda: Recurrent(nn.RNN), (torch.rand(5, 2, 6),)), "tied": (Tied, (torch.rand(3, 9),)),
    "mixed": (Mixed, (torch.rand(3, 6), torch.tensor([0, 5, 5]))), "volume": (Volume, (torch.rand(1, 2, 4, 6, 6),)),
    "sequence": (Sequence, (torch.rand(2, 3, 12),)), "choice": (Choice, (torch.rand(3, 4),)),
}  # fmt: skip


def train_like(model: nn.Module) -> None:
    for place, module in model.named_modules():
        kind = "norm " if "Norm" in type(module).__name__ else ""
        for name, value in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
            if value.is_floating_point():
                inputs = value[0].numel() if value.ndim > 1 else None
                made = weights.trained(f"{kind}{place}.{name}", value.detach().numpy(), inputs)
                value.data = torch.from_numpy(np.asarray(made))


def export(name: str, opset: int, *, dynamic: bool = False, **options) -> onnx.ModelProto:
    make, args = NETWORKS[name]
    model = make()
    train_like(model)
    model.eval()
    if name == "choice":
        model = torch.jit.script(model)
    names = ["x", "ids"][: len(args)]
    axes = {n: {0: "batch"} if n == "x" else {} for n in names} if dynamic else None
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, args, stream, opset_version=opset, input_names=names, dynamic_axes=axes, **options)
    return onnx.load_model_from_string(stream.getvalue())


def models() -> list[Model]:
    opsets = {
        "residual": [7, 8, 9, 10, 11, 12, 13, 17], "squeezed": [7, 9, 10, 13], "upsampled": [9, 10, 11], "shuffled": [9, 11, 16],
        "attention": [9, 12, 14], "attention_least": [10, 13], "attention_1e9": [11, 15], "lstm": [9, 11, 14], "gru": [9, 13],
        "rnn": [9, 15], "tied": [7, 11, 17], "mixed": [11, 13, 16], "volume": [9, 12, 17], "sequence": [9, 11, 14],
        "choice": [9, 13],
    }  # fmt: skip
    made = []
    for name, versions_of in opsets.items():
        edges = {"ids": [0, 5]} if name == "mixed" else {}
        ranges = {"x": (0.0, 17.0)} if name.startswith("attention") else {}
        for opset in versions_of:
            make = lambda name=name, opset=opset: export(name, opset)  # noqa: E731
            made.append(Model(f"torch113_{name}_opset{opset}", make, choices=edges, ranges=ranges))
    for name, opset in [("residual", 9), ("squeezed", 12), ("tied", 11), ("lstm", 12)]:
        make = lambda name=name, opset=opset: export(name, opset, keep_initializers_as_inputs=True)  # noqa: E731
        made.append(Model(f"torch113_{name}_initializers_as_inputs_opset{opset}", make))
    for name, opset in [("residual", 11), ("shuffled", 13), ("tied", 9), ("sequence", 17)]:
        make = lambda name=name, opset=opset: export(name, opset, dynamic=True)  # noqa: E731
        made.append(Model(f"torch113_{name}_any_batch_opset{opset}", make, sizes={"batch": 3}))
    plain = lambda: export("attention", 12, do_constant_folding=False)  # noqa: E731
    made.append(Model("torch113_attention_not_folded_opset12", plain, ranges={"x": (0.0, 17.0)}))
    return made
