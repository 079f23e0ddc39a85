#pragma once
// A line of progress on the terminal.

#include <string>
#include <string_view>

namespace isomer {

/// Shows one line on stderr during its lifetime and removes it at the end. Does nothing if stderr is not a terminal.
class Progress {
 public:
  explicit Progress(std::string_view text = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line.
  void update(std::string_view text);

 private:
  bool shown_ = false;
};

}  // namespace isomer
