"""Text decoders of transformers, and pairs of encoder and decoder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import transformers as hf

from architectures import Architecture, Input, tokens
from language import LENGTH, WORDS, ids, make, make_traceable, mask


class Step(torch.nn.Module):
    """One step of generation: takes and returns keys and values of the tokens before."""

    takes_varargs = True

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model.eval()

    def forward(self, ids: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        cache = hf.DynamicCache.from_legacy_cache(tuple(zip(past[::2], past[1::2])))
        result = self.model(input_ids=ids, past_key_values=cache, use_cache=True)
        present = result.past_key_values.to_legacy_cache()
        return (result.logits, *(value for layer in present for value in layer))


def _with_cache(name: str, opset: int, model: Callable, heads: int) -> Architecture:
    """Describes one step of generation of a two-layer decoder."""

    def build() -> torch.nn.Module:
        make_traceable()
        return Step(model())

    parts = [f"{part}.{layer}" for layer in range(2) for part in ("key", "value")]
    axes = {0: "batch", 2: "past"}
    past = [Input(f"past_{part}", (2, heads, LENGTH, 16), axes=axes) for part in parts]
    token = tokens(1, WORDS, batch="batch")
    outputs = ("logits", *(f"present_{part}" for part in parts))
    return Architecture(
        f"transformers_{name}_with_cache", "transformers", build, (token, *past), opset,
        outputs=outputs, output_axes={0: "batch"},
    )  # fmt: skip


def decoder_architectures() -> list[Architecture]:
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
    seq2seq = [ids(), ids(name="decoder_input_ids")]
    bloom = partial(hf.BloomConfig, vocab_size=WORDS, hidden_size=64, n_layer=2, n_head=4)
    return [
        make("gpt2", 13, hf.GPT2LMHeadModel, gpt2, [ids(), mask()], logits),
        make("gpt2_dynamo", 18, hf.GPT2LMHeadModel, gpt2, [ids(*axes)], logits, **dynamo),
        make("llama", 17, hf.LlamaForCausalLM, llama, [ids(), mask()], logits),
        make("llama_dynamo", 18, hf.LlamaForCausalLM, llama, [ids(*axes)], logits, **dynamo,
              attention="sdpa"),
        make("llama_dynamo_opset23", 23, hf.LlamaForCausalLM, llama, [ids()], logits,
              attention="sdpa", **dynamo),
        make("qwen2", 18, hf.Qwen2ForCausalLM, partial(hf.Qwen2Config, **wide,
              num_key_value_heads=2), [ids()], logits, **dynamo),
        make("gemma2", 18, hf.Gemma2ForCausalLM, partial(hf.Gemma2Config, **gqa), [ids()],
              logits, **dynamo),
        make("gpt_neox", 18, hf.GPTNeoXForCausalLM, partial(hf.GPTNeoXConfig, **wide),
              [ids()], logits, **dynamo),
        make("phi", 19, hf.PhiForCausalLM, partial(hf.PhiConfig, **wide), [ids()], logits,
              **dynamo),
        make("opt", 14, hf.OPTForCausalLM, opt, [ids()], logits),
        make("bloom", 14, hf.BloomForCausalLM, bloom, [ids()], logits),
        make("t5_encoder", 12, hf.T5EncoderModel, t5, [ids(*axes), mask(*axes)]),
        make("t5", 15, hf.T5ForConditionalGeneration, t5, seq2seq, logits),
        make("t5_dynamo", 18, hf.T5ForConditionalGeneration, t5, seq2seq, logits, **dynamo),
        make("bart", 16, hf.BartForConditionalGeneration, bart, seq2seq, logits),
        make("bart_dynamo", 18, hf.BartForConditionalGeneration, bart,
              [*seq2seq, mask(name="decoder_attention_mask")], logits, **dynamo),
        _with_cache("gpt2", 16, lambda: hf.GPT2LMHeadModel(gpt2()), 4),
        _with_cache("llama", 18, lambda: hf.LlamaForCausalLM(llama()), 2),
    ]  # fmt: skip
