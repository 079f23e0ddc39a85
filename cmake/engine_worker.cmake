# Puts the worker of the ONNX Runtime engine, a Python script, into the library as a string, so that the program is one
# file wherever it is installed. Also records this checkout's Python, which is used where it exists.
set(worker ${CMAKE_SOURCE_DIR}/src/isomer/engine/ort_worker.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${worker})
file(READ ${worker} ISOMER_ORT_WORKER)
set(ISOMER_VENV_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python)
configure_file(${CMAKE_SOURCE_DIR}/src/isomer/engine/ort_worker.cc.in ${CMAKE_BINARY_DIR}/generated/ort_worker.cc @ONLY)
target_sources(isomer_engine PRIVATE ${CMAKE_BINARY_DIR}/generated/ort_worker.cc)
