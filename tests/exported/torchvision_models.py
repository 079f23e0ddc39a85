"""Architectures of torchvision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torchvision

from architectures import Architecture, Input, image


class FirstOutput(torch.nn.Module):
    """Returns only one entry of the dictionary which a segmentation model returns."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.model(image)["out"]


class Detector(torch.nn.Module):
    """Takes one image, and returns boxes, scores and labels of a detection model."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = self.model([image])[0]
        return found["boxes"], found["scores"], found["labels"]


class LastFlow(torch.nn.Module):
    """Returns the final estimate of an optical flow model."""

    def __init__(self, model: torch.nn.Module, updates: int) -> None:
        super().__init__()
        self.model, self.updates = model, updates

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return self.model(first, second, num_flow_updates=self.updates)[-1]


def _torchvision(name: str, size: int, opset: int, batch: str = "", **settings) -> Architecture:
    """A classifier by its torchvision name."""
    options = {"weights": None}
    if name in ("googlenet", "inception_v3"):
        options |= {"init_weights": False, "aux_logits": False}
    model = "torchvision_" + name
    if settings.get("exporter") == "dynamo":
        model += "_dynamo"
    model += settings.pop("suffix", "")
    dtype = "float16" if settings.get("half") else "float32"
    build = partial(torchvision.models.get_model, name, **options)
    axes = {0: batch} if batch else {}
    return Architecture(
        model, "torchvision", build, (image(size, batch, dtype=dtype),), opset,
        output_axes=axes, **settings,
    )  # fmt: skip


def _segmentation(name: str, size: int, opset: int, **settings) -> Architecture:
    """A segmentation model by its torchvision name."""

    def build() -> torch.nn.Module:
        return FirstOutput(
            torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=21)
        )

    model = "torchvision_" + name
    return Architecture(model, "torchvision", build, (image(size),), opset, **settings)


def _detection(name: str, size: int, opset: int, **options) -> Architecture:
    """A detection model by its torchvision name; ends in NonMaxSuppression."""

    def build() -> torch.nn.Module:
        return Detector(
            torchvision.models.get_model(name, weights=None, weights_backbone=None, **options)
        )

    inputs = (Input("image", (3, size, size), low=0, high=1),)
    outputs = ("boxes", "scores", "labels")
    model = "torchvision_" + name
    return Architecture(model, "torchvision", build, inputs, opset, outputs=outputs)


def _vit() -> torch.nn.Module:
    """A small vision transformer."""
    return torchvision.models.VisionTransformer(64, 16, 3, 4, 96, 192, num_classes=100)


def _swin(block: Callable | None = None) -> torch.nn.Module:
    """A small Swin transformer with shifted windows."""
    extra = {} if block is None else {
        "block": block, "downsample_layer": torchvision.models.swin_transformer.PatchMergingV2
    }  # fmt: skip
    return torchvision.models.SwinTransformer(
        [4, 4], 32, [2, 2, 2], [2, 4, 8], [4, 4], num_classes=100, **extra
    )


def _maxvit() -> torch.nn.Module:
    """A small MaxViT: convolution, window attention and grid attention."""
    return torchvision.models.MaxVit((64, 64), 32, 4, [32, 64], [1, 1], 16, 0.0, num_classes=50)


def torchvision_architectures() -> list[Architecture]:
    """Returns the architectures of torchvision."""
    make = _torchvision
    v2_block = torchvision.models.swin_transformer.SwinTransformerBlockV2
    flow = tuple(Input(name, (1, 3, 128, 128), low=-1, high=1) for name in ("first", "second"))
    clip = (Input("clip", (1, 3, 4, 48, 48)),)

    def raft() -> torch.nn.Module:
        return LastFlow(torchvision.models.optical_flow.raft_small(weights=None), 2)

    def video() -> torch.nn.Module:
        return torchvision.models.video.mc3_18(weights=None, num_classes=50)

    def own(name: str, build: Callable, opset: int, **settings) -> Architecture:
        return Architecture(
            f"torchvision_{name}", "torchvision", build, (image(64),), opset, **settings
        )

    dynamo = {"exporter": "dynamo"}
    return [
        make("resnet18", 64, 11),
        make("resnet50", 64, 18, "batch", **dynamo, keep_notes=True),
        make("mobilenet_v2", 64, 12, "batch", keep_norm=True),
        make("mobilenet_v3_small", 64, 14),
        make("mobilenet_v3_small", 64, 20, **dynamo),
        make("mobilenet_v3_small", 64, 17, suffix="_qdq", quantize="qdq"),
        make("squeezenet1_1", 64, 13, suffix="_qoperator", quantize="qoperator"),
        make("efficientnet_b0", 64, 13),
        make("efficientnet_v2_s", 64, 21, **dynamo),
        make("convnext_tiny", 64, 17),
        make("densenet121", 64, 11, keep_norm=True),
        make("shufflenet_v2_x1_0", 64, 15),
        make("shufflenet_v2_x0_5", 64, 18, "batch", **dynamo),
        make("squeezenet1_1", 64, 11),
        make("squeezenet1_0", 64, 17, suffix="_half", half=True),
        make("googlenet", 64, 16),
        make("inception_v3", 96, 17, keep_norm=True),
        make("regnet_y_400mf", 64, 18, "batch"),
        make("mnasnet0_5", 64, 19, "batch"),
        own("vit", _vit, 14),
        own("vit_dynamo", _vit, 18, **dynamo, keep_notes=True),
        own("swin", _swin, 17),
        own("swin_v2", partial(_swin, v2_block), 20),
        own("swin_dynamo", _swin, 22, **dynamo),
        own("maxvit", _maxvit, 20),
        _segmentation("deeplabv3_mobilenet_v3_large", 96, 13),
        _segmentation("fcn_resnet50", 64, 11),
        _segmentation("lraspp_mobilenet_v3_large", 96, 12),
        _detection("ssdlite320_mobilenet_v3_large", 320, 11, topk_candidates=20),
        _detection("fasterrcnn_mobilenet_v3_large_320_fpn", 160, 16, box_score_thresh=0.0),
        Architecture("torchvision_raft_small", "torchvision", raft, flow, 16),
        Architecture("torchvision_mc3_18", "torchvision", video, clip, 12, keep_norm=True),
    ]
