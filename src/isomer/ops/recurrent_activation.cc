#include <algorithm>
#include <cctype>

#include "isomer/ops/recurrent.h"

namespace isomer {
namespace {

struct Known {
  std::string_view name;
  Activation preset;
  int parameters;  // 0: none, 1: alpha, 2: alpha and beta
};

constexpr Known kKnown[] = {
    {"relu", {Activation::Kind::Relu}, 0},
    {"tanh", {Activation::Kind::Tanh}, 0},
    {"sigmoid", {Activation::Kind::Sigmoid}, 0},
    {"affine", {Activation::Kind::Affine, 1, 0}, 2},
    {"leakyrelu", {Activation::Kind::LeakyRelu, 0.01F}, 1},
    {"thresholdedrelu", {Activation::Kind::ThresholdedRelu, 1}, 1},
    {"scaledtanh", {Activation::Kind::ScaledTanh, 1, 1}, 2},
    {"hardsigmoid", {Activation::Kind::HardSigmoid, 0.2F, 0.5F}, 2},
    {"elu", {Activation::Kind::Elu, 1}, 1},
    {"softsign", {Activation::Kind::Softsign}, 0},
    {"softplus", {Activation::Kind::Softplus}, 0},
};

const Known* find_known(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Known& known : kKnown)
    if (known.name == name) return &known;
  return nullptr;
}

/// The next parameter in an attribute's list, or `preset` after its end. Functions without this parameter consume none.
float take(const Attrs& attrs, std::string_view attr, size_t& at, float preset) {
  if (!attrs.has(attr) || at >= attrs.floats(attr).size()) return preset;
  return attrs.floats(attr)[at++];
}

}  // namespace

Result<std::vector<Activation>> read_activations(const Attrs& attrs, Cell cell, size_t directions) {
  const size_t each = activations_of(cell);
  const size_t wanted = each * directions;
  const AttrValue* value = attrs.find("activations");
  const Strings names = value == nullptr ? Strings() : std::get<Strings>(*value);
  std::vector<Activation> out;
  size_t alphas = 0;
  size_t betas = 0;
  for (size_t i = 0; i < wanted; ++i) {
    const std::string preset = cell != Cell::Rnn && i % each == 0 ? "Sigmoid" : "Tanh";
    if (!names.empty() && i >= names.size()) return fail("{} activations are given, {} are needed", i, wanted);
    const std::string& name = names.empty() ? preset : names[i];
    const Known* known = find_known(name);
    if (known == nullptr) return fail("the activation '{}' is not known", name);
    Activation f = known->preset;
    if (known->parameters >= 1) f.alpha = take(attrs, "activation_alpha", alphas, f.alpha);
    if (known->parameters >= 2) f.beta = take(attrs, "activation_beta", betas, f.beta);
    out.push_back(f);
  }
  return out;
}

}  // namespace isomer
