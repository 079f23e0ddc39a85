#pragma once
// Convolutions for tests of our kernels of Winograd's algorithm.

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/own_kernel_testing.h"
#include "isomer/engine/onednn/winograd.h"

namespace isomer::onednn {

/// Returns row-major elements in blocks of channels.
inline Floats blocked(const Floats& plain, int64_t images, int64_t channels, int64_t pixels) {
  Floats out(plain.size());
  const int64_t block = native_block();
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < pixels; ++p)
        out[static_cast<size_t>(((n * (channels / block) + c / block) * pixels + p) * block + c % block)] =
            plain[static_cast<size_t>((n * channels + c) * pixels + p)];
  return out;
}

/// Convolutions of all kinds, some transposed: one tile and several batches of tiles, tiles that end outside, every
/// padding.
inline std::vector<WinogradConv> convolutions() {
  const int64_t b = native_block();
  std::vector<WinogradConv> out = {{1, b, 3, 3, b, 1, 1, 0, 0},
                                   {1, b, 1, 1, 3 * b, 1, 1, 1, 1},
                                   {1, 2 * b, 56, 56, 2 * b, 56, 56, 1, 1},
                                   {2, 20 * b, 30, 31, b, 30, 31, 1, 1},
                                   {1, 64 * b, 6, 7, 3 * b, 6, 7, 1, 1}};
  Rng rng(7);
  while (out.size() < 60) {
    WinogradConv conv{up_to(rng, 3),     b * up_to(rng, 4), up_to(rng, 20),    up_to(rng, 20), b * up_to(rng, 5), 0, 0,
                      up_to(rng, 3) - 1, up_to(rng, 3) - 1, up_to(rng, 2) == 1};
    conv.out_height = conv.height - 2 + conv.top + up_to(rng, 3) - 1;
    conv.out_width = conv.width - 2 + conv.left + up_to(rng, 3) - 1;
    if (conv.out_height > 0 && conv.out_width > 0) out.push_back(conv);
  }
  return out;
}

}  // namespace isomer::onednn
