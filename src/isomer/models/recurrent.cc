// Recurrent networks: NasRNN, LSTM layers, and networks made of SRU cells (Lei et al. 2017).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr int64_t kNasHidden = 512;
constexpr int kNasSteps = 5;

/// Inputs of equal extents, named name0, name1, ...
std::vector<ValueId> inputs(Net& net, const std::string& name, int count, const Ints& dims) {
  std::vector<ValueId> values;
  values.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values.push_back(net.input(name + std::to_string(i), dims));
  return values;
}

/// t = x W + s U, eight times.
std::vector<ValueId> nas_gates(Net& net, const std::string& name, ValueId x, ValueId s) {
  std::vector<ValueId> t;
  t.reserve(8);
  for (int i = 0; i < 8; ++i) {
    t.push_back(net.sum(net.matmul_weight(fmt::format("{}w{}", name, i), x, kNasHidden),
                        net.matmul_weight(fmt::format("{}u{}", name, i), s, kNasHidden)));
  }
  return t;
}

ValueId nas_step(Net& net, const std::string& name, ValueId x, ValueId s) {
  const auto t = nas_gates(net, name, x, s);
  const ValueId m0 = net.sum(net.relu(t[0]), net.sigmoid(t[3]));
  const ValueId m1 = net.sum(net.sigmoid(t[1]), net.tanh(t[2]));
  const ValueId m2 = net.product(net.sigmoid(t[4]), net.tanh(t[5]));
  const ValueId m3 = net.product(net.sigmoid(t[6]), net.relu(t[7]));
  const ValueId m4 = net.sum(net.sigmoid(m1), net.tanh(m2));
  const ValueId m5 = net.product(net.tanh(m0), net.tanh(m3));
  const ValueId m6 = net.product(net.tanh(m4), net.tanh(m5));
  return net.tanh(m6);
}

/// The state before the first step is a weight, as in TASO.
void nasrnn_steps(Net& net, bool tied) {
  const auto x = inputs(net, "x", kNasSteps, {net.batch(), kNasHidden});
  ValueId s = net.uniform("state", {1, kNasHidden}, 1);
  for (int i = 0; i < kNasSteps; ++i) s = nas_step(net, tied ? "" : "step" + std::to_string(i) + ".", x[i], s);
  net.output(s, "output");
}

void nasrnn(Net& net, int64_t) { nasrnn_steps(net, true); }
void nasrnn_untied(Net& net, int64_t) { nasrnn_steps(net, false); }

constexpr int64_t kSruHidden = 1024;

struct SruState {
  ValueId h;
  ValueId c;
};

/// z = x W; f = sigmoid(x W_f + b_f); r = sigmoid(x W_r + b_r); c' = f c + (1-f) z; h = r c' + (1-r) x.
SruState sru_cell(Net& net, const std::string& name, ValueId x, ValueId c) {
  const auto mix = [&](ValueId gate, ValueId a, ValueId b) {
    const ValueId rest = net.add("Sub", {}, {net.scalar(1), gate});
    return net.sum(net.product(gate, a), net.product(rest, b));
  };
  const ValueId z = net.matmul_weight(name + "w.weight", x, kSruHidden);
  const ValueId f = net.sigmoid(net.project(name + "wf", x, kSruHidden));
  const ValueId r = net.sigmoid(net.project(name + "wr", x, kSruHidden));
  const ValueId next = mix(f, c, z);
  return {mix(r, next, x), next};
}

/// OCGGS's form of 11 operators: no biases, c' = f c + f z, h = r c' + r x.
SruState sru_cell_11(Net& net, ValueId x, ValueId c) {
  const ValueId z = net.matmul_weight("w.weight", x, kSruHidden);
  const ValueId f = net.sigmoid(net.matmul_weight("wf.weight", x, kSruHidden));
  const ValueId r = net.sigmoid(net.matmul_weight("wr.weight", x, kSruHidden));
  const ValueId next = net.sum(net.product(f, c), net.product(f, z));
  return {net.sum(net.product(r, next), net.product(r, x)), next};
}

/// Extents of an input: the number of rows in the name ("-m10"), times the batch size.
Ints sru_dims(const Net& net, int64_t rows) { return {net.batch() * std::max<int64_t>(rows, 1), kSruHidden}; }

void sru(Net& net, int64_t rows) {
  const ValueId x = net.input("x", sru_dims(net, rows));
  const SruState out = sru_cell(net, "", x, net.input("c", sru_dims(net, rows)));
  net.output(out.h, "h");
  net.output(out.c, "c_next");
}

