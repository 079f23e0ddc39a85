# The built-in rule sets as a C++ string, so that the program needs no files of its own at run time.
set(ruleset_file ${CMAKE_SOURCE_DIR}/rulesets/written.rules)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ruleset_file})
file(READ ${ruleset_file} ruleset_text)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/written_rules.cc CONTENT [[
namespace isomer {
extern const char* const kWrittenRules;
const char* const kWrittenRules = R"rules(@ruleset_text@)rules";
}  // namespace isomer
]] @ONLY)
