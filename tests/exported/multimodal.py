"""Speech, vision and vision-language models of transformers."""

from __future__ import annotations

from functools import partial

import torch
import transformers as hf

from architectures import Architecture, Input, tokens
from language import WORDS, make


def _whisper_encoder(config: hf.WhisperConfig) -> torch.nn.Module:
    """Returns only the encoder of Whisper."""
    return hf.WhisperModel(config).encoder


def multimodal_architectures() -> list[Architecture]:
    """Speech, vision and vision-language models."""
    size = {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128,
    }  # fmt: skip
    picture = Input("pixel_values", (1, 3, 64, 64))
    dynamo = {"exporter": "dynamo"}
    speech = Input("input_values", (1, 2000))
    whisper = partial(
        hf.WhisperConfig, d_model=64, encoder_layers=2, encoder_attention_heads=4,
        encoder_ffn_dim=128, num_mel_bins=20, max_source_positions=50, vocab_size=WORDS,
        decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=128,
        max_target_positions=32, bos_token_id=1, eos_token_id=2, pad_token_id=0,
        decoder_start_token_id=1,
    )  # fmt: skip
    mel = Input("input_features", (1, 20, 100))
    answer = tokens(8, WORDS, "decoder_input_ids")
    text = {**size, "vocab_size": WORDS, "max_position_embeddings": 16, "eos_token_id": 2,
            "bos_token_id": 1, "pad_token_id": 0}  # fmt: skip
    view = {**size, "image_size": 64, "patch_size": 16}
    clip = partial(hf.CLIPConfig, text_config=text, vision_config=view, projection_dim=32)
    wav2vec2 = partial(
        hf.Wav2Vec2Config, **size, conv_dim=(32, 32, 32), conv_stride=(5, 4, 2),
        conv_kernel=(10, 4, 3), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
    )  # fmt: skip
    segformer = partial(
        hf.SegformerConfig, hidden_sizes=[16, 32, 40, 64], depths=[1, 1, 1, 1],
        decoder_hidden_size=64, num_labels=20, id2label={i: str(i) for i in range(20)},
    )  # fmt: skip
    features = ["image_embeds", "text_embeds", "logits_per_image"]
    clip_inputs = [tokens(12, WORDS, low=3), picture]
    return [
        make("whisper_encoder", 17, _whisper_encoder, whisper, [mel]),
        make("whisper", 18, hf.WhisperForConditionalGeneration, whisper, [mel, answer],
              ["logits"], **dynamo),
        make("clip", 14, hf.CLIPModel, clip, clip_inputs, features),
        make("clip_dynamo", 18, hf.CLIPModel, clip, clip_inputs, features, **dynamo),
        make("wav2vec2", 13, hf.Wav2Vec2Model, wav2vec2, [speech]),
        make("segformer", 15, hf.SegformerForSemanticSegmentation, segformer, [picture],
              ["logits"]),
        make("beit", 17, hf.BeitModel, partial(hf.BeitConfig, **view,
              use_relative_position_bias=True), [picture]),
        make("dinov2", 20, hf.Dinov2Model, partial(hf.Dinov2Config, **size, image_size=64,
              patch_size=16), [picture]),
    ]  # fmt: skip
