#pragma once
// 64-bit content hashes by xxHash. They are the same in every run and on every machine, and never depend on addresses.

#include <cstdint>
#include <span>
#include <string_view>

namespace isomer {

/// Hash of `size` bytes.
uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0);

/// Hash of a string.
uint64_t hash_text(std::string_view text, uint64_t seed = 0);

/// Mixes `value` into `state`; order matters.
inline uint64_t hash_mix(uint64_t state, uint64_t value) {
  // The finalizer of SplitMix64 over a rotated state: cheap, and every input bit affects every bit of the result.
  uint64_t z = (state << 23 | state >> 41) ^ (value + 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace isomer
