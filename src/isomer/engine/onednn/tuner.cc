#include "isomer/engine/onednn/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "isomer/base/stopwatch.h"
#include "isomer/engine/onednn/program.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

constexpr int kRuns = 4;
constexpr int kLongRuns = 2;  // of kernels that take so long that they differ less
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

}  // namespace

Trial trial_of(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc) {
  return [&engine, &desc] {
    struct Prepared {
      dnnl::primitive primitive;
      dnnl::stream stream;
      std::vector<AlignedBytes> storage = {};
      std::vector<dnnl::memory> memories = {};
      std::vector<dnnl_exec_arg_t> arguments = {};
    };
    const auto prepared = std::make_shared<Prepared>(Prepared{dnnl::primitive(desc.get()), dnnl::stream(engine)});
    std::vector<std::span<const std::byte>> weights;
    for (const int number : argument_numbers(desc)) {
      const dnnl_memory_desc_t* found = dnnl_primitive_desc_query_md(desc.get(), dnnl_query_exec_arg_md, number);
      const dnnl::memory::desc layout = found == nullptr ? dnnl::memory::desc() : dnnl::memory::desc(*found);
      if (layout.get_size() == 0) continue;
      AlignedBytes& bytes = prepared->storage.emplace_back(layout.get_size());
      std::memset(bytes.data(), 0, bytes.size());
      prepared->memories.emplace_back(layout, engine, bytes.data());
      if (number == DNNL_ARG_WEIGHTS_0 || number == DNNL_ARG_WEIGHTS_1) weights.push_back(bytes.span());
      // Packed weights of recurrent layers begin with a description of themselves.
      if (layout.data.format_kind == dnnl_format_kind_rnn_packed) reorder_zeros(engine, prepared->memories.back());
      prepared->arguments.push_back({number, prepared->memories.back().get()});
    }
    const auto run = [prepared] {
      dnnl::error::wrap_c_api(
          dnnl_primitive_execute(prepared->primitive.get(), prepared->stream.get(),
                                 static_cast<int>(prepared->arguments.size()), prepared->arguments.data()),
          "a trial failed");
    };
    return PreparedTrial{run, std::move(weights)};
  };
}

double Tuner::measure(const Trial& trial, const std::string& /*key*/) {
  const PreparedTrial prepared = trial();
  std::vector<char> other(kEvicted);
  double min_us = std::numeric_limits<double>::max();
  for (int i = 0; i <= (min_us < kLongUs ? kRuns : kLongRuns); ++i) {
    for (size_t j = 0; j < other.size(); j += kLine) other[j] = static_cast<char>(other[j] + 1);
    // Networks whose weights decide their time have more of them than the caches.
    for (const auto& weights : prepared.weights)
      for (size_t j = 0; j < weights.size(); j += kLine) __builtin_ia32_clflush(weights.data() + j);
    __builtin_ia32_mfence();
    const Stopwatch watch;
    prepared.run();
    const double us = 1e6 * watch.seconds();
    if (i > 0) min_us = std::min(min_us, us);
  }
  return min_us;
}

double Tuner::measure_or_never(const Trial& trial, const std::string& key) {
  try {
    return measure(trial, key);
  } catch (const dnnl::error&) {
    return kNever;
  } catch (const std::bad_alloc&) {
    return kNever;
  }
}

double Tuner::time(const Trial& trial, const std::string& key, TuningLimit& limit) {
  const std::string whole = fmt::format("{} threads {}", key, current_threads());
  // Held while measuring: concurrent measurements would disturb each other.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = known_.find(whole); known != known_.end()) return known->second;
  const auto kept = kept_ == nullptr ? std::nullopt : kept_->find(whole);
  if (!kept && limit.end.passed()) {
    limit.exceeded = true;
    return 0;
  }
  const double us = kept ? *kept : measure_or_never(trial, whole);
  if (kept_ != nullptr && !kept) kept_->store(whole, us);
  known_.emplace(whole, us);
  return us;
}

}  // namespace isomer::onednn
