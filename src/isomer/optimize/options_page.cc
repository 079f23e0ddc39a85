#include "isomer/optimize/options_page.h"

#include "isomer/optimize/optimize.h"
#include "isomer/optimize/options_table.h"

namespace isomer {
namespace {

using nlohmann::json;

constexpr const char* kIntroduction = R"(# Options

`isomer optimize`, `isomer_optimize` of C and `isomer.optimize` of Python have the same options, with the same defaults unless
the table says otherwise. [Interfaces](interfaces.md) shows how C and Python give them, [search](search.md) explains searches, their
costs and limits, and [certificates](certificates.md) what a certificate is for.

On the command line, a flag has no value, and an option that takes a list is given once for each element. `isomer optimize
--help` also shows the options that only the command line has: where the output, the report and the trace go.

| command line | C and Python | takes | default | |
|---|---|---|---|---|
)";

struct TypeName {
  std::string operator()(Option::Flag) const { return "flag"; }
  std::string operator()(const IntegerRange&) const { return "integer"; }
  std::string operator()(const NumberRange&) const { return "number"; }
  std::string operator()(const Option::Text&) const { return "text"; }
  std::string operator()(Option::File) const { return "file"; }
  std::string operator()(Option::Texts) const { return "list"; }
};

std::string default_cell(const Option& option) {
  const json value = option.get();
  if (value.is_null()) return "none";
  return fmt::format("`{}`", value.is_number() ? option.shown() : value.dump());
}

std::string row(const Option& option) {
  std::string about = option.help + ".";
  if (!option.environment.empty()) about += fmt::format(" Environment: `{}`.", option.environment);
  if (!option.note.empty()) about += " " + option.note;
  return fmt::format("| `{}` | `{}` | {} | {} | {} |\n", option.command_line_name(), option.name, option.takes(),
                     default_cell(option), about);
}

}  // namespace

json described_options() {
  OptimizeOptions defaults;
  json table = json::array();
  for (const Option& option : optimize_options(defaults))
    table.push_back({{"name", option.name},
                     {"command_line", option.command_line_name()},
                     {"type", std::visit(TypeName{}, option.domain)},
                     {"takes", option.takes()},
                     {"default", option.get()},
                     {"help", option.help},
                     {"note", option.note},
                     {"environment", option.environment}});
  return table;
}

std::string options_page() {
  OptimizeOptions defaults;
  std::string page = kIntroduction;
  for (const Option& option : optimize_options(defaults)) page += row(option);
  return page +
         "\nA test compares this page with what `isomer options` prints. `isomer options > docs/reference/options.md` "
         "writes "
         "it.\n";
}

}  // namespace isomer
