#pragma once
// The ways to compute convolutions between which a planning chooses.

#include <memory>
#include <span>

#include "isomer/engine/onednn/forms.h"
#include "isomer/engine/onednn/fusion.h"
#include "isomer/engine/onednn/tuning_limit.h"
#include "isomer/ir/dtype.h"
#include "isomer/plan/decisions.h"

namespace isomer::onednn {

/// What is computed of a convolution.
enum class ConvPass : uint8_t {
  Forward,
  Transposed,  ///< A transposed convolution; this is also the gradient for an image.
  Filters,     ///< The gradient for the filters, from the image (`src`) and the gradient of the result (`dst`).
};

/// Whose kernel computes a convolution.
enum class ConvKernel : uint8_t {
  Library,    ///< oneDNN's
  Winograd,   ///< our own of Winograd's algorithm
  Depthwise,  ///< our own for depthwise convolutions
  Strassen,   ///< our own of Strassen's algorithm
};

/// One way to compute a convolution.
struct ConvForm {
  ConvPass pass = ConvPass::Forward;
  Form src = kPlainForm;
  Form dst = kPlainForm;
  ConvKernel kernel = ConvKernel::Library;
  bool sums = false;           ///< the first added value with the result's extents must be in the result's place
  DType dtype = DType::Float;  ///< in which it computes
  double us = 0;               ///< the time that it takes, if that is measured; infinity if it cannot be made
};

/// A change of layout that a way to compute a convolution needs, unless the forms are alike.
struct ConvReorder {
  ValueId value = kNoValue;  ///< whose layout changes
  Form from = kPlainForm;
  Form to = kPlainForm;
  DType dtype = DType::Float;
};

class Tuner;

/// Asks oneDNN once for each convolution with its posts, which may contain batch normalizations that will be merged.
/// Thread-safe; results stay valid.
class ConvWays {
 public:
  /// If `tuner` measures, ways and reorders have their times, in the calling thread's number of threads. nullptr: they
  /// have none. `dtype`: the element type in which convolutions compute if they can.
  explicit ConvWays(std::shared_ptr<Tuner> tuner, DType dtype = DType::Float);
  ~ConvWays();
  DType dtype() const { return dtype_; }
  ConvWays(const ConvWays&) = delete;
  ConvWays& operator=(const ConvWays&) = delete;

  /// Returns the ways to compute a convolution with its posts, the preferred one first; none if the runtime has no
  /// kernel or extents are unknown. Decisions about the convolution's algorithm and about the layout of the group's
  /// result are obeyed. None either if measuring them exceeds the limit.
  std::span<const ConvForm> of(const Graph& graph, const Group& group, const Decisions& decisions, TuningLimit& limit);
  /// Returns the cost of a reorder around a convolution: 0 if none is needed; else its time or, if nothing is measured,
  /// 1. The time of a reorder from or to the strided form is that of one between other forms. A change of the element
  /// type costs nothing: all ways to compute a convolution need the same. Means nothing if the limit is exceeded.
  double cost(const Graph& graph, const ConvReorder& reorder, TuningLimit& limit);

 private:
  struct State;
  const DType dtype_;
  std::unique_ptr<State> state_;
};

}  // namespace isomer::onednn
