// BERT as TASO has it: attention without softmax.
//
// Each layer is a cubic form of its input, and eight of them a form of degree 3^8 = 6561: an input twice as large makes
// an output 2^6561 times as large, whatever the weights are. So the weights are scaled against a reference input,
// standard normal as the tools' random inputs are, layer by layer, by running it through; another input of that kind
// then comes out finite and not zero, at a scale of its own.

#include <algorithm>
#include <cmath>

#include "isomer/base/rng.h"
#include "isomer/models/attention.h"
#include "isomer/models/networks.h"
#include "isomer/models/weights.h"

namespace isomer {
namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 1024;
constexpr int64_t kHeads = 16;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int kLayers = 8;

/// [kRows, kWidth]
using Matrix = std::vector<float>;

double root_mean_square(const Matrix& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

Matrix reference_input(uint64_t seed) {
  Rng rng(seed);
  Matrix x(kRows * kWidth);
  for (float& v : x) v = static_cast<float>(std::max(0.0, rng.normal()));
  return x;
}

/// x w, in blocks of columns that stay in the cache.
Matrix times(const Matrix& x, const Tensor& w) {
  constexpr int64_t block = 128;
  const float* weights = w.data<float>().data();
  Matrix y(kRows * kWidth, 0);
  for (int64_t first = 0; first < kWidth; first += block) {
    for (int64_t k = 0; k < kWidth; ++k) {
      const float* __restrict from = weights + k * kWidth + first;
      for (int64_t i = 0; i < kRows; ++i) {
        const float factor = x[static_cast<size_t>(i * kWidth + k)];
        float* __restrict to = y.data() + i * kWidth + first;
        for (int64_t j = 0; j < block; ++j) to[j] += factor * from[j];
      }
    }
  }
  return y;
}

/// (q k^T) v, head by head.
Matrix attend(const Matrix& q, const Matrix& k, const Matrix& v) {
  Matrix y(kRows * kWidth, 0);
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t i = 0; i < kRows; ++i) {
      const auto row = [&](int64_t n) { return static_cast<size_t>(n * kWidth + head * kHeadWidth); };
      for (int64_t j = 0; j < kRows; ++j) {
        float score = 0;
        for (size_t d = 0; d < kHeadWidth; ++d) score += q[row(i) + d] * k[row(j) + d];
        for (size_t d = 0; d < kHeadWidth; ++d) y[row(i) + d] += score * v[row(j) + d];
      }
    }
  }
  return y;
}

/// The four weights of a layer. Runs the reference input `x` through it, and scales the last weight so that it comes
/// out as large as it came in.
std::vector<Tensor> layer_weights(const std::string& name, uint64_t seed, Matrix& x) {
  const float radius = fan_in_radius(kWidth, 1);
  std::vector<Tensor> weights;
  for (const char* part : {"query", "key", "value"})
    weights.push_back(seeded_weight(name + part, {kWidth, kWidth}, 0, part[0] == 'v' ? radius : radius / 8, seed));
  const double size = root_mean_square(x);
  const Matrix heads = attend(times(x, weights[0]), times(x, weights[1]), times(x, weights[2]));
  const Tensor plain = seeded_weight(name + "output", {kWidth, kWidth}, 0, radius, seed);
  x = times(heads, plain);
  const auto factor = static_cast<float>(size / root_mean_square(x));
  for (float& v : x) v *= factor;
  weights.push_back(seeded_weight(name + "output", {kWidth, kWidth}, 0, radius * factor, seed));
  return weights;
}

void bert_8(Net& net, int64_t) {
  Matrix reference = reference_input(net.seed());
  ValueId x = net.relu(net.input("input", sequence_dims(net, kRows, kWidth)));
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".";
    const auto weights = layer_weights(name, net.seed(), reference);
    const ValueId q = net.matmul(x, net.constant(weights[0], name + "query"));
    const ValueId k = net.matmul(x, net.constant(weights[1], name + "key"));
    const ValueId v = net.matmul(x, net.constant(weights[2], name + "value"));
    const ValueId scores = net.matmul(split_heads(net, q, kHeads), split_heads(net, k, kHeads, true));
    const ValueId heads = join_heads(net, net.matmul(scores, split_heads(net, v, kHeads)));
    x = net.matmul(heads, net.constant(weights[3], name + "output"));
  }
  net.output(x, "output");
}

}  // namespace

std::vector<Network> linear_attention_networks() {
  return {{"bert-8", "8 layers of attention without softmax, as TASO and AutoGraph have BERT, 113 operators, [64,1024]",
           bert_8}};
}

}  // namespace isomer
