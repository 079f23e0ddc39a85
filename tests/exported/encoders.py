"""Text encoders of transformers, with few layers and narrow ones."""

from __future__ import annotations

from functools import partial

import transformers as hf

from architectures import Architecture, tokens
from language import LENGTH, WORDS, ids, make, mask


def encoder_architectures() -> list[Architecture]:
    """Text encoders."""
    size = {
        "vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128, "max_position_embeddings": 64,
    }  # fmt: skip
    small = {"vocab_size": WORDS, "max_position_embeddings": 64}
    axes = ("batch", "sequence")
    pair = [ids(), mask()]
    open_pair = [ids(*axes), mask(*axes)]
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
        make("bert", 11, hf.BertModel, bert, [*open_pair, types], both),
        make("bert_sdpa", 14, hf.BertModel, bert, pair, both, attention="sdpa"),
        make("bert_dynamo", 18, hf.BertModel, bert, open_pair, both, attention="sdpa", **dynamo,
              keep_notes=True),
        make("bert_dynamic_quantized", 13, hf.BertModel, bert, open_pair, quantize="dynamic"),
        make("bert_half", 17, hf.BertModel, bert, [ids()], half=True),
        make("distilbert", 12, hf.DistilBertModel, distil, pair),
        make("roberta", 13, hf.RobertaModel, partial(hf.RobertaConfig, **size), open_pair),
        make("electra", 15, hf.ElectraModel,
              partial(hf.ElectraConfig, **size, embedding_size=32), pair),
        make("albert", 16, hf.AlbertModel, partial(hf.AlbertConfig, **size, embedding_size=32),
              pair, both),
        make("mobilebert", 14, hf.MobileBertModel, mobile, pair),
        make("mpnet", 17, hf.MPNetModel, partial(hf.MPNetConfig, **size), pair),
        make("deberta", 17, hf.DebertaV2Model, deberta, [ids(), mask(low=1)]),
        make("squeezebert", 13, hf.SqueezeBertModel,
              partial(hf.SqueezeBertConfig, **size, embedding_size=64), pair),
        make("convbert", 14, hf.ConvBertModel,
              partial(hf.ConvBertConfig, **size, embedding_size=64), pair),
        make("xlnet", 12, hf.XLNetModel,
              partial(hf.XLNetConfig, vocab_size=WORDS, d_model=64, n_layer=2, n_head=4,
                      d_inner=128), [ids()]),
        make("modernbert", 18, hf.ModernBertModel,
              partial(hf.ModernBertConfig, **size, pad_token_id=0, global_attn_every_n_layers=2,
                      reference_compile=False), [ids()], **dynamo),
    ]  # fmt: skip
