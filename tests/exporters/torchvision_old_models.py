"""Networks of torchvision 0.15 by PyTorch 2.0's TorchScript exporter: detections and classifiers at old opsets."""

from __future__ import annotations

import io
import warnings

import onnx
import torch
import torchvision
from corpus import Model, versions
from torch_old_models import train_like

EXPORTER = versions("torch", "torchvision")


class Boxes(torch.nn.Module):
    """A detector that gives its results as a tuple."""

    def __init__(self, make, **options) -> None:
        super().__init__()
        self.detector = make(weights=None, weights_backbone=None, num_classes=4, **options)

    def forward(self, x):
        found = self.detector([x])[0]
        return found["boxes"], found["scores"], found["labels"]


def export(make, shape: tuple, opset: int) -> onnx.ModelProto:
    torch.manual_seed(1)
    model = make().eval()
    train_like(model)
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (torch.rand(shape),), stream, opset_version=opset, input_names=["x"])
    return onnx.load_model_from_string(stream.getvalue())
def models() -> list[Model]:
    from torchvision import models as zoo

    ssd, rcnn = zoo.detection.ssdlite320_mobilenet_v3_large, zoo.detection.fasterrcnn_mobilenet_v3_large_320_fpn
    few = {"score_thresh": 0.02, "topk_candidates": 20, "detections_per_img": 8}
    none = {"score_thresh": 2.0, "topk_candidates": 20, "detections_per_img": 8}
    boxes = {"box_score_thresh": 0.02, "rpn_pre_nms_top_n_test": 30, "rpn_post_nms_top_n_test": 10}
    made = [
        ("ssdlite", lambda: Boxes(ssd, **few), (3, 160, 160), 11, True), ("ssdlite_none", lambda: Boxes(ssd, **none), (3, 160, 160), 16, True),
        ("faster_rcnn", lambda: Boxes(rcnn, **boxes, min_size=96, max_size=160), (3, 96, 128), 11, True),
    ]  # fmt: skip
    small = (1, 3, 64, 64)
    for name, opset in [("squeezenet1_1", 7), ("mobilenet_v2", 7), ("shufflenet_v2_x0_5", 9), ("mnasnet0_5", 8), ("mobilenet_v3_small", 12)]:
        made.append((name, lambda name=name: getattr(zoo, name)(weights=None), small, opset, False))
    return [
        Model(f"torchvision_{name}_opset{opset}", lambda m=make, s=shape, o=opset: export(m, s, o),
              ranges={"x": (0.0, 1.0)}, unstable=detects)
        for name, make, shape, opset, detects in made
    ]  # fmt: skip
