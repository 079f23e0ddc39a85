#pragma once
// Results that other threads compute before they are needed.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "isomer/base/parallel.h"

namespace isomer {

/// Computes outputs of inputs that are likely to be needed soon, in the order in which they were added. One thread adds
/// inputs and takes outputs; it also helps while it waits.
template <class Input, class Output>
class Ahead {
 public:
  /// Returns the output, or anything once it is abandoned: then nobody takes it. `thread` is 0 on the thread that takes
  /// outputs, and below `threads` on the others.
  using Compute = std::function<Output(const Input&, size_t thread, const std::atomic<bool>& abandoned)>;

  /// Starts `threads` - 1 threads (start_threads).
  Ahead(size_t threads, Compute compute) : compute_(std::move(compute)) {
    start_threads(threads_, threads - 1, [this](size_t thread) { work(thread); });
  }
  /// Abandons everything and waits until it has ended.
  ~Ahead() {
    keep_only({});
    const std::scoped_lock one(lock_);
    ended_ = true;
    changed_.notify_all();
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// Adds an input, unless one with this key is known. Equal keys mean equal outputs.
  void add(uint64_t key, Input input) {
    const std::scoped_lock one(lock_);
    if (find(key) != jobs_.end()) return;
    jobs_.emplace_back(key, std::move(input));
    changed_.notify_all();
  }

  /// Forgets all inputs but those with these keys. What has begun is abandoned.
  void keep_only(std::span<const uint64_t> keys) {
    const std::scoped_lock one(lock_);
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      const auto next = std::next(job);
      if (std::ranges::find(keys, job->key) == keys.end()) {
        if (job->state == Job::Running) {
          job->abandoned = true;
          abandoned_.splice(abandoned_.end(), jobs_, job);
        } else {
          jobs_.erase(job);
        }
      }
      job = next;
    }
  }

  /// Takes an output. Waits if it is being computed, and computes others meanwhile; `poll` is called every millisecond.
  /// Nothing if its computation has not begun: then the caller computes it. Throws what the computation has thrown.
  std::optional<Output> take(uint64_t key, const std::function<void()>& poll) {
    std::unique_lock one(lock_);
    const auto job = find(key);
    if (job == jobs_.end()) return std::nullopt;
    while (job->state == Job::Running) {
      if (compute_next(one, 0)) continue;
      one.unlock();
      poll();
      one.lock();
      changed_.wait_for(one, std::chrono::milliseconds(1), [&] { return job->state != Job::Running; });
    }
    std::list<Job> taken;
    taken.splice(taken.end(), jobs_, job);
    if (job->error) std::rethrow_exception(job->error);
    return std::move(job->output);
  }

 private:
  struct Job {
    Job(uint64_t of, Input in) : key(of), input(std::move(in)) {}
    enum State : uint8_t { Waiting, Running, Done };
    const uint64_t key;
    const Input input;
    State state = Waiting;
    std::atomic<bool> abandoned = false;
    std::optional<Output> output = std::nullopt;
    std::exception_ptr error = nullptr;
  };

  auto find(uint64_t key) { return std::ranges::find(jobs_, key, &Job::key); }

  /// Computes the first that waits, without the lock. False if none waits.
  bool compute_next(std::unique_lock<std::mutex>& lock, size_t thread) {
    const auto next = std::ranges::find(jobs_, Job::Waiting, &Job::state);
    if (next == jobs_.end()) return false;
    Job& job = *next;  // lists keep their elements where they are
    job.state = Job::Running;
    lock.unlock();
    std::optional<Output> output;
    std::exception_ptr error;
    try {
      output.emplace(compute_(job.input, thread, job.abandoned));
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    job.output = std::move(output);
    job.error = error;
    job.state = Job::Done;
    if (job.abandoned) abandoned_.remove_if([&](const Job& each) { return &each == &job; });
    changed_.notify_all();
    return true;
  }

  void work(size_t thread) {
    std::unique_lock one(lock_);
    while (!ended_)
      if (!compute_next(one, thread)) changed_.wait(one);
  }

  const Compute compute_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::list<Job> jobs_;       // in the order in which they are needed
  std::list<Job> abandoned_;  // but still running
  bool ended_ = false;
  std::vector<std::jthread> threads_;  // joined first
};

}  // namespace isomer
