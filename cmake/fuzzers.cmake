# The fuzzers: programs named *_fuzz.cc beside what they fuzz, each a libFuzzer target of its own; the target `fuzzers`
# builds them all. The rooms that they use are instrumented; configure with CMAKE_CXX_COMPILER=clang++.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "ISOMER_FUZZERS needs clang: configure with -DCMAKE_CXX_COMPILER=clang++")
endif()
set(fuzz_flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -g -O1)
foreach(room base ir ops onnx rules runtime verify)
  target_compile_options(isomer_${room} PRIVATE ${fuzz_flags})
endforeach()
add_custom_target(fuzzers)

# isomer_fuzzer(NAME FILE ROOMS): what the file needs of the library.
function(isomer_fuzzer name source)
  add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/src/isomer/${source})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE ${fuzz_flags})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  foreach(room ${ARGN})
    target_link_libraries(${name} PRIVATE $<TARGET_OBJECTS:isomer_${room}> $<TARGET_PROPERTY:isomer_${room},LINK_LIBRARIES>)
  endforeach()
  isomer_warnings(${name})
  add_dependencies(fuzzers ${name})
endfunction()

isomer_fuzzer(isomer_import_fuzz onnx/import_fuzz.cc base ir ops onnx)
isomer_fuzzer(isomer_rules_fuzz rules/parse_fuzz.cc base ir ops rules)
isomer_fuzzer(isomer_graph_fuzz ops/graph_text_fuzz.cc base ir ops)
isomer_fuzzer(isomer_certificate_fuzz verify/replay/certificate_fuzz.cc base ir ops onnx rules runtime verify)
isomer_fuzzer(isomer_npy_fuzz runtime/npy_fuzz.cc base ir ops runtime)
