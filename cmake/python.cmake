# The Python package's compiled part. `pip install .` builds it; so does -DISOMER_PYTHON_PACKAGE=ON.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT pybind11_DIR)
  # The registry's pybind11: Debian's is older than NumPy 2.
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir OUTPUT_VARIABLE pybind11_DIR
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_package(pybind11 2.12 REQUIRED)
pybind11_add_module(_native python/native.cc python/arrays.cc)
target_include_directories(_native PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(_native PRIVATE isomer nlohmann_json::nlohmann_json)
isomer_warnings(_native)
install(TARGETS _native LIBRARY DESTINATION isomer COMPONENT python)
if(NOT SKBUILD)
  # For tests without an installation: the package's sources and the compiled part in one folder of the build.
  set_target_properties(_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/isomer)
  file(GLOB python_sources CONFIGURE_DEPENDS LIST_DIRECTORIES false ${CMAKE_SOURCE_DIR}/python/isomer/*)
  set(copied ${CMAKE_BINARY_DIR}/python/copied)
  add_custom_command(OUTPUT ${copied} DEPENDS ${python_sources}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/python/isomer
                     COMMAND ${CMAKE_COMMAND} -E copy_if_different ${python_sources} ${CMAKE_BINARY_DIR}/python/isomer
                     COMMAND ${CMAKE_COMMAND} -E touch ${copied})
  add_custom_target(isomer_python_sources DEPENDS ${copied})
  add_dependencies(_native isomer_python_sources)
  if(ISOMER_TESTS)
    add_test(NAME python COMMAND ${Python_EXECUTABLE} -m pytest -q ${CMAKE_SOURCE_DIR}/python/tests)
    set_tests_properties(python PROPERTIES ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python TIMEOUT 600)
  endif()
endif()
