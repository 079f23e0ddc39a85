"""Architectures of timm."""

from __future__ import annotations

from functools import partial

import timm

from architectures import Architecture, image


def _timm(name: str, size: int, opset: int, batch: str = "", **settings) -> Architecture:
    """A model by its timm name; a digit suffix keeps the real architecture."""
    fixed = settings.pop("fixed", {})
    model = "timm_" + name + ("_dynamo" if settings.get("exporter") == "dynamo" else "")
    build = partial(timm.create_model, name, pretrained=False, **fixed)
    axes = {0: batch} if batch else {}
    return Architecture(
        model, "timm", build, (image(size, batch),), opset, output_axes=axes, **settings
    )


def timm_architectures() -> list[Architecture]:
    """Returns the architectures of timm."""
    make = _timm
    sized = {"fixed": {"img_size": 64}}
    dynamo = {"exporter": "dynamo"}
    return [
        make("ghostnet_100", 64, 11),
        make("ghostnetv2_100", 64, 18, **dynamo),
        make("hrnet_w18_small", 64, 13),
        make("mixer_s32_224", 64, 14, "batch", **sized),
        make("levit_128s", 224, 16, keep_norm=True),
        make("deit_tiny_patch16_224", 64, 17, **sized),
        make("coat_tiny", 64, 17, **sized),
        make("xcit_nano_12_p16_224", 64, 15),
        make("edgenext_xx_small", 64, 16, "batch"),
        make("fastvit_t8", 64, 18, **dynamo),
        make("repvgg_a0", 64, 12, keep_norm=True),
        make("res2net50_14w_8s", 64, 11),
        make("eca_nfnet_l0", 64, 17),
        make("eva02_tiny_patch14_224", 56, 18, **dynamo, fixed={"img_size": 56}),
        make("mobilevit_xxs", 64, 18, "batch", **dynamo),
        make("poolformer_s12", 64, 14),
        make("efficientformer_l1", 224, 20, **dynamo),
        make("pvt_v2_b0", 64, 17),
        make("gmlp_ti16_224", 64, 14, **sized),
        make("cait_xxs24_224", 64, 19, **sized),
        make("resnest14d", 64, 13, keep_norm=True),
        make("skresnet18", 64, 11, "batch"),
        make("botnet26t_256", 64, 17, fixed={"img_size": 64}),
        make("lambda_resnet26rpt_256", 64, 16, fixed={"img_size": 64}),
        make("crossvit_tiny_240", 240, 14),
        make("tnt_s_legacy_patch16_224", 64, 15, **sized),
        make("twins_svt_small", 64, 18),
        make("focalnet_tiny_srf", 64, 17),
        make("davit_tiny", 64, 18, **dynamo),
        make("repvit_m0_9", 64, 20, keep_norm=True),
        make("efficientvit_b0", 64, 18, "batch", **dynamo),
        make("starnet_s1", 64, 17),
        make("mambaout_femto", 64, 18),
        make("volo_d1_224", 64, 18, **dynamo, **sized),
        make("visformer_tiny", 64, 13, **sized),
        make("hardcorenas_a", 64, 11, keep_norm=True),
        make("dla34", 64, 12),
        make("vovnet39a", 64, 15, keep_norm=True),
        make("mobilenetv4_conv_small", 64, 21, **dynamo, keep_notes=True),
        make("vit_tiny_patch16_224", 64, 23, **dynamo, **sized),
    ]
