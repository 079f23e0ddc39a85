#include "isomer/cli/add_option.h"

#include "isomer/cli/files.h"
#include "isomer/cli/validators.h"

namespace isomer {
namespace {

using nlohmann::json;

/// Adds an option according to its domain.
class OptionAdder {
 public:
  OptionAdder(CLI::App& command, const Option& option) : command_(command), option_(option) {}

  CLI::Option* operator()(Option::Flag) const {
    const auto take = [option = option_](int64_t count) { set(option, count > 0); };
    return command_.add_flag_function(name(), take, option_.help);
  }
  CLI::Option* operator()(const IntegerRange& range) const { return add<int64_t>()->check(in_range(range)); }
  CLI::Option* operator()(const NumberRange& range) const { return add<double>()->check(in_range(range)); }
  CLI::Option* operator()(const Option::Text& text) const {
    CLI::Option* added = add<std::string>();
    return text.values.empty() ? added : added->check(CLI::IsMember(text.values));
  }
  CLI::Option* operator()(Option::File) const { return add<std::string>()->type_name(CommandFiles::kTypeName); }
  CLI::Option* operator()(Option::Texts) const {
    CLI::Option* added = repeatable(add<std::vector<std::string>>());
    return added->description(option_.help + "; may be repeated");
  }

 private:
  static void set(const Option& option, const json& value) {
    if (const Status status = option.set(value); !status)
      throw CLI::ValidationError(option.command_line_name(), status.error().message);
  }

  template <class Value>
  CLI::Option* add() const {
    const auto take = [option = option_](const Value& value) { set(option, value); };
    return command_.add_option_function<Value>(name(), take, option_.help)->default_str(option_.shown());
  }

  std::string name() const { return option_.command_line_name(); }

  CLI::App& command_;
  const Option& option_;
};

}  // namespace

CLI::Option* add_option(CLI::App& command, const Option& option) {
  CLI::Option* added = std::visit(OptionAdder(command, option), option.domain);
  return option.environment.empty() ? added : added->envname(option.environment);
}

void add_each(CLI::App& command, std::span<const Option> options) {
  for (const Option& option : options) add_option(command, option);
}

CLI::Option* repeatable(CLI::Option* option) {
  return option->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace isomer
