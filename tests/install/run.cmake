# The test `install`: BUILD is the build folder, SOURCE the checkout, WORK where to install and build.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
endfunction()

function(build source folder)
  run(${CMAKE_COMMAND} -S ${SOURCE}/${source} -B ${WORK}/${folder} -DCMAKE_PREFIX_PATH=${prefix} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${folder})
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
set(cxx -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror")
build(tests/install build ${cxx})
build(examples/cpp cpp ${cxx})
build(examples/c c "-DCMAKE_C_FLAGS=${FLAGS} -std=c11 -pedantic -Wall -Wextra -Werror")
# The installed program works by itself, and so does what was built against the library.
run(${prefix}/bin/isomer models squeezenet -o ${WORK}/squeezenet.onnx)
run(${WORK}/build/use_isomer ${WORK}/squeezenet.onnx)
run(${prefix}/bin/isomer run ${WORK}/squeezenet.onnx)
