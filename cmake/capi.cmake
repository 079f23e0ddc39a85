# The library of the C interface: shared, and with nothing of C++ to be seen, so that a C program (or any language that
# calls C) needs only it and its header, whatever else of C++ the process holds.
set(exports ${CMAKE_SOURCE_DIR}/cmake/isomer_c.map)
add_library(isomer_c SHARED $<TARGET_OBJECTS:isomer_capi>)
target_link_libraries(isomer_c PRIVATE isomer)
target_link_options(isomer_c PRIVATE LINKER:--version-script=${exports})
target_include_directories(isomer_c INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
set_target_properties(
  isomer_c PROPERTIES EXPORT_NAME c LINKER_LANGUAGE CXX LINK_DEPENDS ${exports} VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
