"""PaddlePaddle through paddle2onnx."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx
import paddle
import weights
from corpus import Model, versions
from paddle import nn
from paddle.nn import functional

EXPORTER = versions("paddle2onnx", "paddlepaddle")
IMAGE = [None, 3, 20, 20]


class Mobile(nn.Layer):
    def __init__(self, activation=functional.relu6) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2D(3, 8, 3, 2, 1, bias_attr=False), nn.BatchNorm2D(8)
        self.deep, self.norm2 = nn.Conv2D(8, 8, 3, padding=1, groups=8), nn.BatchNorm2D(8, epsilon=1e-3)
        self.activation = activation
        self.squeeze, self.excite, self.last = nn.Conv2D(8, 2, 1), nn.Conv2D(2, 8, 1), nn.Linear(8, 5)

    def forward(self, x):
        x = self.activation(self.norm(self.stem(x)))
        x = side = functional.relu6(self.norm2(self.deep(x)))
        gate = functional.relu(self.squeeze(functional.adaptive_avg_pool2d(x, 1)))
        x = side * functional.hardsigmoid(self.excite(gate))
        return functional.softmax(self.last(functional.adaptive_avg_pool2d(x, 1).flatten(1)))


class Text(nn.Layer):
    """As a reader of text lines has it: a convolution, then recurrence along the width."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.cells = nn.Conv2D(3, 6, 3, (20, 1), 1), nn.LSTM(6, 4, direction="bidirect")
        self.last = nn.Linear(8, 7)

    def forward(self, x):
        x = functional.leaky_relu(self.first(x)).squeeze(2).transpose([0, 2, 1])
        return functional.softmax(self.last(self.cells(x)[0]), axis=2)


class Attention(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.norm = nn.Embedding(17, 8), nn.LayerNorm(8, epsilon=1e-12)
        self.joined, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, ids):
        x = self.embed(ids)
        q, k, v = self.joined(self.norm(x)).reshape([0, 5, 3, 2, 4]).transpose([2, 0, 3, 1, 4]).unbind(0)
        mask = (ids == 0).astype("float32").unsqueeze([1, 2]) * -1e9
        scores = functional.softmax(paddle.matmul(q, k, transpose_y=True) * 0.5 + mask)
        x = x + self.out((scores @ v).transpose([0, 2, 1, 3]).reshape([0, 0, 8]))
        return functional.gelu(x), x.argmax(-1)


class Upsampled(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.up, self.norm = nn.Conv2D(3, 6, 3, 2, 1), nn.Conv2DTranspose(6, 4, 2, 2), nn.GroupNorm(2, 6)
        self.slope = nn.PReLU(4)

    def forward(self, x):
        x = self.slope(self.up(functional.silu(self.norm(self.down(x)))))
        x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)
        return paddle.clip(x, -0.3, 0.3)


class Detector(nn.Layer):
    """A head with anchors, and the suppression that keeps some boxes, or none."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.boxes, self.scores, self.threshold = nn.Conv2D(3, 4, 4, 4), nn.Conv2D(3, 2, 4, 4), threshold

    def forward(self, x):
        boxes = functional.sigmoid(self.boxes(x)).flatten(2).transpose([0, 2, 1])
        corners = paddle.concat([boxes[..., :2] - boxes[..., 2:] * 0.5, boxes[..., :2] + boxes[..., 2:] * 0.5], -1)
        scores = functional.sigmoid(self.scores(x)).flatten(2)
        best = scores.max(1)
        kept, places = paddle.topk(best, 5)
        return corners, paddle.where(kept > self.threshold, kept, paddle.zeros_like(kept)), places


def train_like(model: nn.Layer) -> None:
    for name, value in model.state_dict().items():
        value.set_value(weights.trained(name, value.numpy()))


def export(make, spec: list, kind: str, opset: int) -> onnx.ModelProto:
    model = make()
    train_like(model)
    model.eval()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        paddle.onnx.export(model, path, input_spec=[paddle.static.InputSpec(spec, kind, "x")], opset_version=opset)
        return onnx.load(f"{path}.onnx")


def models() -> list[Model]:
    layers = {
        "mobile": (Mobile, IMAGE, [7, 9, 13]), "mobile_swish": (lambda: Mobile(functional.hardswish), IMAGE, [14, 16]),
        "text": (Text, IMAGE, [9, 12]), "upsampled": (Upsampled, IMAGE, [11, 15]),
        "attention": (Attention, [None, 5], [9, 13, 16]), "detector": (lambda: Detector(0.5), [1, 3, 20, 20], [12, 16]),
        "detector_none": (lambda: Detector(1.5), [1, 3, 20, 20], [13]),
    }  # fmt: skip
    return [
        Model(f"paddle_{name}_opset{opset}",
              lambda make=make, spec=spec, name=name, opset=opset: export(make, spec, "int64" if name == "attention" else "float32", opset),
              choices={"x": [0, 1, 16]} if name == "attention" else {})
        for name, (make, spec, opsets) in layers.items()
        for opset in opsets
    ]  # fmt: skip
