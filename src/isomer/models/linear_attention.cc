// BERT as in TASO: attention without softmax.
//
// Each layer is a cubic form of its input, and eight of them are a form of degree 3^8 = 6561. An input that is larger
// by 1% therefore makes the output 10^28 times as large, whatever the weights are. All weights are positive, so that
// standard normal inputs give finite outputs other than zero: every layer then sees little more than the mean of its
// input, which hardly differs between inputs, and preserves it.

#include <numbers>

#include "isomer/models/attention.h"
#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kModelWidth = 1024;
constexpr int64_t kModelHeads = 16;
constexpr int kLayers = 8;

/// A product with a weight in [0, 2 center).
ValueId positive(Net& net, const std::string& name, ValueId x, double center) {
  const auto middle = static_cast<float>(center);
  return net.matmul(x, net.uniform(name, {kModelWidth, kModelWidth}, middle, middle));
}

void bert_8(Net& net, int64_t) {
  // The mean square of a row's mean, where elements are relu(normal). These have mean 1 / sqrt(2 pi), and a variance of
  // pi - 1 times the square of the mean.
  const double square = (1 + (std::numbers::pi - 1) / kModelWidth) / (2 * std::numbers::pi);
  const double mean = 1.0 / kModelWidth;  // a weight that computes the mean
  // Rows with means m_i have scores of kModelWidth / kModelHeads * m_i m_j in each head. A sum over j multiplies m_i
  // by:
  constexpr int64_t kGrowth = kModelWidth / kModelHeads * kRows;
  const double growth = static_cast<double>(kGrowth) * square;
  ValueId x = net.relu(net.input("input", sequence_dims(net, kRows, kModelWidth)));
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    const ValueId q = positive(net, name + "query", x, mean);
    const ValueId k = positive(net, name + "key", x, mean);
    const ValueId v = positive(net, name + "value", x, mean);
    const ValueId scores = net.matmul(split_heads(net, q, kModelHeads), split_heads(net, k, kModelHeads, true));
    const ValueId heads = join_heads(net, net.matmul(scores, split_heads(net, v, kModelHeads)));
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
