#pragma once
// Terms of discovery: an operator of the universe applied to terms, packed into 64 bits.

#include <compare>
#include <cstdint>

namespace isomer {

/// Index of a term in a TermBank; inputs come first.
using TermId = uint32_t;
constexpr TermId kNoTerm = (1U << 27) - 1;

/// Result `result` of operator `op` on the terms a and b (kNoTerm if there is only one operand); or an input, whose op
/// is kInput and whose index is a. Ordered by operator, operands, result, so that the results of one node are adjacent.
class TermCode {
 public:
  static constexpr uint32_t kInput = 255;

  constexpr TermCode() = default;
  constexpr TermCode(uint32_t op, TermId a, TermId b, uint32_t result)
      : bits_(static_cast<uint64_t>(op) << 56 | static_cast<uint64_t>(a) << 29 | static_cast<uint64_t>(b) << 2 |
              result) {}
  static constexpr TermCode input(uint32_t index) { return {kInput, index, kNoTerm, 0}; }

  constexpr uint32_t op() const { return static_cast<uint32_t>(bits_ >> 56); }
  constexpr TermId a() const { return static_cast<TermId>(bits_ >> 29) & kNoTerm; }
  constexpr TermId b() const { return static_cast<TermId>(bits_ >> 2) & kNoTerm; }
  constexpr uint32_t result() const { return static_cast<uint32_t>(bits_ & 3); }
  constexpr bool is_input() const { return op() == kInput; }
  constexpr bool is_binary() const { return b() != kNoTerm; }
  /// Returns whether both are results of the same node.
  constexpr bool same_node(TermCode other) const { return bits_ >> 2 == other.bits_ >> 2; }
  // The lint takes a comparison with the literal 0 inside of the default for a null pointer.
  friend constexpr auto operator<=>(TermCode, TermCode) = default;  // NOLINT(modernize-use-nullptr)

 private:
  uint64_t bits_ = 0;
};

/// The inputs of a term by first occurrence, five bits each.
class InputOrder {
 public:
  /// Numbers of inputs are smaller than this.
  static constexpr uint32_t kMaxInputs = 31;

  static InputOrder of(uint32_t input) { return InputOrder(kEmpty << kBits | input); }
  InputOrder() = default;

  /// Returns the inputs of a term whose operands have these inputs.
  static InputOrder joined(InputOrder a, InputOrder b) {
    for (size_t i = 0; i < b.size(); ++i) {
      if (a.has(b.at(i))) continue;
      const size_t at = kBits * a.size();
      a.bits_ = (a.bits_ & ~(uint64_t{kMaxInputs} << at)) | static_cast<uint64_t>(b.at(i)) << at;
    }
    return a;
  }
  size_t size() const {
    size_t n = 0;
    while (n < kSlots && at(n) != kMaxInputs) ++n;
    return n;
  }
  uint32_t at(size_t i) const { return static_cast<uint32_t>(bits_ >> kBits * i) & kMaxInputs; }
  bool has(uint32_t input) const {
    for (size_t i = 0; i < kSlots && at(i) != kMaxInputs; ++i)
      if (at(i) == input) return true;
    return false;
  }

 private:
  static constexpr size_t kBits = 5;
  static constexpr size_t kSlots = 12;  // terms of n operators have at most n + 1 inputs
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  explicit InputOrder(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = kEmpty;
};

}  // namespace isomer
