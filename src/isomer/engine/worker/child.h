#pragma once
// A child process with which we communicate over a socket, one request and one answer at a time.

#include <signal.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/on_quit.h"
#include "isomer/base/result.h"

namespace isomer {

/// A message: a JSON header and raw bytes.
// NOLINTNEXTLINE(bugprone-exception-escape): json's move only checks an invariant.
struct Message {
  nlohmann::json header;
  std::string payload = {};
};

/// The ways in which a call can fail.
struct ChildFailure {
  enum Kind { Died, TimedOut } kind;
  std::string message;
};

/// Starts `command` (found on PATH, without a shell) with a socket as its standard input. Its output is kept in memory
/// and quoted when it dies. The destructor kills the child and waits for it.
class Child {
 public:
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends a request (unless null) and waits for an answer. After a failure the child is dead, and every later call
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
  std::string ending_;  // how it died; empty while it lives
  // A worker that hangs would not notice that this process has ended.
  std::optional<OnQuit> on_quit_{std::in_place, [this] { ::kill(pid_, SIGKILL); }};
};

}  // namespace isomer
