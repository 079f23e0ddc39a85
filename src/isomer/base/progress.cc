#include "isomer/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace isomer {

Progress::Progress(std::string_view text) {
  if (!text.empty()) update(text);
}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::update(std::string_view text) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{}\033[K", text);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace isomer
