#include "arrays.h"

#include <pybind11/stl.h>

#include <array>
#include <utility>

namespace isomer {
namespace {

namespace py = pybind11;

constexpr std::array<std::pair<DType, const char*>, 12> kNumpyNames = {{
    {DType::Float, "float32"},
    {DType::Double, "float64"},
    {DType::Half, "float16"},
    {DType::Int8, "int8"},
    {DType::Int16, "int16"},
    {DType::Int32, "int32"},
    {DType::Int64, "int64"},
    {DType::Uint8, "uint8"},
    {DType::Uint16, "uint16"},
    {DType::Uint32, "uint32"},
    {DType::Uint64, "uint64"},
    {DType::Bool, "bool"},
}};

std::vector<int64_t> extents_of(const py::array& array) { return {array.shape(), array.shape() + array.ndim()}; }

Tensor texts_from(const py::array& array) {
  std::vector<std::string> texts;
  for (const py::handle text : array.attr("ravel")()) {
    if (!py::isinstance<py::str>(text))
      throw py::type_error("an array of objects that are not all texts cannot be an input");
    texts.push_back(text.cast<std::string>());
  }
  return Tensor::strings(extents_of(array), std::move(texts));
}

}  // namespace

Tensor tensor_from(const py::array& given) {
  if (given.dtype().kind() == 'U' || given.dtype().kind() == 'O') return texts_from(given);
  const auto name = given.dtype().attr("name").cast<std::string>();
  for (const auto& [dtype, numpy_name] : kNumpyNames) {
    if (name != numpy_name) continue;
    // The caller owns the data: a pointer without a count says that somebody does.
    const std::shared_ptr<const void> owner(std::shared_ptr<const void>(), given.data());
    const std::span elements(static_cast<const std::byte*>(given.data()), static_cast<size_t>(given.nbytes()));
    return Tensor::view(dtype, extents_of(given), elements, owner);
  }
  throw py::type_error("arrays of " + name + " cannot be inputs");
}

py::array array_from(Tensor tensor) {
  if (tensor.dtype() == DType::String) {
    const py::array texts(py::dtype("O"), tensor.dims());  // as ONNX Runtime gives them
    texts.attr("flat") = py::cast(tensor.string_elements());
    return texts;
  }
  for (const auto& [dtype, numpy_name] : kNumpyNames) {
    if (tensor.dtype() != dtype) continue;
    if (tensor.is_mutable()) {
      const std::vector<int64_t> extents = tensor.dims();
      const void* const elements = tensor.bytes().data();
      const py::capsule owner(new Tensor(std::move(tensor)), [](void* owned) { delete static_cast<Tensor*>(owned); });
      return {py::dtype(numpy_name), extents, elements, owner};
    }
    py::array array(py::dtype(numpy_name), tensor.dims());
    std::copy_n(tensor.bytes().begin(), tensor.bytes().size(), static_cast<std::byte*>(array.mutable_data()));
    return array;
  }
  throw py::type_error("NumPy has no element type for " + std::string(dtype_name(tensor.dtype())));
}

}  // namespace isomer
