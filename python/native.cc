// The compiled part of the Python package: files in, files and arrays out. isomer/__init__.py gives it its face.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "arrays.h"
#include "isomer/base/printable.h"
#include "isomer/base/version.h"
#include "isomer/engine/loaded_model.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/options_page.h"
#include "isomer/optimize/read_options.h"

namespace py = pybind11;

namespace isomer {
namespace {

/// The message of an Error for Python, which prints it as it is, up to the first NUL.
std::string message_of(const Error& error) { return printable_lines(error.message); }

/// The value of a Result, or a Python ValueError with its message.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw py::value_error(message_of(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// What `work` gives, while other Python threads go on.
template <class Work>
auto without_lock(const Work& work) {
  const py::gil_scoped_release free;
  return work();
}

/// A model on an engine, for isomer.Session. The interpreter's lock guards `loaded_`; runs hold a share of it, so that
/// a session may be closed while one goes on.
class Session {
 public:
  /// The options are those of the engine, as JSON text.
  Session(const std::string& path, const std::string& engine, const std::string& given) {
    EngineOptions options;
    unwrap(read_options(given, options));
    loaded_ = unwrap(without_lock([&] { return LoadedModel::load(path, engine, options); }));
  }

  py::dict run(const std::map<std::string, py::array>& arrays) const {
    const std::shared_ptr<const LoadedModel> loaded = loaded_;
    if (loaded == nullptr) throw py::value_error("the session is closed");
    std::vector<NamedTensor> inputs;
    for (const auto& [name, array] : arrays) inputs.emplace_back(name, tensor_from(array));
    unwrap(loaded->check(inputs));
    auto outputs = without_lock([&] { return loaded->run(inputs); });
    if (!outputs) throw std::runtime_error(message_of(outputs.error()));
    py::dict named;
    for (size_t i = 0; i < outputs->size(); ++i)
      named[py::str(loaded->outputs()[i].name)] = array_from(std::move((*outputs)[i]));
    return named;
  }

  void close() {
    auto last = std::move(loaded_);
    without_lock([&] { last.reset(); });  // an engine's process takes a moment to end
  }

 private:
  std::shared_ptr<const LoadedModel> loaded_;
};

/// Lets Python's handlers of signals run during long work, and keeps what they raise (KeyboardInterrupt).
class Signals {
 public:
  /// Whether a handler has raised something. For work that has released the interpreter's lock; asks it at most every
  /// 50 ms. Python runs handlers in its main thread only: in other ones this is always false.
  bool raised() {
    const auto now = std::chrono::steady_clock::now();
    if (error_ || now < next_) return error_.has_value();
    next_ = now + std::chrono::milliseconds(50);
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) error_.emplace();
    return error_.has_value();
  }

  /// Raises that, if there is something.
  void raise() const {
    if (error_) throw py::error_already_set(*error_);
  }

 private:
  std::chrono::steady_clock::time_point next_ = {};
  std::optional<py::error_already_set> error_;
};

/// Runs the pipeline with options as JSON text; the report as JSON text.
std::string optimize_file(const std::string& input, const std::string& output, const std::string& given) {
  OptimizeOptions options;
  options.input = input;
  options.output = output;
  unwrap(read_options(given, options));
  Signals signals;
  options.stop = [&signals] { return signals.raised(); };
  options.stop_discards = true;
  auto report = without_lock([&] { return optimize(options); });
  signals.raise();
  return to_json(unwrap(std::move(report))).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Input and output names and types, as text.
std::map<std::string, std::vector<std::pair<std::string, std::string>>> signature(const std::string& path) {
  const Model model = unwrap(without_lock([&] { return import_model(path); }));
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
  module.def("options", [] { return isomer::described_options().dump(); });
  module.def("optimize", &isomer::optimize_file);
  module.def("signature", &isomer::signature);
  pybind11::class_<isomer::Session>(module, "Session")
      .def(pybind11::init<std::string, std::string, std::string>())
      .def("run", &isomer::Session::run)
      .def("close", &isomer::Session::close);
}
