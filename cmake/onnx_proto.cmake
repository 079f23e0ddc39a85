# The ONNX format as C++ classes, generated from the .proto file of the onnx package in the project's virtual environment.
if(NOT ISOMER_ONNX_PROTO)
  file(GLOB candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/onnx/onnx-ml.proto)
  if(candidates)
    list(GET candidates 0 ISOMER_ONNX_PROTO)
  else()
    # `pip install` builds in an environment of its own, which has the onnx package.
    find_package(Python COMPONENTS Interpreter)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import onnx, os; print(os.path.dirname(onnx.__file__), end='')"
                    OUTPUT_VARIABLE onnx_package ERROR_QUIET)
    set(ISOMER_ONNX_PROTO ${onnx_package}/onnx-ml.proto)
  endif()
endif()
if(NOT EXISTS "${ISOMER_ONNX_PROTO}")
  message(FATAL_ERROR "onnx-ml.proto not found: run tools/setup first, or pass -DISOMER_ONNX_PROTO=FILE")
endif()
set(generated ${CMAKE_BINARY_DIR}/generated/isomer_onnx)
file(MAKE_DIRECTORY ${generated})
configure_file(${ISOMER_ONNX_PROTO} ${generated}/onnx-ml.proto COPYONLY)
add_custom_command(
  OUTPUT ${generated}/onnx-ml.pb.cc ${generated}/onnx-ml.pb.h
  COMMAND protobuf::protoc -I${generated} --cpp_out=${generated} onnx-ml.proto
  DEPENDS ${generated}/onnx-ml.proto)
add_library(isomer_onnx_pb OBJECT ${generated}/onnx-ml.pb.cc)
target_include_directories(isomer_onnx_pb SYSTEM PUBLIC $<BUILD_INTERFACE:${generated}>)
target_link_libraries(isomer_onnx_pb PUBLIC protobuf::libprotobuf)
# What links it gets the objects too.
add_library(isomer_onnx_proto INTERFACE)
target_link_libraries(isomer_onnx_proto INTERFACE isomer_onnx_pb $<TARGET_OBJECTS:isomer_onnx_pb> protobuf::libprotobuf)
