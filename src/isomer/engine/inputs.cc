#include "isomer/engine/inputs.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "isomer/base/hash.h"
#include "isomer/base/printable.h"
#include "isomer/eval/random.h"
#include "isomer/eval/rounding.h"
#include "isomer/ir/scanner.h"

namespace isomer {
namespace {

/// Parses "1,3,224" (empty: a scalar).
Result<std::vector<int64_t>> parse_extents(std::string_view text) {
  std::vector<int64_t> extents;
  Scanner in(text);
  while (!in.at_end()) {
    const auto extent = in.integer();
    if (!extent || *extent < 0) return fail("'{}' is not a list of extents", text);
    extents.push_back(*extent);
    if (in.at_end()) break;
    if (!in.accept(",") || in.at_end()) return fail("'{}' is not a list of extents", text);
  }
  return extents;
}

tl::unexpected<Error> misfit(const std::string& name, const std::string& given, const TensorType& declared) {
  return fail("input '{}' is {}: {} does not fit", printable(name), declared.str(), given);
}

/// Sets the values of symbols that follow from `extents`.
Status imply_symbols(const std::string& name, const std::vector<int64_t>& extents, const TensorType& declared,
                     SymbolValues& symbols) {
  if (!declared.shape) return {};
  const std::string given = fmt::format("[{}]", fmt::join(extents, ","));
  if (extents.size() != declared.rank()) return misfit(name, given, declared);
  for (size_t i = 0; i < extents.size(); ++i) {
    const Dim& dim = (*declared.shape)[i];
    if (dim.is_const() && !dim.is(extents[i])) return misfit(name, given, declared);
    const auto symbol = dim.symbol_name();
    if (!symbol) continue;
    const auto [at, added] = symbols.emplace(*symbol, extents[i]);
    if (!added && at->second != extents[i]) {
      return fail("input '{}' has {}={}, but elsewhere it is {}", printable(name), *symbol, extents[i], at->second);
    }
  }
  return {};
}

/// Sets symbols without a value to those that follow from a default. A default need not agree with the others: engines
/// do not require it.
void imply_missing_symbols(const Tensor& preset, const TensorType& declared, SymbolValues& symbols) {
  if (!declared.shape) return;
  for (size_t i = 0; i < declared.rank(); ++i)
    if (const auto symbol = (*declared.shape)[i].symbol_name()) symbols.emplace(*symbol, preset.dims()[i]);
}

/// Returns whether the i-th input has a default, and no other extents are given for it.
bool keeps_default(const Model& model, size_t i, const ShapeOptions& options) {
  const Tensor* const preset = input_default(model, i);
  if (preset == nullptr) return false;
  const auto given = options.inputs.find(input_name(model, i));
  return given == options.inputs.end() || given->second == preset->dims();
}

/// Returns the symbols on which dimensions of these values depend.
std::set<std::string> symbols_of(const Graph& graph, std::span<const ValueId> values) {
  std::set<std::string> symbols;
  for (const ValueId value : values) {
    if (!graph.type(value).shape) continue;
    for (const Dim& dim : *graph.type(value).shape) {
      (void)dim.evaluate([&](const std::string& symbol) -> std::optional<int64_t> {
        symbols.insert(symbol);
        return 1;
      });
    }
  }
  return symbols;
}

/// Fails if no dimension of the model depends on the symbol. The Error lists those of the inputs.
Status check_symbol(const Graph& graph, const std::string& symbol) {
  std::vector<ValueId> all(graph.num_values());
  std::iota(all.begin(), all.end(), ValueId{0});
  if (symbols_of(graph, all).contains(symbol)) return {};
  const std::set<std::string> known = symbols_of(graph, graph.inputs());
  return fail("no symbolic dimension '{}'; {}", symbol,
              known.empty() ? "all extents of inputs are fixed" : fmt::format("there are: {}", fmt::join(known, ", ")));
}

/// Returns an extent; symbols without a value are 1.
std::optional<int64_t> value_of(const Dim& dim, const SymbolValues& symbols) {
  return dim.evaluate([&](const std::string& symbol) -> std::optional<int64_t> {
    const auto at = symbols.find(symbol);
    return at == symbols.end() ? 1 : at->second;
  });
}

/// Returns the extents of an input.
Result<std::vector<int64_t>> input_extents(const Model& model, size_t i, const ShapeOptions& options,
                                           const SymbolValues& symbols) {
  const std::string name = input_name(model, i);
  if (const auto given = options.inputs.find(name); given != options.inputs.end()) return given->second;
  const TensorType& declared = model.graph.type(model.graph.inputs()[i]);
  if (!declared.shape)
    return fail("input '{}' has no declared shape: give --shape {}:EXTENTS", printable(name), printable(name));
  std::vector<int64_t> extents;
  for (const Dim& dim : *declared.shape) {
    const auto value = value_of(dim, symbols);
    if (!value || *value < 0)
      return fail("input '{}' is {}: give --shape {}:EXTENTS", printable(name), declared.str(), printable(name));
    extents.push_back(*value);
  }
  return extents;
}

/// Whether the elements of a node's operand 1 select among those of its operand 0.
bool selects(const Node& node) {
  const OperandRole role = node.op->role(1);
  return role == OperandRole::Indices || role == OperandRole::ElementIndices || role == OperandRole::Coordinates ||
         role == OperandRole::Labels;
}

/// Returns the values that consist of elements of `value`, which a node reads.
std::vector<ValueId> passed_on(const Graph& graph, const Node& node, ValueId value) {
  const auto operands = graph.operands(node);
  const bool chosen = node.op->role(0) == OperandRole::Condition && operands[0] != value;
  const bool moved =
      operands[0] == value && (node.op->has(Trait::View) || node.op->has(Trait::Permutation) ||
                               node.op->has(Trait::Cut) || node.op->has(Trait::Conversion) || selects(node));
  std::vector<ValueId> out;
  if (chosen || moved || node.op->has(Trait::Concatenation) || (operands[0] == value && node.op->has(Trait::Identity)))
    for (uint32_t i = 0; i < (node.op->has(Trait::Cut) ? node.num_results : 1); ++i) out.push_back(node.result(i));
  return out;
}

/// Returns the number of positions that a node can select by the elements of its operand 1: along each axis of its
/// first operand where it selects, or the smallest of them; nothing if no number is known.
std::optional<int64_t> selectable(const Graph& graph, const Node& node, const SymbolValues& symbols) {
  const ValueId from = graph.operands(node)[0];
  if (!selects(node) || from == kNoValue || !graph.type(from).shape) return std::nullopt;
  const TensorType& type = graph.type(from);
  const auto rank = static_cast<int64_t>(type.rank());
  const auto integer = [&](const char* name) {
    const AttrValue* const given = node.attrs.find(name);
    return given == nullptr ? 0 : std::get<int64_t>(*given);
  };
  int64_t first = 0, end = 0;
  switch (node.op->role(1)) {
    case OperandRole::Indices:
    case OperandRole::ElementIndices:
      first = integer("axis") < 0 ? integer("axis") + rank : integer("axis");
      end = first + 1;
      break;
    case OperandRole::Labels:
      first = 1, end = 2;
      break;
    case OperandRole::Coordinates: {
      const TensorType& coordinates = graph.type(graph.operands(node)[1]);
      if (!coordinates.shape || coordinates.shape->empty() || !coordinates.shape->back().is_const()) break;
      first = integer("batch_dims"), end = first + coordinates.shape->back().value();
      break;
    }
    default:
      break;
  }
  std::optional<int64_t> smallest;
  for (int64_t axis = std::max<int64_t>(first, 0); axis < std::min(end, rank); ++axis)
    if (const auto extent = value_of((*type.shape)[static_cast<size_t>(axis)], symbols))
      smallest = std::min(smallest.value_or(*extent), *extent);
  return smallest;
}

/// Returns the minimum number of positions among which integers of `value` select; nothing if they select nowhere.
std::optional<int64_t> min_selectable(const Graph& graph, ValueId value, const SymbolValues& symbols) {
  std::optional<int64_t> smallest;
  std::vector<ValueId> values{value};
  for (size_t i = 0; i < values.size(); ++i) {
    for (const NodeId id : graph.consumers(values[i])) {
      const Node& node = graph.node(id);
      const auto operands = graph.operands(node);
      if (operands.size() > 1 && operands[1] == values[i])
        if (const auto size = selectable(graph, node, symbols)) smallest = std::min(smallest.value_or(*size), *size);
      for (const ValueId next : passed_on(graph, node, values[i]))
        if (is_integer(graph.type(next).dtype) && std::ranges::find(values, next) == values.end())
          values.push_back(next);
    }
  }
  return smallest;
}

template <class T>
Tensor reduced(const Tensor& tensor, int64_t bound) {
  Tensor result = Tensor::zeros(tensor.dtype(), tensor.dims());
  std::ranges::transform(tensor.data<T>(), result.mutable_data<T>().begin(),
                         [&](T element) { return static_cast<T>(element % static_cast<T>(bound)); });
  return result;
}

}  // namespace

Status add_shape_option(std::string_view text, ShapeOptions& options) {
  // Names of inputs may contain colons and equal signs ("serving_default_x:0"), so the last one separates.
  const size_t at = text.find_last_of(":=");
  if (at == std::string_view::npos || at == 0) return fail("'{}': neither NAME:1,3,224,224 nor N=8", text);
  ISOMER_TRY(auto extents, parse_extents(text.substr(at + 1)));
  const std::string name(text.substr(0, at));
  if (text[at] == ':') {
    options.inputs[name] = std::move(extents);
  } else {
    if (extents.size() != 1) return fail("'{}': a symbol has one value", text);
    options.symbols[name] = extents.front();
  }
  return {};
}

Status check_names(const Model& model, const ShapeOptions& options) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) names.push_back(input_name(model, i));
  for (const auto& [name, extents] : options.inputs) {
    if (std::ranges::find(names, name) == names.end()) {
      return fail("no input '{}'; there are: {}", printable(name),
                  printable(fmt::format("{}", fmt::join(names, ", "))));
    }
  }
  for (const auto& [symbol, value] : options.symbols) ISOMER_CHECK(check_symbol(model.graph, symbol));
  return {};
}

