// BERT-base's encoder and blocks of GPT-2.

#include "isomer/models/attention.h"
#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr int64_t kTextWidth = 768;
constexpr int64_t kTextHeads = 12;
constexpr double kTextGain = 0.5;  // of the last projection in a residual branch; keeps sums from growing

ValueId bert_layer(Net& net, const std::string& name, ValueId x) {
  const std::string self = name + ".attention.self.";
  const ValueId q = net.project(self + "query", x, kTextWidth);
  const ValueId k = net.project(self + "key", x, kTextWidth);
  const ValueId v = net.project(self + "value", x, kTextWidth);
  ValueId y = net.project(name + ".attention.output.dense", attention(net, q, k, v, kTextHeads), kTextWidth);
  x = net.layer_norm(name + ".attention.output.LayerNorm", net.sum(y, x), 1e-12F);
  y = net.gelu(net.project(name + ".intermediate.dense", x, 4 * kTextWidth));
  y = net.project(name + ".output.dense", y, kTextWidth);
  return net.layer_norm(name + ".output.LayerNorm", net.sum(y, x), 1e-12F);
}

void bert_base(Net& net, int64_t length) {
  ValueId x = net.input("hidden_states", sequence_dims(net, length == 0 ? 64 : length, kTextWidth));
  for (int i = 0; i < 12; ++i) x = bert_layer(net, "encoder.layer." + std::to_string(i), x);
  net.output(x, "last_hidden_state");
}

/// True where position j is not later than position i.
Tensor causal_mask(int64_t length) {
  Tensor mask = Tensor::zeros(DType::Bool, {length, length});
  const auto elements = mask.mutable_data<uint8_t>();
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j <= i; ++j) elements[static_cast<size_t>(i * length + j)] = 1;
  return mask;
}

ValueId gpt2_block(Net& net, const std::string& name, ValueId x, ValueId mask) {
  const Ints thirds(3, kTextWidth);
  ValueId y = net.project(name + ".attn.c_attn", net.layer_norm(name + ".ln_1", x, 1e-5F), 3 * kTextWidth);
  const auto qkv = net.add_many("Split", {{"axis", int64_t{-1}}, {"split", thirds}}, {y}, 3);
  y = attention(net, qkv[0], qkv[1], qkv[2], kTextHeads, mask);
  x = net.sum(net.project(name + ".attn.c_proj", y, kTextWidth, kTextGain), x);
  y = net.project(name + ".mlp.c_fc", net.layer_norm(name + ".ln_2", x, 1e-5F), 4 * kTextWidth);
  return net.sum(x, net.project(name + ".mlp.c_proj", net.gelu_tanh(y), kTextWidth, kTextGain));
}

void gpt2_4(Net& net, int64_t) {
  constexpr int64_t length = 128;
  ValueId x = net.input("hidden_states", sequence_dims(net, length, kTextWidth));
  const ValueId mask = net.constant(causal_mask(length), "mask");
  for (int i = 0; i < 4; ++i) x = gpt2_block(net, "h." + std::to_string(i), x, mask);
  net.output(x, "last_hidden_state");
}

}  // namespace

std::vector<Network> transformer_networks() {
  return {
      {"bert-base", "BERT-base's 12 layers (Devlin et al. 2018), embedded input [64,768]", bert_base},
      {"bert-base-", "the same for another length, [S,768]", bert_base, {128}, 4096},
      {"gpt2-4", "4 blocks of GPT-2 (Radford et al. 2019), embedded input [128,768]", gpt2_4},
  };
}

}  // namespace isomer
