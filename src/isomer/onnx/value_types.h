#pragma once
// Converts TypeProto to TensorType and back.

#include <map>
#include <set>
#include <string>

#include "isomer/base/result.h"
#include "isomer/ir/type.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// Reads the types of one model. Equal dim_params become equal symbols; each nameless dimension becomes a fresh symbol.
class TypeReader {
 public:
  /// Registers the symbol of a dim_param, so that no fresh symbol has the same name. Call this for all types first.
  void reserve(const onnx::TypeProto& type);

  /// The name of the symbol of a dim_param: with only those characters that symbols may have in the text form of
  /// graphs, which are letters, digits and underscores; with a number if another symbol has that name.
  const std::string& symbol_of(const std::string& param);

  /// The tensor type; unknown for sequences, maps, ... Fails for element types and extents that ONNX does not have.
  Result<TensorType> read(const onnx::TypeProto& type);

 private:
  Result<Dim> dimension(const onnx::TensorShapeProto::Dimension& dim);
  std::string free_symbol(const std::string& wish);

  std::map<std::string, std::string> symbols_;  // by dim_param
  std::set<std::string> used_;
  size_t nameless_ = 0;
};

/// The tensor type in ONNX format.
onnx::TypeProto type_proto(const TensorType& type);

}  // namespace isomer
