"""Architectures of transformers, with few layers and narrow ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import transformers as hf

from architectures import Architecture, Input, tokens

WORDS = 300
LENGTH = 12


class Pick(torch.nn.Module):
    """Calls a model by keyword, and returns the named fields of what it returns."""

    takes_varargs = True

    def __init__(self, model: torch.nn.Module, names: list[str], fields: list[str]) -> None:
        super().__init__()
        self.model, self.names, self.fields = model, names, fields

    def forward(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = self.model(**dict(zip(self.names, values)), return_dict=True)
        return tuple(result[name] for name in self.fields)


def _make(
    name: str, opset: int, kind: type, config: Callable, inputs: list[Input],
    fields: list[str] | None = None, attention: str = "eager", frozen: dict | None = None,
    **settings,
) -> Architecture:
    """Describes a transformers model of class `kind` with the given configuration."""
    outputs = fields or ["last_hidden_state"]

    def build() -> torch.nn.Module:
        made = config()
        made._attn_implementation = attention
        if hasattr(made, "use_cache"):
            made.use_cache = False
        model = kind(made)
        for key, value in (frozen or {}).items():
            setattr(model, key, value)
        return Pick(model, [item.name for item in inputs], outputs)

    batch = {0: "batch"} if any("batch" in item.axes.values() for item in inputs) else {}
    return Architecture(
        name="transformers_" + name, library="transformers", build=build, inputs=tuple(inputs),
        opset=opset, outputs=tuple(outputs), output_axes=batch, **settings,
    )  # fmt: skip


def _ids(batch: str = "", sequence: str = "", name: str = "input_ids") -> Input:
    return tokens(LENGTH, WORDS, name, batch, sequence, low=3)


def _mask(batch: str = "", sequence: str = "", low: int = 0, name="attention_mask") -> Input:
    return tokens(LENGTH, 2, name, batch, sequence, low)


def _encoders() -> list[Architecture]:
    """Text encoders."""
    size = {
        "vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128, "max_position_embeddings": 64,
    }  # fmt: skip
    small = {"vocab_size": WORDS, "max_position_embeddings": 64}
    axes = ("batch", "sequence")
    pair = [_ids(), _mask()]
    open_pair = [_ids(*axes), _mask(*axes)]
    bert = partial(hf.BertConfig, **size)
    types = tokens(LENGTH, 2, "token_type_ids", *axes)
    both = ["last_hidden_state", "pooler_output"]
    dynamo = {"exporter": "dynamo"}
    distil = partial(hf.DistilBertConfig, **small, dim=64, n_layers=2, n_heads=4, hidden_dim=128)
    mobile = partial(
        hf.MobileBertConfig, vocab_size=WORDS, num_hidden_layers=2, hidden_size=64,
        num_attention_heads=4, intermediate_size=128, embedding_size=32,
        intra_bottleneck_size=32,
    )  # fmt: skip
    deberta = partial(
        hf.DebertaV2Config, **size, relative_attention=True, position_buckets=16,
        pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm", share_att_key=True,
    )  # fmt: skip
    return [
        _make("bert", 11, hf.BertModel, bert, [*open_pair, types], both),
        _make("bert_sdpa", 14, hf.BertModel, bert, pair, both, attention="sdpa"),
        _make("bert_dynamo", 18, hf.BertModel, bert, open_pair, both, attention="sdpa", **dynamo,
              keep_notes=True),
        _make("bert_dynamic_quantized", 13, hf.BertModel, bert, open_pair, quantize="dynamic"),
        _make("bert_half", 17, hf.BertModel, bert, [_ids()], half=True),
        _make("distilbert", 12, hf.DistilBertModel, distil, pair),
        _make("roberta", 13, hf.RobertaModel, partial(hf.RobertaConfig, **size), open_pair),
        _make("electra", 15, hf.ElectraModel,
              partial(hf.ElectraConfig, **size, embedding_size=32), pair),
        _make("albert", 16, hf.AlbertModel, partial(hf.AlbertConfig, **size, embedding_size=32),
              pair, both),
        _make("mobilebert", 14, hf.MobileBertModel, mobile, pair),
        _make("mpnet", 17, hf.MPNetModel, partial(hf.MPNetConfig, **size), pair),
        _make("deberta", 17, hf.DebertaV2Model, deberta, [_ids(), _mask(low=1)]),
        _make("squeezebert", 13, hf.SqueezeBertModel,
              partial(hf.SqueezeBertConfig, **size, embedding_size=64), pair),
        _make("convbert", 14, hf.ConvBertModel,
              partial(hf.ConvBertConfig, **size, embedding_size=64), pair),
        _make("xlnet", 12, hf.XLNetModel,
              partial(hf.XLNetConfig, vocab_size=WORDS, d_model=64, n_layer=2, n_head=4,
                      d_inner=128), [_ids()]),
        _make("modernbert", 18, hf.ModernBertModel,
              partial(hf.ModernBertConfig, **size, pad_token_id=0, global_attn_every_n_layers=2,
                      reference_compile=False), [_ids()], **dynamo),
    ]  # fmt: skip


def _decoders() -> list[Architecture]:
    """Text decoders and encoder-decoder pairs."""
    size = {
        "vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "max_position_embeddings": 64,
    }  # fmt: skip
    wide = {**size, "intermediate_size": 128}
    gqa = {**wide, "num_key_value_heads": 2, "head_dim": 16}
    special = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    axes = ("batch", "sequence")
    dynamo = {"exporter": "dynamo"}
    logits = ["logits"]
    gpt2 = partial(hf.GPT2Config, vocab_size=WORDS, n_embd=64, n_layer=2, n_head=4, n_positions=64)
    t5 = partial(hf.T5Config, vocab_size=WORDS, d_model=64, d_kv=16, d_ff=128, num_layers=2,
                 num_heads=4, decoder_start_token_id=0)  # fmt: skip
    bart = partial(
        hf.BartConfig, vocab_size=WORDS, d_model=64, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
        decoder_ffn_dim=128, max_position_embeddings=64, **special,
    )  # fmt: skip
    opt = partial(hf.OPTConfig, **size, ffn_dim=128, word_embed_proj_dim=64, **special)
    llama = partial(hf.LlamaConfig, **gqa)
    seq2seq = [_ids(), _ids(name="decoder_input_ids")]
    bloom = partial(hf.BloomConfig, vocab_size=WORDS, hidden_size=64, n_layer=2, n_head=4)
    return [
        _make("gpt2", 13, hf.GPT2LMHeadModel, gpt2, [_ids()], logits),
        _make("gpt2_dynamo", 18, hf.GPT2LMHeadModel, gpt2, [_ids(*axes)], logits, **dynamo),
        _make("llama", 17, hf.LlamaForCausalLM, llama, [_ids()], logits),
        _make("llama_dynamo", 18, hf.LlamaForCausalLM, llama, [_ids(*axes)], logits, **dynamo,
              attention="sdpa"),
        _make("llama_dynamo_opset23", 23, hf.LlamaForCausalLM, llama, [_ids()], logits,
              attention="sdpa", **dynamo),
        _make("qwen2", 18, hf.Qwen2ForCausalLM, partial(hf.Qwen2Config, **wide,
              num_key_value_heads=2), [_ids()], logits, **dynamo),
        _make("gemma2", 18, hf.Gemma2ForCausalLM, partial(hf.Gemma2Config, **gqa), [_ids()],
              logits, **dynamo),
        _make("gpt_neox", 18, hf.GPTNeoXForCausalLM, partial(hf.GPTNeoXConfig, **wide),
              [_ids()], logits, **dynamo),
        _make("phi", 19, hf.PhiForCausalLM, partial(hf.PhiConfig, **wide), [_ids()], logits,
              **dynamo),
        _make("opt", 14, hf.OPTForCausalLM, opt, [_ids()], logits),
        _make("bloom", 14, hf.BloomForCausalLM, bloom, [_ids()], logits),
        _make("t5_encoder", 11, hf.T5EncoderModel, t5, [_ids(*axes), _mask(*axes)]),
        _make("t5", 15, hf.T5ForConditionalGeneration, t5, seq2seq, logits),
        _make("t5_dynamo", 18, hf.T5ForConditionalGeneration, t5, seq2seq, logits, **dynamo),
        _make("bart", 16, hf.BartForConditionalGeneration, bart, seq2seq, logits),
        _make("bart_dynamo", 18, hf.BartForConditionalGeneration, bart, seq2seq, logits, **dynamo),
    ]  # fmt: skip


def _others() -> list[Architecture]:
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
        _make("whisper_encoder", 17, _whisper_encoder, whisper, [mel]),
        _make("whisper", 18, hf.WhisperForConditionalGeneration, whisper, [mel, answer],
              ["logits"], **dynamo),
        _make("clip", 14, hf.CLIPModel, clip, clip_inputs, features),
        _make("clip_dynamo", 18, hf.CLIPModel, clip, clip_inputs, features, **dynamo),
        _make("wav2vec2", 13, hf.Wav2Vec2Model, wav2vec2, [speech]),
        _make("segformer", 15, hf.SegformerForSemanticSegmentation, segformer, [picture],
              ["logits"]),
        _make("beit", 17, hf.BeitModel, partial(hf.BeitConfig, **view,
              use_relative_position_bias=True), [picture]),
        _make("dinov2", 20, hf.Dinov2Model, partial(hf.Dinov2Config, **size, image_size=64,
              patch_size=16), [picture]),
    ]  # fmt: skip


def _whisper_encoder(config: hf.WhisperConfig) -> torch.nn.Module:
    """Returns only the encoder of Whisper."""
    return hf.WhisperModel(config).encoder


def language_architectures() -> list[Architecture]:
    """Returns the architectures of transformers."""
    return [*_encoders(), *_decoders(), *_others()]
