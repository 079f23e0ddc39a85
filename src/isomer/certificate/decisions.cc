#include "isomer/certificate/decisions.h"

#include <nlohmann/json.hpp>
#include <set>

#include "isomer/base/printable.h"

namespace isomer::replay {
namespace {

using nlohmann::json;

std::set<std::string> value_names(const Graph& graph) {
  std::set<std::string> out;
  for (ValueId value = 0; value < graph.num_values(); ++value) out.insert(graph.name(value));
  out.erase("");
  return out;
}

/// Returns the word for each value that has one in `kind`, a field of the metadata.
Result<std::map<std::string, std::string>> words_of(const json& all, const char* kind,
                                                    const std::set<std::string>& values) {
  std::map<std::string, std::string> out;
  if (!all.contains(kind)) return out;
  const json& listed = all.at(kind);
  if (!listed.is_object()) return fail("its {} are not listed by value", kind);
  for (const std::string& name : values) {
    const auto found = listed.find(name);
    if (found == listed.end()) continue;
    if (!found->is_string()) return fail("its {} do not have a word for '{}'", kind, printable(name));
    out.emplace(name, found->get<std::string>());
  }
  return out;
}

/// Reads the decisions of one kind.
template <class Choice>
Status read(const json& all, const DecisionKind<Choice>& kind, const std::set<std::string>& values,
            std::map<std::string, Choice>& out) {
  ISOMER_TRY(const auto words, words_of(all, kind.plural, values));
  for (const auto& [name, word] : words) {
    const auto choice = kind.choice(word);
    if (!choice) return fail("its decision about '{}' is not known", printable(name));
    out.emplace(name, *choice);
  }
  return {};
}

/// Compares the decisions of one kind.
template <class Choice>
Status compare(const DecisionKind<Choice>& kind, const std::map<std::string, Choice>& stated,
               const std::map<std::string, Choice>& actual, const std::set<std::string>& values) {
  for (const auto& [name, decision] : stated) {
    if (!values.contains(name))
      return fail("the certificate has the {} of '{}', a value that its graph does not have", kind.name,
                  printable(name));
    const auto found = actual.find(name);
    if (found == actual.end())
      return fail("it leaves the {} of '{}' open, but the certificate has {}", kind.name, printable(name),
                  kind.word(decision));
    if (found->second != decision)
      return fail("the {} of '{}' is {}, but the certificate has {}", kind.name, printable(name),
                  kind.word(found->second), kind.word(decision));
  }
  for (const auto& [name, decision] : actual)
    if (!stated.contains(name))
      return fail("the {} of '{}' is {}, but the certificate does not have it", kind.name, printable(name),
                  kind.word(decision));
  return {};
}

}  // namespace

Result<NamedDecisions> decisions_of(const Model& model) {
  NamedDecisions out;
  const auto text = metadata(model, "isomer.decisions");
  if (!text) return out;
  const json all = json::parse(*text, nullptr, false);
  if (!all.is_object()) return fail("its metadata 'isomer.decisions' are not a JSON object");
  const std::set<std::string> values = value_names(model.graph);
  ISOMER_CHECK(check_each_kind([&](const auto& kind, auto& decided) { return read(all, kind, values, decided); }, out));
  return out;
}

Status check_decisions(const NamedDecisions& stated, const Model& model) {
  ISOMER_TRY(const NamedDecisions actual, decisions_of(model));
  const std::set<std::string> values = value_names(model.graph);
  return check_each_kind(
      [&](const auto& kind, const auto& one, const auto& other) { return compare(kind, one, other, values); }, stated,
      actual);
}

}  // namespace isomer::replay