void sru_11(Net& net, int64_t) {
  const ValueId x = net.input("x", sru_dims(net, 1));
  const SruState out = sru_cell_11(net, x, net.input("c", sru_dims(net, 1)));
  net.output(out.h, "h");
  net.output(out.c, "c_next");
}

constexpr int kSruSteps = 10;

/// One recurrent layer over a text of 10 words: 10 cells with shared weights.
void rnntc(Net& net, int64_t rows) {
  const auto words = inputs(net, "x", kSruSteps, sru_dims(net, rows));
  ValueId c = net.input("c", sru_dims(net, rows));
  for (int i = 0; i < kSruSteps; ++i) {
    const SruState state = sru_cell(net, "", words[i], c);
    net.output(state.h, "h" + std::to_string(i));
    c = state.c;
  }
  net.output(c, "c_next");
}

/// Two recurrent layers read 10 words, and two others write 10. The decoder starts from the encoder's states, and each
/// of its steps reads the output of the previous step.
void nmt(Net& net, int64_t rows) {
  const auto words = inputs(net, "x", kSruSteps, sru_dims(net, rows));
  std::vector<ValueId> c = inputs(net, "c", 2, sru_dims(net, rows));
  const auto step = [&](const std::string& name, ValueId x) {
    for (int layer = 0; layer < 2; ++layer) {
      const SruState state = sru_cell(net, name + ".layer" + std::to_string(layer) + ".", x, c[layer]);
      x = state.h;
      c[layer] = state.c;
    }
    return x;
  };
  ValueId h = kNoValue;
  for (int i = 0; i < kSruSteps; ++i) {
    h = step("encoder", words[i]);
    net.output(h, "h" + std::to_string(i));
  }
  for (int i = 0; i < kSruSteps; ++i) {
    h = step("decoder", h);
    net.output(h, "y" + std::to_string(i));
  }
}

constexpr int64_t kLstmSteps = 32, kLstmHidden = 512;

/// Classification of sequences: two layers, and a linear one over the last state.
void lstm(Net& net, int64_t) {
  ValueId x = net.input("x", {kLstmSteps, net.batch(), kLstmHidden});
  ValueId last = kNoValue;
  for (int layer = 0; layer < 2; ++layer) {
    const std::string name = fmt::format("lstm.layer{}.", layer);
    const float radius = 1 / std::sqrt(static_cast<float>(kLstmHidden));
    const ValueId w = net.uniform(name + "weight_ih", {1, 4 * kLstmHidden, kLstmHidden}, radius);
    const ValueId r = net.uniform(name + "weight_hh", {1, 4 * kLstmHidden, kLstmHidden}, radius);
    const ValueId bias = net.uniform(name + "bias", {1, 8 * kLstmHidden}, radius);
    const auto states = net.add_many("LSTM", {{"hidden_size", kLstmHidden}}, {x, w, r, bias}, 2);
    x = net.add("Squeeze", {{"axes", Ints{1}}}, {states[0]});
    last = net.add("Squeeze", {{"axes", Ints{0}}}, {states[1]});
  }
  net.output(net.linear("classifier", last, 1000), "scores");
}

}  // namespace

std::vector<Network> recurrent_networks() {
  return {
      {"nasrnn", "NasRNN (Zoph and Le 2016), 5 steps that share their weights, 5 x [1,512]", nasrnn},
      {"nasrnn-untied", "NasRNN with weights of its own for each step, 230 operators", nasrnn_untied},
      {"sru", "one SRU cell (Lei et al. 2017), [1,1024]", sru},
      {"sru-m", "one SRU cell on several rows, [M,1024]", sru, {10}, 4096},
      {"sru-11", "one SRU cell in OCGGS's form of 11 operators, [1,1024]", sru_11},
      {"rnntc", "text classification: an SRU layer over 10 steps, [1,1024] each", rnntc},
      {"rnntc-m", "the same on several rows, [M,1024] each", rnntc, {10}, 4096},
      {"nmt", "translation: encoder and decoder of 2 SRU layers over 10 steps, [1,1024] each", nmt},
      {"nmt-m", "the same on several rows, [M,1024] each", nmt, {10}, 4096},
      {"lstm", "two LSTM layers of 512 units over 32 steps, [1,512] each, and a classifier", lstm},
  };
}

}  // namespace isomer
