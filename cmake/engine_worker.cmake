# Puts the workers of the engines that are Python packages into the library as strings, so that the program is one file
# wherever it is installed. Also records this checkout's Python, which is used where it exists.
function(isomer_worker engine)
  string(TOUPPER ${engine} start)
  string(SUBSTRING ${start} 0 1 start)
  string(SUBSTRING ${engine} 1 -1 rest)
  set(folder ${CMAKE_SOURCE_DIR}/src/isomer/engine)
  isomer_embed("${folder}/worker/worker.py;${folder}/worker/noise_filter.py;${folder}/${engine}/worker.py" ${engine}_worker k${start}${rest}Worker)
  target_sources(isomer_engine PRIVATE ${CMAKE_BINARY_DIR}/generated/${engine}_worker.cc)
endfunction()

isomer_worker(ort)
isomer_worker(openvino)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/venv_python.cc CONTENT [[
namespace isomer {
extern const char* const kVenvPython;
const char* const kVenvPython = "@CMAKE_SOURCE_DIR@/.venv/bin/python";
}  // namespace isomer
]] @ONLY)
target_sources(isomer_engine PRIVATE ${CMAKE_BINARY_DIR}/generated/venv_python.cc)
