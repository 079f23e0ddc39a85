#include "isomer/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "isomer/base/printable.h"

namespace isomer {

Progress::Progress(std::string_view text) {
  if (!text.empty()) update(text);
}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::update(std::string_view text) {
  if (::isatty(STDERR_FILENO) == 0) return;
  winsize size{};
  const std::string line = printable(text);
  text = line;
  // A longer line would wrap, and then the next one would not replace it.
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) text = text.substr(0, size.ws_col - 1);
  fmt::print(stderr, "\r{}\033[K", text);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace isomer
