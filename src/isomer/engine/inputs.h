#pragma once
// Inputs to run a model with: seeded random tensors whose extents the user may set.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isomer/engine/engine.h"
#include "isomer/onnx/model.h"
#include "isomer/runtime/work.h"

namespace isomer {

/// What `--shape` says: extents of inputs, by name, and values of symbols. A symbol without a value is 1.
struct ShapeOptions {
  std::map<std::string, std::vector<int64_t>> inputs;
  SymbolValues symbols;
};

/// Adds "x:1,3,224,224" (the extents of input x; "x:" for a scalar) or "N=8" (the value of a symbol).
Status add_shape_option(std::string_view text, ShapeOptions& options);
/// The texts that add_shape_option makes these options of.
std::vector<std::string> shape_texts(const ShapeOptions& options);

/// The values of the model's symbols: the given ones, those that the extents of inputs imply, and for the others those
/// that the defaults of inputs imply. Fails when an input or symbol is unknown or the extents do not fit the input's
/// type.
Result<SymbolValues> symbol_values(const Model& model, const ShapeOptions& options);

/// Fails where an input or symbol is not one of the model.
Status check_names(const Model& model, const ShapeOptions& options);

/// A random tensor for each input of the model that has no default, or to which `options` gives other extents than its
/// default has. All other inputs are left out, so that they keep their defaults. What is drawn depends on the seed and
/// the input's name, not on its place. Integers that select from a table (Gather) stay within it. Fails when the
/// extents of an input are not known.
Result<std::vector<NamedTensor>> random_inputs(const Model& model, const ShapeOptions& options, uint64_t seed);

/// The types of a graph's inputs when its symbols have these values. Fails where the rank of one is not known.
Result<std::vector<TensorType>> concrete_inputs(const Graph& graph, const SymbolValues& symbols);

/// Whether a tensor fits the declared type of an input, symbols standing for anything.
Status check_input(const std::string& name, const Tensor& tensor, const TensorType& declared);
/// Whether the tensors for all inputs fit their declared types together: a symbol has one value in all of them.
Status check_inputs(std::span<const NamedTensor> tensors, std::span<const TensorType> declared);

}  // namespace isomer
