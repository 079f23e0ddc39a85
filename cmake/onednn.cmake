# oneDNN and the OpenMP runtime that it uses. Debian's own CMake package asks for OpenCL's headers, which we do not need.
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(ONEDNN_LIBRARY dnnl)
if(NOT ONEDNN_INCLUDE_DIR OR NOT ONEDNN_LIBRARY)
  message(FATAL_ERROR "oneDNN is missing: tools/setup installs it (Debian's libdnnl-dev)")
endif()
include_directories(${ONEDNN_INCLUDE_DIR})
set(ISOMER_ONEDNN_LIBS ${ONEDNN_LIBRARY} gomp)
