#pragma once
// The processor that the program runs on.

#include <string>

namespace isomer {

/// The processor's name as the operating system gives it, or its architecture if there is none.
std::string processor_name();

/// The number of cores on which this process may run, at least 1.
int available_cores();

}  // namespace isomer