std::vector<std::string> shape_texts(const ShapeOptions& options) {
  std::vector<std::string> texts;
  for (const auto& [name, extents] : options.inputs)
    texts.push_back(fmt::format("{}:{}", name, fmt::join(extents, ",")));
  for (const auto& [symbol, value] : options.symbols) texts.push_back(fmt::format("{}={}", symbol, value));
  return texts;
}

Result<SymbolValues> symbol_values(const Model& model, const ShapeOptions& options) {
  ISOMER_CHECK(check_names(model, options));
  SymbolValues symbols = options.symbols;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
    const std::string name = input_name(model, i);
    const auto given = options.inputs.find(name);
    if (given == options.inputs.end()) continue;
    ISOMER_CHECK(imply_symbols(name, given->second, model.graph.type(model.graph.inputs()[i]), symbols));
  }
  for (size_t i = 0; i < model.graph.inputs().size(); ++i)
    if (const Tensor* const preset = input_default(model, i); preset != nullptr)
      imply_missing_symbols(*preset, model.graph.type(model.graph.inputs()[i]), symbols);
  return symbols;
}

Result<std::vector<NamedTensor>> random_inputs(const Model& model, const ShapeOptions& options, uint64_t seed) {
  ISOMER_TRY(const SymbolValues symbols, symbol_values(model, options));
  std::vector<NamedTensor> inputs;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
    if (keeps_default(model, i, options)) continue;
    const ValueId value = model.graph.inputs()[i];
    const std::string name = input_name(model, i);
    const DType dtype = model.graph.type(value).dtype;
    if (dtype == DType::Undefined) return fail("input '{}' is not a tensor of a known element type", printable(name));
    ISOMER_TRY(const std::vector<int64_t> extents, input_extents(model, i, options, symbols));
    Tensor tensor = random_tensor(dtype, extents, hash_mix(seed, hash_text(name)));
    if (dtype == DType::Int64 || dtype == DType::Int32) {
      const int64_t bound = std::max<int64_t>(min_selectable(model.graph, value, symbols).value_or(INT32_MAX), 1);
      tensor = dtype == DType::Int64 ? reduced<int64_t>(tensor, bound) : reduced<int32_t>(tensor, bound);
    }
    inputs.emplace_back(name, std::move(tensor));
  }
  return inputs;
}

