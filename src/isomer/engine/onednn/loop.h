#pragma once
// Loops: element-wise expressions that a kernel of our own computes in one pass over their result, or over the elements
// that it then sums. A few hundred elements at a time, so that values between the steps stay in the first level of
// cache.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isomer::onednn {

/// What a step does to elements. Conditions are registers whose bits are all set or all clear.
enum class LoopOp : uint8_t {
  // Of one number.
  Copy,
  Neg,
  Abs,
  Sqrt,
  Exp,
  Reciprocal,
  Sigmoid,
  Tanh,
  Erf,
  Square,
  Cube,
  Linear,     ///< alpha x + beta
  Clip,       ///< min(max(x, alpha), beta)
  LeakyRelu,  ///< alpha x below 0
  // Of two numbers.
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  // From numbers to conditions.
  Equal,
  Greater,
  GreaterOrEqual,
  IsNotZero,
  // Of conditions.
  Not,
  And,
  Or,
  Xor,
  // With a condition.
  Select,    ///< the second argument where the condition holds, else the third
  ToNumber,  ///< 1 where it holds, else 0
};

/// Computes register `to` from others. It may be one of them.
struct LoopStep {
  LoopOp op = LoopOp::Copy;
  uint8_t to = 0;
  uint8_t from[3] = {};
  float alpha = 0;
  float beta = 0;
};

/// The places of an operand's elements, by the number of the element in the loop. Groups of `width * repeat` elements
/// repeat the same `width` elements of the operand, which are `stride` apart.
struct LoopOperand {
  bool conditions = false;  ///< one byte each, 0 or 1; else f32
  bool whole = false;       ///< element i of the loop reads element i
  int64_t width = 1;
  int64_t stride = 1;
  int64_t repeat = 1;
  /// The axes of the groups, from the innermost to the outermost.
  struct Level {
    int64_t extent = 1;
    int64_t stride = 0;
  };
  std::vector<Level> outer = {};
};
/// Describes an operand with a stride for each axis of the loop, in elements: 0 where it is broadcast.
LoopOperand loop_operand(std::span<const int64_t> extents, std::span<const int64_t> strides);

/// A sum of a loop's elements [outer, summed, kept, summed_too, inner]: of the second and the fourth axis.
struct LoopSum {
  int64_t outer = 1;
  int64_t summed = 1;
  int64_t kept = 1;
  int64_t summed_too = 1;
  int64_t inner = 1;
  float factor = 1;   ///< of the sum
  bool root = false;  ///< take the square root at the end
};
/// Describes a sum over the given axes of a loop; nothing if they are not of this kind.
std::optional<LoopSum> loop_sum(std::span<const int64_t> extents, const std::vector<bool>& summed);

inline constexpr size_t kMaxLoopOperands = 16;
inline constexpr size_t kMaxLoopRegisters = 40;

struct Loop {
  int64_t count = 0;                       ///< of elements
  std::vector<LoopOperand> operands = {};  ///< registers from 0 on; no step writes to them
  std::vector<LoopStep> steps = {};        ///< the last one makes the result; if there is none, it is operand 0
  bool conditions = false;                 ///< the result has conditions, one byte each
  bool past_caches = false;                ///< numbers are stored past the caches, since nothing reads them soon
  std::optional<LoopSum> sum = std::nullopt;
};

/// Runs a loop, with the current number of threads. `to` may be a whole operand of the same type, unless there is a
/// sum. The result does not depend on the number of threads. Sums are computed in parts.
void run(const Loop& loop, std::span<const std::byte* const> operands, std::byte* to);

}  // namespace isomer::onednn
