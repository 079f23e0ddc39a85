// BERT as TASO has it: attention without softmax.
//
// Each layer is a cubic form of its input, and eight of them a form of degree 3^8 = 6561: an input larger by a
// hundredth makes an output 10^28 times as large, whatever the weights are. So that standard normal inputs come out
// finite and not zero, all weights are positive: then every layer sees little but the mean of its input, which hardly
// differs between inputs, and gives it back as it came.

#include <numbers>

#include "isomer/models/attention.h"
#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 1024;
constexpr int64_t kHeads = 16;
constexpr int kLayers = 8;

/// A product by a weight in [0, 2 center).
ValueId positive(Net& net, const std::string& name, ValueId x, double center) {
  const auto middle = static_cast<float>(center);
  return net.matmul(x, net.uniform(name, {kWidth, kWidth}, middle, middle));
}

void bert_8(Net& net, int64_t) {
  // The mean square of a row's mean, where elements are relu(normal): they have mean 1 / sqrt(2 pi) and variance pi - 1
  // times the square of it.
  const double square = (1 + (std::numbers::pi - 1) / kWidth) / (2 * std::numbers::pi);
  const double mean = 1.0 / kWidth;  // a weight that takes the mean
  // Rows with means m_i score kWidth / kHeads * m_i m_j in each head, and a sum over j makes that much of m_i:
  constexpr int64_t kGrowth = kWidth / kHeads * kRows;
  const double growth = static_cast<double>(kGrowth) * square;
  ValueId x = net.relu(net.input("input", sequence_dims(net, kRows, kWidth)));
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    const ValueId q = positive(net, name + "query", x, mean);
    const ValueId k = positive(net, name + "key", x, mean);
    const ValueId v = positive(net, name + "value", x, mean);
    const ValueId scores = net.matmul(split_heads(net, q, kHeads), split_heads(net, k, kHeads, true));
    const ValueId heads = join_heads(net, net.matmul(scores, split_heads(net, v, kHeads)));
    x = positive(net, name + "output", heads, mean / growth);
  }
  net.output(x, "output");
}

}  // namespace

std::vector<Network> linear_attention_networks() {
  return {{"bert-8", "8 layers of attention without softmax, as TASO and AutoGraph have BERT, 113 operators, [64,1024]",
           bert_8}};
}

}  // namespace isomer
