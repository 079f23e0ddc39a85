# The Python package's compiled part. `pip install .` builds it; so does -DISOMER_PYTHON_PACKAGE=ON.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT pybind11_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir OUTPUT_VARIABLE pybind11_DIR
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_package(pybind11 REQUIRED)
pybind11_add_module(_native python/native.cc)
target_include_directories(_native PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(_native PRIVATE isomer nlohmann_json::nlohmann_json)
isomer_warnings(_native)
install(TARGETS _native LIBRARY DESTINATION isomer COMPONENT python)
if(NOT SKBUILD)
  # For tests without an installation: the package's sources and the compiled part in one folder of the build.
  set_target_properties(_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/isomer)
  file(GLOB python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/isomer/*)
  add_custom_command(TARGET _native POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different ${python_sources}
                     ${CMAKE_BINARY_DIR}/python/isomer)
endif()
