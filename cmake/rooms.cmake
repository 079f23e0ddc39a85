# isomer_room(NAME USES rooms LIBS libraries SOURCES generated files): src/isomer/NAME as an object library, and its tests as isomer_NAME_test.
# Files named *_test.cc are tests; main.cc is a program and belongs to no library.
set(ISOMER_ROOMS "")
set(ISOMER_LIBS "")  # what the rooms link, beside one another

function(isomer_warnings target)
  # clang calls it otherwise.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(shadow -Wshadow)
  else()
    set(shadow -Wshadow=local)
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra ${shadow} -Werror)
endfunction()

# Links a program only with rooms, not with the whole library, so that it builds soon. Rooms without sources are skipped.
function(isomer_link_rooms target)
  foreach(room ${ARGN})
    if(TARGET isomer_${room})
      target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:isomer_${room}> $<TARGET_PROPERTY:isomer_${room},LINK_LIBRARIES>)
    endif()
  endforeach()
endfunction()

# Compiles the sources of a target a dozen at a time: what takes long is reading headers and instantiating templates, not
# our own lines. Only neighbours in a folder share a translation unit, and with it the names of their anonymous namespaces.
# -DCMAKE_UNITY_BUILD=OFF compiles each source by itself: a build takes three times as long, but after a change to one
# source the next takes seconds.
function(isomer_unite target)
  get_target_property(sources ${target} SOURCES)
  set(place 0)
  set(last "")
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    if(NOT folder STREQUAL last)
      set(place 0)
      set(last ${folder})
    endif()
    math(EXPR dozen "${place} / 12")
    math(EXPR place "${place} + 1")
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${name}_${dozen}" group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

function(isomer_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBS;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/isomer/${name}/*.cc
       ${CMAKE_SOURCE_DIR}/src/isomer/${name}/*/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main|_fuzz)\\.cc$")
  # Every room brings the rooms that it uses, theirs included.
  set(reach ${ROOM_USES})
  foreach(used ${ROOM_USES})
    list(APPEND reach ${ISOMER_REACH_${used}})
  endforeach()
  list(REMOVE_DUPLICATES reach)
  set(ISOMER_REACH_${name} ${reach} PARENT_SCOPE)
  set(ISOMER_ROOMS ${ISOMER_ROOMS} ${name} PARENT_SCOPE)
  set(ISOMER_LIBS ${ISOMER_LIBS} ${ROOM_LIBS} PARENT_SCOPE)
  if(NOT sources)
    return()
  endif()

  add_library(isomer_${name} OBJECT ${sources} ${ROOM_SOURCES})
  isomer_unite(isomer_${name})
  target_include_directories(isomer_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>)
  target_link_libraries(isomer_${name} PUBLIC fmt::fmt tl::expected Threads::Threads ${ROOM_LIBS})
  isomer_warnings(isomer_${name})

  if(ISOMER_TESTS AND tests)
    add_executable(isomer_${name}_test ${tests})
    isomer_unite(isomer_${name}_test)
    isomer_link_rooms(isomer_${name}_test ${name} ${reach})
    target_include_directories(isomer_${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(isomer_${name}_test PRIVATE ISOMER_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                           ISOMER_BINARY_DIR="${CMAKE_BINARY_DIR}")
    target_link_libraries(isomer_${name}_test PRIVATE nlohmann_json::nlohmann_json GTest::gtest_main GTest::gmock)
    isomer_warnings(isomer_${name}_test)
    add_test(NAME ${name} COMMAND isomer_${name}_test)
    # Sanitizers make the proofs ten times as slow.
    if(ISOMER_SANITIZE)
      set_tests_properties(${name} PROPERTIES TIMEOUT 3600)
    else()
      set_tests_properties(${name} PROPERTIES TIMEOUT 600)
    endif()
  endif()
endfunction()

if(ISOMER_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
endif()

# The library `isomer` (all rooms but those that only the program has: the command line, the discovery of rules and the
# published experiments) and the program.
function(isomer_finish)
  set(objects "")
  foreach(room ${ISOMER_ROOMS})
    if(TARGET isomer_${room} AND NOT room MATCHES "^(cli|discover|repro)$")
      list(APPEND objects $<TARGET_OBJECTS:isomer_${room}>)
    endif()
  endforeach()
  # The generated ONNX classes go into the library, so that who links it needs no target of ours but this one.
  set(libraries ${ISOMER_LIBS})
  list(TRANSFORM libraries REPLACE "^isomer_onnx_proto$" protobuf::libprotobuf)
  add_library(isomer STATIC ${objects} $<TARGET_OBJECTS:isomer_onnx_pb>)
  target_link_libraries(isomer PUBLIC fmt::fmt tl::expected Threads::Threads nlohmann_json::nlohmann_json
                               PRIVATE ${libraries})
  target_include_directories(isomer INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)

  if(EXISTS ${CMAKE_SOURCE_DIR}/src/isomer/cli/main.cc)
    add_executable(isomer_cli_program src/isomer/cli/main.cc $<TARGET_OBJECTS:isomer_cli>
                                      $<TARGET_OBJECTS:isomer_discover> $<TARGET_OBJECTS:isomer_repro>)
    set_target_properties(isomer_cli_program PROPERTIES OUTPUT_NAME isomer)
    target_link_libraries(isomer_cli_program PRIVATE isomer)
    if(NOT ISOMER_SANITIZE) # which bring allocators of their own
      find_library(ISOMER_JEMALLOC jemalloc REQUIRED)
      target_link_libraries(isomer_cli_program PRIVATE ${ISOMER_JEMALLOC})
    endif()
    target_include_directories(isomer_cli_program PRIVATE ${CMAKE_SOURCE_DIR}/src)
    isomer_warnings(isomer_cli_program)
  endif()
endfunction()
