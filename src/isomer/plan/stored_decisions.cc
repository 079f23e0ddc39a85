#include "isomer/plan/stored_decisions.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "isomer/base/printable.h"
#include "isomer/base/utf8.h"
#include "isomer/onnx/export.h"

namespace isomer {
namespace {

constexpr const char* kKey = "isomer.decisions";

using Values = std::unordered_map<std::string, ValueId>;

Values values_by_name(const Graph& graph) {
  Values out;
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (!graph.name(value).empty()) out.emplace(graph.name(value), value);
  return out;
}

std::string shortened(const std::string& text) {
  constexpr size_t kLength = 40;
  return printable(text.size() <= kLength ? text : text.substr(0, kLength) + "...");
}

/// Reads the decisions of one kind.
template <class Choice>
Status read(const nlohmann::json& all, const DecisionKind<Choice>& kind, const Values& values,
            std::map<ValueId, Choice>& out) {
  const auto found = all.find(kind.plural);
  if (found == all.end()) return {};
  if (!found->is_object()) return fail("{} are not listed by value", kind.plural);
  for (const auto& [name, word] : found->items()) {
    const auto value = values.find(name);
    if (value == values.end()) continue;
    if (!word.is_string()) return fail("{} of '{}': not a word", kind.plural, shortened(name));
    const auto& text = word.template get_ref<const std::string&>();
    const auto choice = kind.choice(text);
    if (!choice) return fail("{} of '{}': '{}' is not known", kind.plural, shortened(name), shortened(text));
    out.emplace(value->second, *choice);
  }
  return {};
}

Result<Decisions> parse(const std::string& text, const Graph& graph) {
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object()) return fail("not a JSON object in UTF-8");
  const Values values = values_by_name(graph);
  Decisions out;
  ISOMER_CHECK(check_each_kind([&](const auto& kind, auto& decided) { return read(all, kind, values, decided); }, out));
  return out;
}

}  // namespace

Result<nlohmann::json> decisions_by_name(const Model& model, const Candidate& candidate) {
  nlohmann::json out = nlohmann::json::object();
  if (candidate.decisions.empty()) return out;
  ISOMER_TRY(const auto names, export_names(model.with(candidate.graph)));
  for_each_kind(
      [&](const auto& kind, const auto& decided) {
        for (const auto& [value, choice] : decided)
          if (is_utf8(names[value])) out[kind.plural][names[value]] = kind.word(choice);
      },
      candidate.decisions);
  return out;
}

nlohmann::json dropped_decisions(const nlohmann::json& before, const nlohmann::json& after) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [kind, decided] : before.items())
    for (const auto& [name, choice] : decided.items())
      if (!after.contains(kind) || !after[kind].contains(name)) out[kind][name] = choice;
  return out;
}

Result<Decisions> stored_decisions(const Model& model) {
  const auto text = metadata(model, kKey);
  if (!text) return Decisions{};
  auto out = parse(*text, model.graph);
  if (!out) return fail_in(fmt::format("metadata '{}'", kKey), out.error());
  return out;
}

Result<Model> with_candidate(const Model& model, const Candidate& candidate) {
  Model out = model.with(candidate.graph);
  if (candidate.decisions.empty() && !metadata(model, kKey)) return out;
  ISOMER_TRY(const nlohmann::json decisions, decisions_by_name(model, candidate));
  return with_metadata(out, kKey, decisions.empty() ? "" : decisions.dump());
}

}  // namespace isomer