std::vector<NamedTensor> with_last_bits_changed(std::span<const NamedTensor> inputs, uint64_t seed) {
  std::vector<NamedTensor> out;
  for (const auto& [name, tensor] : inputs)
    out.emplace_back(name, with_last_bits_changed(tensor, hash_mix(seed, hash_text(name))));
  return out;
}

Result<std::vector<TensorType>> concrete_inputs(const Graph& graph, const SymbolValues& symbols) {
  const Extents extents = extents_of(graph, symbols);
  std::vector<TensorType> types;
  for (const ValueId input : graph.inputs()) {
    if (!extents[input]) return fail("the extents of input {} are not known", types.size());
    types.push_back({graph.type(input).dtype, Shape(extents[input]->begin(), extents[input]->end())});
  }
  return types;
}

Status check_input(const std::string& name, const Tensor& tensor, const TensorType& declared) {
  return check_inputs(std::vector<NamedTensor>{{name, tensor}}, {&declared, 1});
}

Status check_inputs(std::span<const NamedTensor> tensors, std::span<const TensorType> declared) {
  SymbolValues symbols;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (declared[i].dtype != DType::Undefined && declared[i].dtype != tensor.dtype())
      return misfit(name, tensor.type().str(), declared[i]);
    ISOMER_CHECK(imply_symbols(name, tensor.dims(), declared[i], symbols));
  }
  return {};
}

}  // namespace isomer
