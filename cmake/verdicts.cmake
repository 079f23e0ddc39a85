# The verdicts of the built-in rules as a C++ string.
set(verdicts_file ${CMAKE_SOURCE_DIR}/rulesets/verdicts.lock)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${verdicts_file})
file(READ ${verdicts_file} verdicts_text)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/verdicts_lock.cc CONTENT [[
namespace isomer {
extern const char* const kVerdictsLock;
const char* const kVerdictsLock = R"lock(@verdicts_text@)lock";
}  // namespace isomer
]] @ONLY)
