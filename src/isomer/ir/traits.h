#pragma once
// The properties that operators declare in addition to types and kernels. Code outside ops/ asks for a property instead
// of listing operators. ops/traits_test.cc checks every declaration.

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace isomer {

enum class Trait : uint8_t {
  Identity,       ///< The first result equals the first operand.
  View,           ///< The result has the elements of the first operand in the same row-major order; extents may differ.
  Permutation,    ///< The result is the first operand with its axes in the order `perm`.
  Cut,            ///< Each result is a part of the first operand: every s-th element along some axes.
  Concatenation,  ///< The result is the operands one after another along the axis `axis`.
  Pool,           ///< The mean or the maximum of each window: of a window with one element, that element.
  Conversion,     ///< The result is the first operand converted to the element type `to`.
  Product,        ///< A matrix product: sums of products of elements of the first two operands.
  Broadcast,      ///< Elementwise; the operands broadcast to the shape of the result.
  InPlace,        ///< Engines write the result over an operand, or compute it in the kernel that makes the operand.
  RealsOnly,      ///< Elements must be real numbers: type inference or the kernel refuses integers.
  Partial,        ///< Elementwise. Some small numbers have no finite result: 1 / 0, log(0), sqrt(-1).
  Exponential,    ///< Elementwise. The result grows exponentially: moderate numbers give very large ones.
  Elementwise,    ///< An element of the result depends only on the operands' elements at its position, after
                  ///< broadcasting, and in its channel (OperandRole::PerChannel).
  Leading,        ///< Works along the axes `axis` or `axes` of the first operand; without such an attribute, along all
                  ///< but axis 0. The axes before these are axes of the first result, too. What is there at one of
                  ///< their positions depends only on the elements of operands at that position, to which operands
                  ///< after the first broadcast (OperandRole::PerChannel is whole).
};

class TraitSet {
 public:
  constexpr TraitSet() = default;
  constexpr TraitSet(std::initializer_list<Trait> traits) {
    for (const Trait trait : traits) bits_ |= bit(trait);
  }

  constexpr bool has(Trait trait) const { return (bits_ & bit(trait)) != 0; }
  constexpr TraitSet with(Trait trait) const {
    TraitSet more = *this;
    more.bits_ |= bit(trait);
    return more;
  }

 private:
  static constexpr uint32_t bit(Trait trait) { return uint32_t{1} << static_cast<uint8_t>(trait); }

  uint32_t bits_ = 0;
};

/// The content of an operand, as far as it restricts the operand's shape or element type.
enum class OperandRole : uint8_t {
  Data,               ///< Anything that type inference accepts.
  Condition,          ///< Booleans.
  Indices,            ///< Integers: positions along `axis` of the first operand; each selects a whole slice.
  ElementIndices,     ///< Integers: positions along `axis` of the first operand; each selects one element.
  Coordinates,        ///< Integers: the last axis lists positions along the leading axes of the first operand.
  Labels,             ///< Integers: positions along axis 1 of the first operand, one for each line along it.
  Image,              ///< A batch of images: batch, channels, spatial axes.
  Filters,            ///< For a convolution: output channels, channels of one group, window.
  TransposedFilters,  ///< For a transposed convolution: as many axes as the image.
  FilterBias,         ///< One number for each filter.
  PerChannel,         ///< One number for each channel of the first operand.
  RightFactor,        ///< Matrices with as many rows as the first operand's matrices have columns.
};

/// The valid values of an attribute. Checks and proofs of rules choose values from them.
enum class AttrDomain : uint8_t {
  Any,            ///< Any value of its kind; for texts and lists, only the preset is tried.
  Values,         ///< One of AttrDef::values; the first is the most common one.
  Fixed,          ///< Only the preset: the attribute does not affect the result, or import allows no other value.
  Axis,           ///< An axis of the first operand; counted from the back if negative.
  AxisOrEnd,      ///< As Axis, or the end after the last axis.
  Axes,           ///< Distinct axes of the first operand.
  ResultAxes,     ///< Distinct axes of the result.
  Permutation,    ///< All axes of the first operand in some order.
  Parts,          ///< Numbers >= 0 whose sum is the extent of the axis `axis`.
  Shape,          ///< Extents.
  SameSize,       ///< Extents with as many elements as the operand; 0 copies an extent, -1 is inferred.
  Starts,         ///< Positions where parts begin, one for each of `axes`; counted from the back if negative.
  Ends,           ///< Positions where parts end, as Starts.
  Steps,          ///< Distances between selected elements, one for each of `axes`.
  Window,         ///< Extents of a window, one for each spatial axis.
  Strides,        ///< Numbers > 0, one for each spatial axis: strides, dilations.
  WindowPads,     ///< Numbers >= 0: before and after each spatial axis.
  OutputPadding,  ///< Numbers >= 0, one for each spatial axis.
  Pads,           ///< Numbers before and after each axis; negative numbers crop.
  Repeats,        ///< Numbers > 0, one for each axis.
  Groups,         ///< A number of groups that divides the channels; proofs hold for any such number.
  Divisor,        ///< A number that divides an extent.
  Scalar,         ///< A tensor of rank 0 with the first operand's element type; AttrDef::values lists examples.
};

/// The infix notation of an operator with two operands.
struct Infix {
  /// How tightly it binds.
  enum class Precedence : uint8_t { Sum, Product };

  std::string_view sign;
  Precedence precedence;
  bool associative = false;  ///< a + (b + c) needs no parentheses
};

}  // namespace isomer
