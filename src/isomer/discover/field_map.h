#pragma once
// An operator of the universe on operands of fixed extents, as a map between vectors over the prime field.

#include <optional>
#include <span>
#include <vector>

#include "isomer/discover/universe.h"
#include "isomer/ir/field.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// One result of an operator. It is made by probing the reference kernel. Maps that move elements, linear maps and
/// bilinear maps are recognized and become tables; all others run the kernel. The identity tests use at least 50 random
/// elements; one errs with probability 2^-59 for a polynomial, and about 1/2 for a function of signs.
class FieldMap {
 public:
  /// Returns the maps of all results of `op`; none if the operator does not accept such operands, or a result is empty.
  /// Fails if it accepts them, but its kernel does not compute in the field.
  static Result<std::vector<FieldMap>> compile(const UniverseOp& op, std::span<const Ints> operand_dims);
  /// Returns the value of a term without variables, in the field.
  static Result<Tensor> constant(const Term& term);

  const Ints& dims() const { return dims_; }
  size_t elements() const { return elements_; }
  /// The operands have the extents that the map was compiled for; `b` is not read if there is only one operand.
  void run(const Fp* a, const Fp* b, Fp* out) const;

  enum class Kind : uint8_t { Move, Linear, Bilinear, Kernel };
  Kind kind() const { return kind_; }

 private:
  /// A summand: source[i], or a[i] * b[j], times the factor.
  struct Part {
    uint32_t i = 0;
    uint32_t j = 0;
    Fp factor = 1;
  };
  friend class FieldMapProbe;

  void run_kernel(const Fp* a, const Fp* b, Fp* out) const;

  Kind kind_ = Kind::Kernel;
  Ints dims_;
  size_t elements_ = 0;
  std::vector<Ints> operand_dims_;
  std::vector<size_t> operand_sizes_;
  std::vector<uint32_t> begins_;  // start of the parts of each element, and the end
  std::vector<Part> parts_;
  bool unit_factors_ = true;
  size_t result_ = 0;
  std::shared_ptr<const Graph> graph_;
};

}  // namespace isomer
