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

# Makes generated/NAME.cc, which defines `const char* const isomer::CONSTANT[]` with the name (without folder and suffix) and
# the text of each of FILES, in turn, and a null pointer behind them.
function(isomer_embed_all files name constant)
  set(items "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND items "    \"${stem}\", R\"text(${text})text\",\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cc CONTENT [[
namespace isomer {
extern const char* const @constant@[];
const char* const @constant@[] = {
@items@    nullptr};
}  // namespace isomer
]] @ONLY)
endfunction()
