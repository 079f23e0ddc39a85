#pragma once
// The ways to compute convolutions between which a planning chooses.

#include <memory>
#include <span>
#include <vector>

#include "isomer/engine/onednn/forms.h"
#include "isomer/engine/onednn/fusion.h"
#include "isomer/plan/decisions.h"

namespace isomer::onednn {

/// One way to compute a convolution.
struct ConvForm {
  Form src = kPlainForm;
  Form dst = kPlainForm;
  bool winograd = false;
  bool sums = false;  ///< the first added value with the result's extents must be in the result's place
  double us = 0;      ///< the time that it takes, if that is measured
};

/// A change of layout that a way to compute a convolution may need.
struct ConvReorder {
  enum class Of : uint8_t {
    Image,    ///< before the convolution reads it
    Added,    ///< the value that is added to the result, before
    Part,     ///< the result, to its place in a concatenation
    Decided,  ///< the result, to the layout that is decided for it
  };
  Of of = Of::Image;
  size_t way = 0;            ///< its index
  ValueId value = kNoValue;  ///< whose layout changes
  Form from = kPlainForm;
  Form to = kPlainForm;
};

class ConvWays {
 public:
  virtual ~ConvWays() = default;
  /// Returns the ways to compute a convolution with its posts, the preferred one first; none if the runtime has no
  /// kernel or extents are unknown. Decisions about the convolution's algorithm and about the layout of the group's
  /// result are obeyed. The result is valid until the next call at least.
  virtual std::span<const ConvForm> of(const Graph& graph, const Group& group, const Decisions& decisions) = 0;
  /// Returns the cost of a reorder around a way that was returned last: 0 if none is needed; else its time or, if
  /// nothing is measured, 1.
  virtual double cost(const Graph& graph, const ConvReorder& reorder) {
    return alike(graph, reorder.value, reorder.from, reorder.to) ? 0 : 1;
  }
};

/// The ways of plans in f32 that measure nothing. Asks oneDNN once for each convolution with its posts, which may
/// contain batch normalizations that will be merged. Thread-safe; results stay valid.
class ConvForms : public ConvWays {
 public:
  ConvForms();
  ~ConvForms() override;
  ConvForms(const ConvForms&) = delete;
  ConvForms& operator=(const ConvForms&) = delete;

  std::span<const ConvForm> of(const Graph& graph, const Group& group, const Decisions& decisions) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::onednn
