#pragma once
// Vectors of f32 for our own kernels, which use the compiler's vector types. A kernel is a struct with a function
// template `run<Vector>(arguments...)`; dispatch<Kernel>(arguments...) calls the instance for the widest vectors of the
// processor, compiled for these.

#include <cstdint>
#include <cstring>

namespace isomer::onednn {

#define ISOMER_INLINE inline __attribute__((always_inline))

template <int kBytes>
struct VectorOf {
  typedef float Type __attribute__((vector_size(kBytes)));
};
using Vector4 = VectorOf<16>::Type;
using Vector8 = VectorOf<32>::Type;
using Vector16 = VectorOf<64>::Type;

template <class Vector>
inline constexpr int64_t kLanes = sizeof(Vector) / sizeof(float);

// Vectors are passed by reference, because passing them by value depends on the processor that code is compiled for.
template <class Vector>
ISOMER_INLINE void load(Vector& vector, const float* from) {
  std::memcpy(&vector, from, sizeof(Vector));
}
template <class Vector>
ISOMER_INLINE void store(float* to, const Vector& vector) {
  std::memcpy(to, &vector, sizeof(Vector));
}

/// Stores a vector at an address that is a multiple of its size, past the caches. Call `end_stores_past_caches` before
/// another thread may read what is stored.
template <class Vector>
ISOMER_INLINE void store_past_caches(float* to, const Vector& vector) {
#ifdef __clang__
  __builtin_nontemporal_store(vector, reinterpret_cast<Vector*>(to));
#else
  auto* const place = reinterpret_cast<float(*)[kLanes<Vector>]>(to);
  if constexpr (sizeof(Vector) == sizeof(Vector4))
    asm("movntps %1, %0" : "=m"(*place) : "x"(vector));
  else
    asm("vmovntps %1, %0" : "=m"(*place) : "v"(vector));
#endif
}
ISOMER_INLINE void end_stores_past_caches() { __builtin_ia32_sfence(); }

/// Sets all elements of a vector to a number in memory. `Native`: the vector that the code is compiled for. GCC 12
/// would add zeros and spread the sum, which takes as long as arithmetic on whole vectors.
template <class Native, class Vector>
ISOMER_INLINE void fill(Vector& vector, const float& number) {
#ifndef __clang__
  if constexpr (sizeof(Native) > sizeof(Vector4))
    asm("vbroadcastss %1, %0" : "=v"(vector) : "m"(number));
  else
#endif
    vector = number - Vector{};
}

/// Adds the products of vectors with one number in memory. `Native`: the vector that the code is compiled for.
template <class Native, class Vector, int kCount>
ISOMER_INLINE void add_scaled(Vector (&sums)[kCount], const Vector (&vectors)[kCount], const float& number) {
#ifndef __clang__
  if constexpr (sizeof(Vector) == sizeof(Vector16) && sizeof(Native) == sizeof(Vector)) {
    // Each instruction spreads the number itself. So there are fewer, which counts if another thread runs on the core.
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      Vector sum = sums[v];  // GCC 12 stores an array in memory for each instruction that is written out
      asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(vectors[v]), "m"(number));
      sums[v] = sum;
    }
    return;
  }
#endif
  Vector scale;
  fill<Native>(scale, number);
#pragma GCC unroll 4
  for (int v = 0; v < kCount; ++v) sums[v] += scale * vectors[v];
}

/// Hides how a vector was made. GCC 12 joins the conditions of two selections from the same numbers, and cannot
/// vectorize the result.
template <class Vector>
ISOMER_INLINE void hide_origin(Vector& vector) {
#ifdef __clang__
  asm("" : "+m"(vector));  // Clang compares the size with registers before it knows the processor
#else
  asm("" : "+x"(vector));
#endif
}

/// The widest vectors of this processor.
enum class VectorWidth : uint8_t { Sse, Avx2, Avx512 };
VectorWidth vector_width();
/// Returns the name of our own kernels in plans: "own:avx512", "own:avx2" or "own:sse2".
const char* own_implementation();

template <class Kernel, class... Arguments>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))) void run_avx512(const Arguments&... arguments) {
  Kernel::template run<Vector16>(arguments...);
}
template <class Kernel, class... Arguments>
__attribute__((target("avx2,fma"))) void run_avx2(const Arguments&... arguments) {
  Kernel::template run<Vector8>(arguments...);
}
template <class Kernel, class... Arguments>
void run_sse(const Arguments&... arguments) {
  Kernel::template run<Vector4>(arguments...);
}

template <class Kernel, class... Arguments>
void dispatch(const Arguments&... arguments) {
  switch (vector_width()) {
    case VectorWidth::Avx512:
      return run_avx512<Kernel>(arguments...);
    case VectorWidth::Avx2:
      return run_avx2<Kernel>(arguments...);
    case VectorWidth::Sse:
      return run_sse<Kernel>(arguments...);
  }
}

}  // namespace isomer::onednn
