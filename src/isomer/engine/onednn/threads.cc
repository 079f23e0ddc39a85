#include "isomer/engine/onednn/threads.h"

#include <sched.h>

#include <algorithm>

// Functions of the OpenMP API, declared here since not every supported compiler has <omp.h>; and the functions that
// compilers call for a parallel region, which are part of the binary interface of the runtime that oneDNN uses.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_thread_limit(void);
int omp_get_active_level(void);
int omp_get_max_active_levels(void);
int omp_get_dynamic(void);
int omp_get_proc_bind(void);
void omp_set_dynamic(int dynamic);
void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned flags);
}

#if defined(__SANITIZE_THREAD__)
#define ISOMER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ISOMER_THREAD_SANITIZER 1
#endif
#endif

#ifdef ISOMER_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace isomer::onednn {
namespace {

// The sanitizer does not recognize the barriers of the OpenMP runtime.
void entered([[maybe_unused]] void* region) {
#ifdef ISOMER_THREAD_SANITIZER
  __tsan_acquire(region);
#endif
}
void left([[maybe_unused]] void* region) {
#ifdef ISOMER_THREAD_SANITIZER
  __tsan_release(region);
#endif
}

struct TeamRegion {
  const void* what;
  TeamWork work;
};

void run_member(void* data) {
  entered(data);
  const TeamRegion& team = *static_cast<const TeamRegion*>(data);
  team.work(team.what, static_cast<size_t>(omp_get_thread_num()), static_cast<size_t>(omp_get_num_threads()));
  left(data);
}

struct Apart {
  const void* what;
  ApartWork work;
};

struct Region {
  int64_t count;
  const void* what;
  PartWork work;
};

void run_part(void* data) {
  entered(data);
  const Region& region = *static_cast<const Region*>(data);
  const int64_t parts = omp_get_num_threads();
  const int64_t part = omp_get_thread_num();
  region.work(region.what, region.count * part / parts, region.count * (part + 1) / parts);
  left(data);
}

}  // namespace

int current_threads() { return omp_get_max_threads(); }

Status check_threads(int threads) {
  if (threads <= 1) return {};
  if (const int limit = omp_get_thread_limit(); limit < threads)
    return fail("OpenMP may use {} thread{}, and the plan needs {}; raise OMP_THREAD_LIMIT", limit,
                limit == 1 ? "" : "s", threads);
  if (omp_get_active_level() >= omp_get_max_active_levels())
    return fail("a plan with {} threads cannot run inside of a parallel region of OpenMP", threads);
  return {};
}

ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()), dynamic_(omp_get_dynamic()) {
  omp_set_num_threads(threads);
  omp_set_dynamic(0);
}
ThreadScope::~ThreadScope() {
  omp_set_num_threads(before_);
  omp_set_dynamic(dynamic_);
}

void run_parts(int64_t count, int64_t grain, const void* what, PartWork work) {
  const int64_t threads = std::min<int64_t>(current_threads(), count / std::max<int64_t>(grain, 1));
  if (threads <= 1) return work(what, 0, count);
  Region region{count, what, work};
  left(&region);
  GOMP_parallel(run_part, &region, static_cast<unsigned>(threads), 0);
  entered(&region);
}

void run_as_team(size_t threads, const void* what, TeamWork work) {
  if (threads <= 1) return work(what, 0, 1);
  TeamRegion team{what, work};
  left(&team);
  GOMP_parallel(run_member, &team, static_cast<unsigned>(threads), 0);
  entered(&team);
}

void leave_core_to_leader(size_t threads) {
  thread_local int left = -1;     // of a leader: the core that its only helper left to it
  thread_local int avoided = -1;  // of a helper: the core that it may not use
  const int core = sched_getcpu();
  if (threads <= 1 || core < 0 || (threads == 2 && core == left) || omp_get_proc_bind() != 0) return;
  cpu_set_t others;
  CPU_ZERO(&others);
  if (sched_getaffinity(0, sizeof(others), &others) != 0 || CPU_COUNT(&others) < static_cast<int>(threads)) return;
  CPU_CLR(static_cast<size_t>(core), &others);
  as_team(threads, [&](size_t thread, size_t) {
    if (thread == 0 || avoided == core) return;
    avoided = sched_setaffinity(0, sizeof(others), &others) == 0 ? core : -1;
  });
  // A smaller team ends some of several helpers, and others replace them. They have not left the core.
  left = threads == 2 ? core : -1;
}

void run_apart(const void* what, ApartWork work) {
  Apart one{what, work};
  const auto call = [](void* data) {
    const ThreadScope alone(1);
    const Apart& apart = *static_cast<const Apart*>(data);
    apart.work(apart.what);
  };
  GOMP_parallel(call, &one, 1, 0);
}

}  // namespace isomer::onednn
