#pragma once
// A child process that we speak with over a socket, one question and one answer at a time.

#include <signal.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/on_quit.h"
#include "isomer/base/result.h"

namespace isomer {

/// A JSON header and raw bytes behind it.
// NOLINTNEXTLINE(bugprone-exception-escape): json's move checks an invariant, and that never throws.
struct Message {
  nlohmann::json header;
  std::string payload = {};
};

/// How a call failed.
struct ChildFailure {
  enum Kind { Died, TimedOut } kind;
  std::string message;
};

/// Starts `command` (looked up on PATH, no shell) with a socket as its standard input. What it prints goes to memory
/// and is quoted when it dies. It is killed, and waited for, when this object goes.
class Child {
 public:
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends a question (unless null) and waits for an answer. After a failure the child is gone, and every later call
  /// fails with Died.
  tl::expected<Message, ChildFailure> call(const Message* question, double timeout_seconds);

  pid_t pid() const { return pid_; }

 private:
  Child(pid_t pid, int socket, int log) : pid_(pid), socket_(socket), log_(log) {}
  enum class Direction { Send, Receive };
  bool transfer(Direction direction, char* data, size_t size, double deadline, bool& timed_out) const;
  bool send_message(const Message& message, double deadline, bool& timed_out) const;
  bool receive_message(Message& message, double deadline, bool& timed_out) const;
  std::string end();
  std::string log_tail() const;

  pid_t pid_;
  int socket_;
  int log_;
  std::string ending_;  // how it died, once it has
  // A worker that hangs would not notice that its questioner is gone.
  std::optional<OnQuit> on_quit_{std::in_place, [this] { ::kill(pid_, SIGKILL); }};
};

}  // namespace isomer
