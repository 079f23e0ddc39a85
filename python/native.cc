// The compiled part of the Python package: files in, files and arrays out. isomer/__init__.py gives it its face.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "isomer/base/version.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/read_options.h"

namespace py = pybind11;

namespace isomer {
namespace {

/// The value of a Result, or a Python ValueError with its message.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw py::value_error(result.error().message);
  return std::move(*result);
}

/// NumPy's name of an element type that both sides have.
std::string numpy_name(DType dtype) {
  switch (dtype) {
    case DType::Float:
      return "float32";
    case DType::Double:
      return "float64";
    case DType::Half:
      return "float16";
    case DType::Int8:
      return "int8";
    case DType::Int16:
      return "int16";
    case DType::Int32:
      return "int32";
    case DType::Int64:
      return "int64";
    case DType::Uint8:
      return "uint8";
    case DType::Uint16:
      return "uint16";
    case DType::Uint32:
      return "uint32";
    case DType::Uint64:
      return "uint64";
    case DType::Bool:
      return "bool";
    default:
      throw py::type_error("NumPy has no element type for " + std::string(dtype_name(dtype)));
  }
}

Tensor tensor_from(const py::array& given) {
  const auto name = py::str(given.dtype()).cast<std::string>();
  for (int number = 1; number < 32; ++number) {
    const auto dtype = dtype_from_onnx(number);
    if (!dtype || !(is_real(*dtype) || is_integer(*dtype) || *dtype == DType::Bool) || *dtype == DType::BFloat16)
      continue;
    if (numpy_name(*dtype) != name) continue;
    const py::array array = py::array::ensure(given, py::array::c_style);
    Tensor tensor = Tensor::zeros(*dtype, {array.shape(), array.shape() + array.ndim()});
    std::copy_n(static_cast<const std::byte*>(array.data()), array.nbytes(), tensor.mutable_bytes().begin());
    return tensor;
  }
  throw py::type_error("arrays of " + name + " cannot be inputs");
}

py::array array_from(const Tensor& tensor) {
  if (tensor.dtype() == DType::String)
    return py::array(py::cast(tensor.string_elements())).attr("reshape")(tensor.dims());
  py::array array(py::dtype(numpy_name(tensor.dtype())), tensor.dims());
  std::copy_n(tensor.bytes().begin(), tensor.bytes().size(), static_cast<std::byte*>(array.mutable_data()));
  return array;
}

py::dict run(const std::string& path, const std::map<std::string, py::array>& arrays, const std::string& engine_name,
             int threads, const std::string& python) {
  const Model model = unwrap(import_model(path));
  std::vector<NamedTensor> inputs;
  for (const auto& [name, array] : arrays) inputs.emplace_back(name, tensor_from(array));
  std::vector<Tensor> outputs;
  {
    const py::gil_scoped_release free;
    const auto engine = unwrap(make_engine(engine_name, {.threads = threads, .python = python}));
    const SessionId session = unwrap(engine->load(path));
    outputs = unwrap(engine->run(session, inputs));
  }
  py::dict named;
  for (size_t i = 0; i < outputs.size(); ++i) named[py::str(output_name(model, i))] = array_from(outputs[i]);
  return named;
}

/// Runs the pipeline with options as JSON text; the report as JSON text.
std::string optimize_file(const std::string& input, const std::string& output, const std::string& given) {
  OptimizeOptions options;
  options.input = input;
  options.output = output;
  options.force = true;
  if (const auto status = read_options(given, options); !status) throw py::value_error(status.error().message);
  const py::gil_scoped_release free;
  const OptimizeReport report = unwrap(optimize(options));
  return to_json(report).dump();
}

/// Input and output names and types, as text.
std::map<std::string, std::vector<std::pair<std::string, std::string>>> signature(const std::string& path) {
  const Model model = unwrap(import_model(path));
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> out;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i)
    out["inputs"].emplace_back(input_name(model, i), model.graph.type(model.graph.inputs()[i]).str());
  for (size_t i = 0; i < model.graph.outputs().size(); ++i)
    out["outputs"].emplace_back(output_name(model, i), model.graph.type(model.graph.outputs()[i]).str());
  return out;
}

}  // namespace
}  // namespace isomer

PYBIND11_MODULE(_native, module) {
  module.attr("version") = std::string(isomer::version());
  module.def("run", &isomer::run);
  module.def("optimize", &isomer::optimize_file);
  module.def("signature", &isomer::signature);
}
