#pragma once
// A small training step, and runs of steps.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/onnx/defaults.h"
#include "isomer/onnx/model.h"
#include "isomer/ops/registry.h"

namespace isomer::replay::testing {

/// A tensor of different numbers.
inline Tensor filled(const std::vector<int64_t>& dims, uint64_t seed) {
  Tensor out = Tensor::zeros(DType::Float, dims);
  const auto data = out.mutable_data<float>();
  for (size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i + 7 * seed));
  return out;
}

/// Two products of x with the parameters a: f32[2,3] and b: f32[2,5], which momenta ma and mb update.
inline Model small_step() {
  GraphBuilder builder;
  const auto input = [&](const char* name, const std::vector<int64_t>& dims) {
    const ValueId value = builder.input({DType::Float, Shape(dims.begin(), dims.end())});
    builder.name(value, name);
    return value;
  };
  const auto add = [&](const char* name, std::initializer_list<ValueId> operands, const Attrs& attrs = {}) {
    return builder.add(op(name), attrs, operands).value();
  };
  const auto number = [&](float value) { return builder.constant(Tensor::floats({}, {value})); };
  const ValueId x = input("x", {4, 2});
  const ValueId parameters[] = {input("a", {2, 3}), input("b", {2, 5})};
  const ValueId momenta[] = {input("ma", {2, 3}), input("mb", {2, 5})};
  const ValueId xt = add("Transpose", {x}, {{"perm", Ints{1, 0}}});
  std::vector<ValueId> sums, next, next_momenta;
  for (int i = 0; i < 2; ++i) {
    const ValueId product = add("MatMul", {x, parameters[i]});
    sums.push_back(add("ReduceSum", {product}, {{"axes", Ints{0, 1}}, {"keepdims", int64_t{0}}}));
    const ValueId gradient = add("MatMul", {xt, add("Tanh", {product})});
    next_momenta.push_back(add("Add", {add("Mul", {number(0.9F), momenta[i]}), gradient}));
    next.push_back(add("Sub", {parameters[i], add("Mul", {number(0.1F), next_momenta.back()})}));
  }
  const ValueId loss = add("Add", {sums[0], sums[1]});
  builder.name(loss, "loss");
  builder.name(next[0], "new/a");
  builder.name(next[1], "new/b");
  builder.name(next_momenta[0], "new/ma");
  builder.name(next_momenta[1], "new/mb");
  Graph graph = builder.finish(std::vector{loss, next[0], next[1], next_momenta[0], next_momenta[1]});
  const Tensor defaults[] = {Tensor(), filled({2, 3}, 1), filled({2, 5}, 2), Tensor::zeros(DType::Float, {2, 3}),
                             Tensor::zeros(DType::Float, {2, 5})};
  return with_defaults(make_model(std::move(graph), "step", 17), defaults);
}

/// Runs steps of which each gets the new values of the one before. Returns the outputs of all.
inline std::vector<std::vector<Tensor>> steps_of(const Model& model, int count) {
  std::map<std::string, Tensor> values;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i)
    if (const Tensor* preset = input_default(model, i)) values.emplace(input_name(model, i), *preset);
  std::vector<std::vector<Tensor>> all;
  for (int step = 0; step < count; ++step) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
      const auto known = values.find(input_name(model, i));
      const auto& type = model.graph.type(model.graph.inputs()[i]);
      inputs.push_back(known != values.end() ? known->second
                                             : filled(*concrete(*type.shape), static_cast<uint64_t>(step) + 9));
    }
    all.push_back(run_reference(model.graph, inputs).value());
    for (size_t i = 0; i < all.back().size(); ++i)
      if (const std::string name = output_name(model, i); name.starts_with("new/"))
        values[name.substr(4)] = all.back()[i];
  }
  return all;
}

}  // namespace isomer::replay::testing
