#include "isomer/runtime/onednn/threads.h"

// Two functions of the OpenMP API, declared here since not every compiler that builds us brings <omp.h>.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace isomer::onednn {

int current_threads() { return omp_get_max_threads(); }

ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }

}  // namespace isomer::onednn
