# The test `install`: BUILD is the build folder, SOURCE this folder, WORK where to install and build.
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX}
    "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${WORK}/build)
# The installed program works alone, and so does what was built against the library.
run(${prefix}/bin/isomer models squeezenet -o ${WORK}/squeezenet.onnx)
run(${WORK}/build/use_isomer ${WORK}/squeezenet.onnx)
run(${prefix}/bin/isomer run ${WORK}/squeezenet.onnx)
