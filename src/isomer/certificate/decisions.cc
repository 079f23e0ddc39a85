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

template <class Decision>
Status convert(const std::map<std::string, std::string>& words,
               std::optional<Decision> (*decision_of)(std::string_view), std::map<std::string, Decision>& out) {
  for (const auto& [name, word] : words) {
    const auto decision = decision_of(word);
    if (!decision) return fail("its decision about '{}' is not known", printable(name));
    out.emplace(name, *decision);
  }
  return {};
}

/// Compares the decisions of one kind.
template <class Decision>
Status compare(const char* kind, const std::map<std::string, Decision>& stated,
               const std::map<std::string, Decision>& actual, std::string_view (*word_of)(Decision),
               const std::set<std::string>& values) {
  for (const auto& [name, decision] : stated) {
    if (!values.contains(name))
      return fail("the certificate has the {} of '{}', a value that its graph does not have", kind, printable(name));
    const auto found = actual.find(name);
    if (found == actual.end())
      return fail("it leaves the {} of '{}' open, but the certificate has {}", kind, printable(name),
                  word_of(decision));
    if (found->second != decision)
      return fail("the {} of '{}' is {}, but the certificate has {}", kind, printable(name), word_of(found->second),
                  word_of(decision));
  }
  for (const auto& [name, decision] : actual)
    if (!stated.contains(name))
      return fail("the {} of '{}' is {}, but the certificate does not have it", kind, printable(name),
                  word_of(decision));
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
  ISOMER_TRY(const auto layouts, words_of(all, "layouts", values));
  ISOMER_CHECK(convert(layouts, layout_from_name, out.layouts));
  ISOMER_TRY(const auto algorithms, words_of(all, "algorithms", values));
  ISOMER_CHECK(convert(algorithms, algorithm_from_name, out.algorithms));
  ISOMER_TRY(const auto computations, words_of(all, "computations", values));
  ISOMER_CHECK(convert(computations, computation_from_name, out.computations));
  return out;
}

Status check_decisions(const NamedDecisions& stated, const Model& model) {
  ISOMER_TRY(const NamedDecisions actual, decisions_of(model));
  const std::set<std::string> values = value_names(model.graph);
  ISOMER_CHECK(compare("layout", stated.layouts, actual.layouts, layout_name, values));
  ISOMER_CHECK(compare("algorithm", stated.algorithms, actual.algorithms, algorithm_name, values));
  return compare("computation", stated.computations, actual.computations, computation_name, values);
}

}  // namespace isomer::replay
