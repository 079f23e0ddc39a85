#include "isomer/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace isomer {

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed) { return XXH3_64bits_withSeed(data, size, seed); }

uint64_t hash_text(std::string_view text, uint64_t seed) { return hash_bytes(text.data(), text.size(), seed); }

}  // namespace isomer
