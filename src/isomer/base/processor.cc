#include "isomer/base/processor.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

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

int available_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // Fails on machines with more processors than the set has room for.
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
  return std::max(CPU_COUNT(&allowed), 1);
}

}  // namespace isomer
