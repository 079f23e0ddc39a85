#include "isomer/engine/onednn/loop.h"

#include <cmath>

#include "isomer/engine/onednn/loop_chunk.h"
#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kLoopGrain = 16384;    // minimum number of elements times steps per thread
constexpr int64_t kFewestColumns = 128;  // adjacent columns per piece of work, if there are more
constexpr int64_t kChunksOfPart = 128;   // that are summed before the sum is added to others

/// Computes the elements [begin, end).
struct Elements {
  template <class Vector>
  static ISOMER_INLINE void run(const Loop& loop, LoopChunks* chunks, std::byte* to, int64_t chunk, int64_t begin,
                                int64_t end) {
    const bool past_caches = loop.past_caches && reinterpret_cast<uintptr_t>(to) % sizeof(Vector) == 0;
    while (begin < end) {
      int64_t count = std::min(end - begin, chunk);
      if (count > kLanes<Vector>) count -= count % kLanes<Vector>;
      const bool fills = count % kLanes<Vector> == 0 && !loop.conditions;
      float* const out = reinterpret_cast<float*>(to) + begin;
      const float* const made = chunks->template evaluate<Vector>(begin, count, fills && !past_caches ? out : nullptr);
      if (loop.conditions) {
        const auto* const bits = reinterpret_cast<const int32_t*>(made);
        for (int64_t i = 0; i < count; ++i) to[begin + i] = bits[i] != 0 ? std::byte{1} : std::byte{0};
      } else if (fills && past_caches) {
        for (int64_t i = 0; i < count; i += kLanes<Vector>) {
          Vector elements;
          load(elements, made + i);
          store_past_caches(out + i, elements);
        }
      } else if (made != out) {
        std::memcpy(out, made, static_cast<size_t>(count) * sizeof(float));
      }
      begin += count;
    }
    if (past_caches) end_stores_past_caches();
  }
};

template <class Vector>
ISOMER_INLINE float sum_of(const float* from, int64_t count) {
  // Four at a time, since each depends on the previous one.
  Vector sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes<Vector> <= count; i += 4 * kLanes<Vector>) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; ++k) {
      Vector x;
      load(x, from + i + k * kLanes<Vector>);
      sums[k] += x;
    }
  }
  for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
    Vector x;
    load(x, from + i);
    sums[0] += x;
  }
  const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float lanes[kLanes<Vector>];
  store(lanes, all);
  Vector4 folded{};
#pragma GCC unroll 4
  for (int64_t k = 0; k < kLanes<Vector>; k += 4) {
    Vector4 quarter;
    load(quarter, lanes + k);
    folded += quarter;
  }
  float sum = (folded[0] + folded[1]) + (folded[2] + folded[3]);
  for (; i < count; ++i) sum += from[i];
  return sum;
}

template <class Vector>
ISOMER_INLINE void add_to(float* sums, const float* from, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
    Vector sum, x;
    load(sum, sums + i);
    load(x, from + i);
    sum += x;
    store(sums + i, sum);
  }
  for (; i < count; ++i) sums[i] += from[i];
}

ISOMER_INLINE float finished_sum(double sum, const LoopSum& how) {
  const float scaled = static_cast<float>(sum) * how.factor;
  return how.root ? std::sqrt(scaled) : scaled;
}

/// Several rows of summed elements per piece of work if they are short.
int64_t rows_of_piece(const LoopSum& sum) { return std::clamp<int64_t>(kLoopChunk / sum.summed_too, 1, sum.kept); }

/// The sums of adjacent elements, one row per number.
struct RowSums {
  template <class Vector>
  static ISOMER_INLINE void run(const Loop& loop, LoopChunks* chunks, float* to, int64_t rows, int64_t begin,
                                int64_t end) {
    const LoopSum& sum = *loop.sum;
    const int64_t pieces = divided_up(sum.kept, rows);
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t outer = piece / pieces, first = piece % pieces * rows;
      const int64_t count = std::min(rows, sum.kept - first);
      double totals[kLoopChunk];
      for (int64_t r = 0; r < count; ++r) totals[r] = 0;
      for (int64_t a = 0; a < sum.summed; ++a) {
        const int64_t start = ((outer * sum.summed + a) * sum.kept + first) * sum.summed_too;
        for (int64_t at = 0; at < count * sum.summed_too; at += kLoopChunk) {
          const int64_t width = std::min(count * sum.summed_too - at, kLoopChunk);
          const float* const made = chunks->template evaluate<Vector>(start + at, width, nullptr);
          if (count == 1) {
            totals[0] += sum_of<Vector>(made, width);
            continue;
          }
          for (int64_t r = 0; r < count; ++r) totals[r] += sum_of<Vector>(made + r * sum.summed_too, sum.summed_too);
        }
      }
      for (int64_t r = 0; r < count; ++r) to[outer * sum.kept + first + r] = finished_sum(totals[r], sum);
    }
  }
};

/// Returns the columns of a piece of work: at most kLoopChunk, so that memory is read along rows, but fewer if there
/// would be fewer pieces than threads.
int64_t columns_of_piece(const LoopSum& sum) {
  const int64_t threads = divided_up(current_threads(), std::max<int64_t>(sum.outer * sum.kept, 1));
  const int64_t pieces = std::max(divided_up(sum.inner, kLoopChunk), threads);
  return std::min(sum.inner, std::max(rounded_up(divided_up(sum.inner, pieces), kLanes<Vector16>), kFewestColumns));
}

