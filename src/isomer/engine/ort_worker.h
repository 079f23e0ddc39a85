#pragma once
// What the build puts into the library (cmake/engine_worker.cmake).

namespace isomer {

extern const char* const kOrtWorker;   ///< the text of ort_worker.py
extern const char* const kVenvPython;  ///< the Python of the checkout that was built; may not exist any more

}  // namespace isomer
