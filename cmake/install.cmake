# `cmake --install`: the program, the libraries, their headers, and a CMake package, so that find_package(isomer) gives the
# targets isomer::isomer (C++) and isomer::c (C).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Headers that need the generated ONNX classes are private to the room onnx; the command line, the discovery of rules and the
# published experiments are not in the library; of the C interface there is one header.
file(GLOB headers RELATIVE ${CMAKE_SOURCE_DIR}/src CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/isomer/*/*.h
     ${CMAKE_SOURCE_DIR}/src/isomer/*/*/*.h)
list(FILTER headers EXCLUDE REGEX "^isomer/(capi|cli|discover|onnx|repro)/")
list(APPEND headers isomer/capi/isomer.h isomer/onnx/export.h isomer/onnx/import.h isomer/onnx/model.h isomer/onnx/npy.h)
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

install(TARGETS isomer EXPORT isomer-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS isomer_c EXPORT isomer-c-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET isomer_cli_program)
  install(TARGETS isomer_cli_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/isomer)
install(EXPORT isomer-targets NAMESPACE isomer:: DESTINATION ${package_folder})
install(EXPORT isomer-c-targets NAMESPACE isomer:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/isomer-config.cmake.in ${CMAKE_BINARY_DIR}/isomer-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/isomer-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/isomer-config.cmake ${CMAKE_BINARY_DIR}/isomer-config-version.cmake
        DESTINATION ${package_folder})

if(ISOMER_TESTS AND NOT ISOMER_SANITIZE)
  # Installs into a folder of its own and builds programs against the package: tests/install and the examples. (Programs in
  # C alone do not link with a library whose sanitizers are those of C++.)
  add_test(NAME install
           COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DSOURCE=${CMAKE_SOURCE_DIR}
                   -DWORK=${CMAKE_BINARY_DIR}/install_test -DCXX=${CMAKE_CXX_COMPILER} -DFLAGS=${CMAKE_CXX_FLAGS}
                   -P ${CMAKE_SOURCE_DIR}/tests/install/run.cmake)
  set_tests_properties(install PROPERTIES TIMEOUT 600 FIXTURES_SETUP installed)
endif()
