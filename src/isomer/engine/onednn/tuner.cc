#include "isomer/engine/onednn/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "isomer/base/stopwatch.h"
#include "isomer/engine/onednn/caches.h"
#include "isomer/engine/onednn/program.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

constexpr int kRuns = 4;
constexpr int kLongRuns = 3;  // of kernels that take so long that they differ less
constexpr double kLongUs = 5'000;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kLine = 64;                  // of a cache
constexpr size_t kEvicted = size_t{6} << 20;  // larger than a second-level cache

/// Returns all arguments that a primitive may have here.
std::vector<int> argument_numbers(const dnnl::primitive_desc_base& desc) {
  std::vector<int> numbers = {DNNL_ARG_SRC_0,     DNNL_ARG_SRC_1,    DNNL_ARG_SRC_2,        DNNL_ARG_WEIGHTS_0,
                              DNNL_ARG_WEIGHTS_1, DNNL_ARG_BIAS,     DNNL_ARG_DST_0,        DNNL_ARG_DST_1,
                              DNNL_ARG_DST_2,     DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_SCRATCHPAD};
  const dnnl::post_ops posts = desc.get_primitive_attr().get_post_ops();
  // For the operand of another kind of post, oneDNN returns uninitialized data.
  for (int i = 0; i < posts.len(); ++i)
    if (posts.kind(i) == dnnl::primitive::kind::binary)
      numbers.push_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1);
  return numbers;
}

void reorder_zeros(const dnnl::engine& engine, dnnl::memory& to) {
  const Desc plain = plain_desc(to.get_desc().dims());
  AlignedBytes zeros(plain.get_size());
  std::memset(zeros.data(), 0, zeros.size());
  dnnl::memory from(plain, engine, zeros.data());
  dnnl::stream stream(engine);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

PreparedTrial prepare(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, Cold cold) {
  struct Prepared {
    dnnl::primitive primitive;
    dnnl::stream stream;
    std::vector<AlignedBytes> storage = {};
    std::vector<dnnl::memory> memories = {};
    std::vector<dnnl_exec_arg_t> arguments = {};
  };
  const auto made = std::make_shared<Prepared>(Prepared{dnnl::primitive(desc.get()), dnnl::stream(engine)});
  std::vector<std::span<const std::byte>> flushed;
  for (const int number : argument_numbers(desc)) {
    const dnnl_memory_desc_t* found = dnnl_primitive_desc_query_md(desc.get(), dnnl_query_exec_arg_md, number);
    const dnnl::memory::desc layout = found == nullptr ? dnnl::memory::desc() : dnnl::memory::desc(*found);
    if (layout.get_size() == 0) continue;
    AlignedBytes& bytes = made->storage.emplace_back(layout.get_size());
    std::memset(bytes.data(), 0, bytes.size());
    made->memories.emplace_back(layout, engine, bytes.data());
    if (cold == Cold::Everything || number == DNNL_ARG_WEIGHTS_0 || number == DNNL_ARG_WEIGHTS_1)
      flushed.push_back(bytes.span());
    // Packed weights of recurrent layers begin with a description of themselves.
    if (layout.data.format_kind == dnnl_format_kind_rnn_packed) reorder_zeros(engine, made->memories.back());
    made->arguments.push_back({number, made->memories.back().get()});
  }
  const auto run = [made] {
    dnnl::error::wrap_c_api(dnnl_primitive_execute(made->primitive.get(), made->stream.get(),
                                                   static_cast<int>(made->arguments.size()), made->arguments.data()),
                            "a trial failed");
  };
  return {run, std::move(flushed)};
}

}  // namespace

Trial trial_of(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, Cold cold) {
  if (cold == Cold::Everything) return [&engine, &desc] { return prepare(engine, desc, Cold::Everything); };
  return [&engine, &desc] { return prepare(engine, desc, Cold::Weights); };
}

Contender contender(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, const std::string& key,
                    Cold cold) {
  return {trial_of(engine, desc, cold), key + " " + desc.impl_info_str()};
}

namespace {

/// Returns the microseconds of one run.
double time_once(const PreparedTrial& prepared, std::vector<char>& other) {
  for (size_t j = 0; j < other.size(); j += kLine) other[j] = static_cast<char>(other[j] + 1);
  // Networks whose weights decide their time have more of them than the caches.
  for (const auto& bytes : prepared.flushed) flush(bytes);
  const Stopwatch watch;
  prepared.run();
  return 1e6 * watch.seconds();
}

/// Returns what `work` returns; nothing if the kernel cannot be made.
template <class Work>
auto made(const Work& work) -> std::optional<decltype(work())> {
  try {
    return work();
  } catch (const dnnl::error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<double> Tuner::measure(std::span<const Contender> contenders) {
  leave_core_to_leader(static_cast<size_t>(current_threads()));
  std::vector<std::optional<PreparedTrial>> trials;  // all at once, with their arguments
  for (const Contender& contender : contenders) trials.push_back(made(contender.trial));
  std::vector<char> other(kEvicted);
  std::vector<double> min_us;
  const auto run_in_turn = [&] {
    min_us.assign(trials.size(), kNever);
    for (int i = 0; i <= kRuns; ++i)
      for (size_t c = 0; c < trials.size(); ++c) {
        if (!trials[c] || (i > kLongRuns && min_us[c] >= kLongUs)) continue;
        const auto us = made([&] { return time_once(*trials[c], other); });
        if (!us) trials[c].reset();
        if (i > 0 || !us) min_us[c] = us ? std::min(min_us[c], *us) : kNever;
      }
  };
  std::optional<double> slowdown;
  while (!slowdown) slowdown = noise_filter().watch(run_in_turn);
  for (double& us : min_us) us /= *slowdown;
  return min_us;
}

NoiseFilter& Tuner::noise_filter() {
  const int threads = current_threads();
  return noise_filters_.try_emplace(threads, arithmetic_probe(threads)).first->second;
}

std::vector<double> Tuner::times(std::span<const Contender> contenders, TuningLimit* limit) {
  std::vector<std::string> keys;
  for (const Contender& contender : contenders)
    keys.push_back(fmt::format("{} threads {}", contender.key, current_threads()));
  // Held while measuring: concurrent measurements would disturb each other.
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Contender> unknown;
  for (size_t c = 0; c < keys.size(); ++c) {
    if (known_.contains(keys[c]) || std::ranges::find(unknown, keys[c], &Contender::key) != unknown.end()) continue;
    if (const auto kept = kept_ == nullptr ? std::nullopt : kept_->find(keys[c]))
      known_.emplace(keys[c], *kept);
    else
      unknown.push_back({contenders[c].trial, keys[c]});
  }
  if (!unknown.empty() && limit != nullptr && limit->end.passed()) {
    limit->exceeded = true;
    return std::vector<double>(contenders.size(), 0);
  }
  const std::vector<double> measured = unknown.empty() ? std::vector<double>() : measure(unknown);
  for (size_t u = 0; u < unknown.size(); ++u) {
    if (kept_ != nullptr) kept_->store(unknown[u].key, measured[u]);
    known_.emplace(unknown[u].key, measured[u]);
  }
  std::vector<double> us;
  for (const std::string& key : keys) us.push_back(known_.at(key));
  return us;
}

std::vector<double> Tuner::times(std::span<const Contender> contenders) { return times(contenders, nullptr); }

double Tuner::time(const Trial& trial, const std::string& key, TuningLimit& limit) {
  const Contender only{trial, key};
  return times({&only, 1}, &limit)[0];
}

}  // namespace isomer::onednn
