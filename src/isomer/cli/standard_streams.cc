#include "isomer/cli/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "isomer/cli/common.h"

namespace isomer {

void open_standard_streams() {
  int fd = 0;
  do fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

int flush_standard_output(int exit_code) {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return exit_code;
  std::fputs(
      fmt::format("isomer: standard output: {}\n", failed_before ? "cannot be written" : std::strerror(errno)).c_str(),
      stderr);
  return kBadInput;
}

}  // namespace isomer
