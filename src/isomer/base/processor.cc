#include "isomer/base/processor.h"

#include <sys/utsname.h>

#include <fstream>

namespace isomer {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  // Some kernels (those of Arm) report no model name.
  utsname name{};
  return ::uname(&name) == 0 ? name.machine : "unknown";
}

}  // namespace isomer
