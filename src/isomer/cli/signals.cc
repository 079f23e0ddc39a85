#include "isomer/cli/signals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "isomer/base/on_quit.h"

namespace isomer {
namespace {

constexpr int kInterrupted = 130;
constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::array<int, 2> pipe_ends{-1, -1};
std::atomic<bool> wait_for_second = false;
std::atomic<bool> came = false;

/// Passes the signal to a thread, which may do more than a signal handler.
extern "C" void pass_on(int signal) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = ::write(pipe_ends[1], &byte, 1);
  errno = before;
}

void handle(int signal) {
  if (wait_for_second && !came.exchange(true)) {
    if (::isatty(STDERR_FILENO) != 0)
      fmt::print(stderr, "\r\033[Kisomer: ending the search; interrupt again to quit without a result\n");
    return;
  }
  quit(wait_for_second ? kInterrupted : 128 + signal);
}

void watch() {
  unsigned char signal = 0;
  for (;;) {
    const ssize_t got = ::read(pipe_ends[0], &signal, 1);
    if (got == 1 && std::ranges::find(kSignals, signal) != kSignals.end()) handle(signal);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

}  // namespace

void watch_signals() {
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return;  // signals then have their default effect
  std::thread(watch).detach();
  for (const int signal : kSignals) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

void wait_for_second_signal() { wait_for_second = true; }

bool interrupted() { return came; }

}  // namespace isomer
