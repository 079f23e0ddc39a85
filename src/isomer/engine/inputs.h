#pragma once
// Inputs to run a model with: seeded random tensors whose extents the user may set.

#include <string>
#include <string_view>
#include <vector>

#include "isomer/engine/engine.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/work.h"

namespace isomer {

/// Adds "x:1,3,224,224" (the extents of input x; "x:" for a scalar) or "N=8" (the value of a symbol).
Status add_shape_option(std::string_view text, ShapeOptions& options);
/// Returns the texts from which add_shape_option makes these options.
std::vector<std::string> shape_texts(const ShapeOptions& options);

/// Returns the values of the model's symbols: those that are given or follow from the given extents of inputs; for
/// other symbols, those that follow from the defaults of inputs. All others count as 1. Fails if an input or symbol is
/// unknown or the extents do not fit the input's type.
Result<SymbolValues> symbol_values(const Model& model, const ShapeOptions& options);

/// Fails if the model lacks one of the inputs or symbols.
Status check_names(const Model& model, const ShapeOptions& options);

/// Returns a random tensor for each input of the model that has no default, or for which `options` gives extents other
/// than its default's. All other inputs are left out, so that they keep their defaults. The elements depend on the seed
/// and the input's name, not on its position. Integers that select (entries of a table, elements, classes of a loss)
/// are within the bounds of what they select from. Fails if the extents of an input are unknown.
Result<std::vector<NamedTensor>> random_inputs(const Model& model, const ShapeOptions& options, uint64_t seed);

/// Returns inputs that differ from these in the last bits of their floating-point numbers (eval/rounding.h).
std::vector<NamedTensor> with_last_bits_changed(std::span<const NamedTensor> inputs, uint64_t seed);

/// Returns the types of a graph's inputs for these values of its symbols. Fails if the rank of an input is unknown.
Result<std::vector<TensorType>> concrete_inputs(const Graph& graph, const SymbolValues& symbols);

/// Checks that a tensor fits the declared type of an input; symbols match any extent.
Status check_input(const std::string& name, const Tensor& tensor, const TensorType& declared);
/// Checks that the tensors for all inputs fit their declared types together: a symbol has the same value in all of
/// them.
Status check_inputs(std::span<const NamedTensor> tensors, std::span<const TensorType> declared);

}  // namespace isomer
