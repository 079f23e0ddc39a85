#include "isomer/engine/worker/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace isomer {
namespace {

/// Owns a file descriptor and closes it.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Makes `fd` at least 3, so that the descriptors 0, 1 and 2 of the child do not overwrite one that is still needed.
int above_standard(int fd) {
  if (fd < 0 || fd > 2) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  ::close(fd);
  return moved;
}

int spawn(const std::vector<std::string>& command, int input, int log, pid_t& pid) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  // The child has its own process group. Ctrl-C on the terminal ends Isomer, which ends the child; the child prints no
  // traceback.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail("cannot make a socket: {}", std::strerror(errno));
  }
  Fd ours(above_standard(ends[0]));
  const Fd theirs(above_standard(ends[1]));
  Fd log(above_standard(::memfd_create("isomer-child-log", MFD_CLOEXEC)));
  if (ours.get() < 0 || theirs.get() < 0 || log.get() < 0) {
    return fail("cannot make a pipe: {}", std::strerror(errno));
  }
  // Opened for appending, so that the log can be truncated while the child writes.
  ::fcntl(log.get(), F_SETFL, O_APPEND);
  pid_t pid = 0;
  const int error = spawn(command, theirs.get(), log.get(), pid);
  if (error != 0) return fail("cannot start {}: {}", command[0], std::strerror(error));
  return std::unique_ptr<Child>(new Child(pid, ours.release(), log.release()));
}

Child::~Child() {
  end();
  ::close(log_);
}

tl::expected<Message, ChildFailure> Child::call(const Message* question, double timeout_seconds) {
  bool timed_out = false;
  Message answer;
  if (socket_ >= 0) {
    const double deadline = now() + timeout_seconds;
    if (question != nullptr && ::ftruncate(log_, 0) != 0) timed_out = false;  // then an error quotes older output too
    const bool sent = question == nullptr || send_message(*question, deadline, timed_out);
    if (sent && receive_message(answer, deadline, timed_out)) return answer;
    if (timed_out) {
      end();
      ending_ = fmt::format("did not answer within {:g} s", timeout_seconds);
      return tl::unexpected(ChildFailure{ChildFailure::TimedOut, ending_});
    }
    // The child closed its end or sent an invalid message. It cannot be used any more.
    ending_ = end();
  }
  return tl::unexpected(ChildFailure{ChildFailure::Died, ending_});
}

/// Sends or receives exactly `size` bytes, by the deadline.
bool Child::transfer(Direction direction, char* data, size_t size, double deadline, bool& timed_out) const {
  const bool sending = direction == Direction::Send;
  while (size > 0) {
    const double left = deadline - now();
    pollfd wanted{socket_, static_cast<short>(sending ? POLLOUT : POLLIN), 0};
    const int ready = left <= 0 ? 0 : ::poll(&wanted, 1, static_cast<int>(std::min(left, 1e6) * 1000) + 1);
    if (ready == 0 && left > 0) continue;
    if (ready == 0) {
      timed_out = true;
      return false;
    }
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t moved =
        sending ? ::send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) : ::recv(socket_, data, size, MSG_DONTWAIT);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (moved <= 0) return false;
    data += moved;
    size -= static_cast<size_t>(moved);
  }
  return true;
}

bool Child::send_message(const Message& message, double deadline, bool& timed_out) const {
  std::string text = message.header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::array<uint64_t, 2> lengths = {text.size(), message.payload.size()};
  return transfer(Direction::Send, reinterpret_cast<char*>(lengths.data()), sizeof lengths, deadline, timed_out) &&
         transfer(Direction::Send, text.data(), text.size(), deadline, timed_out) &&
         transfer(Direction::Send, const_cast<char*>(message.payload.data()), message.payload.size(), deadline,
                  timed_out);
}

bool Child::receive_message(Message& message, double deadline, bool& timed_out) const {
  constexpr uint64_t kMaxHeader = uint64_t{1} << 30, kMaxPayload = uint64_t{1} << 38;
  std::array<uint64_t, 2> lengths{};
  if (!transfer(Direction::Receive, reinterpret_cast<char*>(lengths.data()), sizeof lengths, deadline, timed_out)) {
    return false;
  }
  if (lengths[0] > kMaxHeader || lengths[1] > kMaxPayload) return false;
  std::string text(lengths[0], '\0');
  message.payload.resize(lengths[1]);
  if (!transfer(Direction::Receive, text.data(), text.size(), deadline, timed_out) ||
      !transfer(Direction::Receive, message.payload.data(), message.payload.size(), deadline, timed_out)) {
    return false;
  }
  message.header = nlohmann::json::parse(text, nullptr, false);
  return message.header.is_object();
}

/// Kills the child if it is still running, and returns how it ended and its last output.
std::string Child::end() {
  if (socket_ < 0) return ending_;
  ::close(std::exchange(socket_, -1));
  on_quit_.reset();  // another process may soon have the same number
  // Wait a moment for a child that has crashed, so that the crash is reported, and not the kill.
  int status = 0;
  pid_t gone = 0;
  for (int wait = 0; wait < 20 && gone == 0; ++wait) {
    gone = ::waitpid(pid_, &status, WNOHANG);
    if (gone == 0) ::usleep(5000);
  }
  if (gone == 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  const std::string tail = log_tail();
  return describe(status) + (tail.empty() ? "" : ": " + tail);
}

std::string Child::log_tail() const {
  constexpr off_t kMaxTail = 2000;
  const off_t size = ::lseek(log_, 0, SEEK_END);
  std::string tail(static_cast<size_t>(std::min(std::max<off_t>(size, 0), kMaxTail)), '\0');
  const ssize_t read = ::pread(log_, tail.data(), tail.size(), std::max<off_t>(0, size - kMaxTail));
  tail.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
  tail.erase(tail.find_last_not_of(" \n") + 1);
  return tail;
}

}  // namespace isomer