/// The sums of columns of adjacent numbers; several rows at a time if they are short.
struct ColumnSums {
  template <class Vector>
  static ISOMER_INLINE void run(const Loop& loop, LoopChunks* chunks, float* to, int64_t width, int64_t begin,
                                int64_t end) {
    const LoopSum& sum = *loop.sum;
    const int64_t pieces = divided_up(sum.inner, width);
    const int64_t rows = sum.inner <= kFewestColumns ? kLoopChunk / sum.inner : 1;
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t group = piece / pieces, column = piece % pieces * width;
      const int64_t columns = std::min(width, sum.inner - column);
      alignas(64) float part[kLoopChunk] = {};
      double totals[kLoopChunk];
      for (int64_t c = 0; c < columns; ++c) totals[c] = 0;
      int64_t chunks_of_part = 0;
      const auto join = [&]() __attribute__((always_inline)) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c) totals[c] += part[r * columns + c];
        for (int64_t i = 0; i < rows * columns; ++i) part[i] = 0;
        chunks_of_part = 0;
      };
      const int64_t outer = group / sum.kept, kept = group % sum.kept;
      for (int64_t a = 0; a < sum.summed; ++a) {
        const int64_t first = ((outer * sum.summed + a) * sum.kept + kept) * sum.summed_too;
        for (int64_t row = 0; row < sum.summed_too; row += rows) {
          const int64_t count = std::min(rows, sum.summed_too - row) * columns;
          add_to<Vector>(part, chunks->template evaluate<Vector>((first + row) * sum.inner + column, count, nullptr),
                         count);
          if (++chunks_of_part == kChunksOfPart) join();
        }
      }
      join();
      for (int64_t c = 0; c < columns; ++c) to[group * sum.inner + column + c] = finished_sum(totals[c], sum);
    }
  }
};

/// Computes sums piece by piece, in threads. `size`: the rows or columns of a piece.
template <class Pieces>
void sum_pieces(const Loop& loop, std::span<const std::byte* const> operands, float* to, int64_t size, int64_t pieces,
                int64_t grain) {
  const int64_t work = std::max<int64_t>(loop.count / pieces, 1);
  parallel_for(pieces, std::max<int64_t>(grain / work, 1), [&](int64_t begin, int64_t end) {
    LoopChunks chunks(loop, operands);
    dispatch<Pieces>(loop, &chunks, to, size, begin, end);
  });
}

/// The extent and the stride of an axis.
using Level = LoopOperand::Level;

}  // namespace

LoopOperand loop_operand(std::span<const int64_t> extents, std::span<const int64_t> strides) {
  std::vector<Level> levels;  // from the innermost on, joined
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] == 1) continue;
    const Level level{extents[axis], strides[axis]};
    if (!levels.empty() && level.stride == levels.back().stride * levels.back().extent)
      levels.back().extent *= level.extent;
    else
      levels.push_back(level);
  }
  LoopOperand out;
  size_t known = 0;
  if (known < levels.size() && levels[known].stride != 0) {
    out.width = levels[known].extent;
    out.stride = levels[known++].stride;
    out.whole = levels.size() == 1 && out.stride == 1;
  }
  if (known < levels.size() && levels[known].stride == 0) out.repeat = levels[known++].extent;
  out.outer.assign(levels.begin() + static_cast<ptrdiff_t>(known), levels.end());
  return out;
}

std::optional<LoopSum> loop_sum(std::span<const int64_t> extents, const std::vector<bool>& summed) {
  LoopSum sum;
  int64_t* const parts[] = {&sum.inner, &sum.summed_too, &sum.kept, &sum.summed, &sum.outer};
  size_t part = 0;
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] == 1) continue;
    if ((part % 2 == 1) != summed[axis]) ++part;
    if (part == std::size(parts)) return std::nullopt;
    *parts[part] *= extents[axis];
  }
  return sum;
}

void run(const Loop& loop, std::span<const std::byte* const> operands, std::byte* to) {
  if (loop.count == 0) return;
  const int64_t grain = kLoopGrain / static_cast<int64_t>(loop.steps.size() + 1);
  if (loop.sum) {
    const LoopSum& sum = *loop.sum;
    auto* const sums = reinterpret_cast<float*>(to);
    if (sum.inner == 1) {
      const int64_t rows = rows_of_piece(sum);
      return sum_pieces<RowSums>(loop, operands, sums, rows, sum.outer * divided_up(sum.kept, rows), grain);
    }
    const int64_t columns = columns_of_piece(sum);
    const int64_t pieces = sum.outer * sum.kept * divided_up(sum.inner, columns);
    return sum_pieces<ColumnSums>(loop, operands, sums, columns, pieces, grain);
  }
  const int64_t chunk = loop_chunk(loop);
  parallel_for((loop.count + chunk - 1) / chunk, std::max<int64_t>(grain / chunk, 1), [&](int64_t begin, int64_t end) {
    LoopChunks registers(loop, operands);
    dispatch<Elements>(loop, &registers, to, chunk, begin * chunk, std::min(end * chunk, loop.count));
  });
}

}  // namespace isomer::onednn
