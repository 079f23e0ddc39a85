// The graph of an instance.

#include <algorithm>

#include "isomer/base/rng.h"
#include "isomer/check/instances.h"
#include "isomer/eval/random.h"
#include "isomer/ir/builder.h"

namespace isomer {
namespace {

using Kind = Instance::Value::Kind;

/// Returns elements that no literal has.
Tensor weight_tensor(const TensorType& type, uint64_t seed) {
  const auto dims = *concrete(*type.shape);
  if (type.dtype != DType::Int64) return random_tensor(type.dtype, dims, seed);
  Tensor tensor = Tensor::zeros(type.dtype, dims);
  Rng rng(seed);
  for (int64_t& element : tensor.mutable_data<int64_t>()) element = rng.between(1 << 20, int64_t{1} << 40);
  return tensor;
}

uint64_t weight_seed(uint64_t seed, size_t value) { return seed * 1000 + value; }

}  // namespace

Tensor uniform_tensor(const TensorType& type, double number) {
  const auto dims = *concrete(*type.shape);
  Tensor tensor = Tensor::zeros(type.dtype, dims);
  switch (type.dtype) {
    case DType::Double:
      std::ranges::fill(tensor.mutable_data<double>(), number);
      break;
    case DType::Float:
      std::ranges::fill(tensor.mutable_data<float>(), static_cast<float>(number));
      break;
    case DType::Int64:
      std::ranges::fill(tensor.mutable_data<int64_t>(), static_cast<int64_t>(number));
      break;
    default:
      std::ranges::fill(tensor.mutable_data<uint8_t>(), static_cast<uint8_t>(number != 0));
      break;
  }
  return tensor;
}

Tensor constant_tensor(const Instance::Value& value) {
  if (value.kind == Kind::Indices) return Tensor::ints(*concrete(*value.type.shape), value.indices);
  return uniform_tensor(value.type, value.number);
}

size_t Instance::max_rank() const {
  size_t rank = 0;
  for (const Value& value : values)
    if (value.kind != Value::Kind::Result) rank = std::max(rank, value.type.rank());
  return rank;
}

std::set<uint64_t> Instance::weight_hashes(uint64_t seed) const {
  std::set<uint64_t> out;
  for (const auto& [hash, name] : weight_names(seed)) out.insert(hash);
  return out;
}

std::map<uint64_t, std::string> Instance::weight_names(uint64_t seed) const {
  std::map<uint64_t, std::string> out;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].kind == Kind::Weight)
      out.emplace(weight_tensor(values[i].type, weight_seed(seed, i)).hash(), values[i].name);
  return out;
}

Result<Graph> Instance::build(uint64_t seed) const {
  GraphBuilder builder;
  std::vector<ValueId> made(values.size(), kNoValue);
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    if (value.kind == Kind::Input) {
      made[i] = builder.input(value.type);
      builder.name(made[i], value.name);
    } else if (value.kind == Kind::Uniform || value.kind == Kind::Indices) {
      made[i] = builder.constant(constant_tensor(value));
    } else if (value.kind == Kind::Weight) {
      made[i] = builder.constant(weight_tensor(value.type, weight_seed(seed, i)));
    }
  }
  for (const Node& node : nodes) {
    std::vector<ValueId> operands;
    for (const ValueId id : node.operands) operands.push_back(id == kNoValue ? kNoValue : made[id]);
    ISOMER_TRY(const NodeId id, builder.node(*node.op, node.attrs, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) made[node.first_result + r] = builder.at(id).result(r);
  }
  std::vector<ValueId> outputs;
  for (const size_t root : roots)
    for (uint32_t r = 0; r < nodes[root].num_results; ++r) outputs.push_back(made[nodes[root].first_result + r]);
  return builder.finish(outputs);
}

}  // namespace isomer
