# Text files as C++ strings, so that the program needs no files of its own at run time.

# Makes generated/NAME.cc, which defines `const char* const isomer::CONSTANT` with the text of FILES, one after the other.
function(isomer_embed files name constant)
  set(text "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} part)
    string(APPEND text "${part}")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cc CONTENT [[
namespace isomer {
extern const char* const @constant@;
const char* const @constant@ = R"text(@text@)text";
}  // namespace isomer
]] @ONLY)
endfunction()
