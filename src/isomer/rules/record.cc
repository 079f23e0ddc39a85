#include "isomer/rules/record.h"

#include <fmt/ranges.h>

#include "isomer/ir/text.h"

namespace isomer {
namespace {

/// A tensor as its type and hash, because the attributes of a graph can be large.
std::string tensor_text(const Tensor& tensor) { return fmt::format("{}#{:016x}", tensor.type().str(), tensor.hash()); }

std::string text_of(const ExprValue& value) {
  if (const auto* known = std::get_if<bool>(&value)) return *known ? "true" : "false";
  if (const auto* dim = std::get_if<Dim>(&value)) return dim->str();
  if (const auto* real = std::get_if<double>(&value)) return float_str(*real, false);
  if (const auto* text = std::get_if<std::string>(&value)) return isomer::quoted(*text);
  if (const auto* dims = std::get_if<Dims>(&value)) return shape_str(*dims);
  if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor_text(*tensor);
  std::vector<std::string> parts;
  if (const auto* reals = std::get_if<std::vector<double>>(&value))
    for (const double real : *reals) parts.push_back(float_str(real, false));
  return fmt::format("[{}]", fmt::join(parts, ","));
}

std::string text_of(const Attrs& record) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : record.entries()) {
    const auto* tensor = std::get_if<Tensor>(&value);
    parts.push_back(name + "=" + (tensor != nullptr ? tensor_text(*tensor) : attr_str(value)));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

}  // namespace

Application record(const Graph& graph, const Match& match) {
  const auto hash = [&](ValueId value) { return value == kNoValue ? 0 : graph.value_hash(value); };
  const auto hashes = [&](const std::vector<ValueId>& values) {
    std::vector<uint64_t> out;
    out.reserve(values.size());
    for (const ValueId value : values) out.push_back(hash(value));
    return out;
  };
  Application out;
  out.rule = match.rule->name;
  out.roots = hashes(match.roots);
  for (const auto& [name, value] : match.binding.values) out.values.emplace_back(name, hash(value));
  for (const auto& [name, values] : match.binding.sequences) out.sequences.emplace_back(name, hashes(values));
  for (const auto& [name, value] : match.binding.attrs) out.attributes.emplace_back("?" + name, text_of(value));
  for (const auto& [name, attrs] : match.binding.records) out.attributes.emplace_back(".." + name, text_of(attrs));
  return out;
}

Move record_move(const Graph& before, std::span<const Match* const> applied, const Graph& after) {
  Move move;
  move.before = before.hash();
  move.after = after.hash();
  for (const Match* match : applied) move.applications.push_back(record(before, *match));
  return move;
}

}  // namespace isomer
