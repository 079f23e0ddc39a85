// Models of the C interface: loading, queries, runs.

#include <memory>
#include <string>
#include <vector>

#include "isomer/base/printable.h"
#include "isomer/base/version.h"
#include "isomer/capi/border.h"
#include "isomer/capi/isomer.h"
#include "isomer/capi/values.h"
#include "isomer/engine/loaded_model.h"
#include "isomer/optimize/read_options.h"

using isomer::fail;
using isomer::in_context;
using isomer::printable;
using isomer::Result;
using isomer::Status;
using isomer::Tensor;
using isomer::capi::argument;
using isomer::capi::fail_with;
using isomer::capi::given;
using isomer::capi::guarded;
using isomer::capi::or_fail_with;
using isomer::capi::Outcome;

struct isomer_model {
  /// Describes inputs or outputs in the types of C.
  struct Values {
    const std::vector<isomer::DeclaredValue>* declared = nullptr;
    std::vector<isomer_type> c_types = {};
  };

  std::unique_ptr<isomer::LoadedModel> loaded;
  Values inputs;
  Values outputs;
};

namespace {

using Values = isomer_model::Values;

Result<Values> describe(const std::vector<isomer::DeclaredValue>& declared) {
  Values values{&declared};
  for (const isomer::DeclaredValue& value : declared) {
    ISOMER_TRY(const auto c_type, in_context("'" + printable(value.name) + "'", isomer::capi::c_type(value.type)));
    values.c_types.push_back(c_type);
  }
  return values;
}

Result<std::unique_ptr<isomer_model>> load(const std::filesystem::path& path, const std::string& engine,
                                           const isomer::EngineOptions& options) {
  auto model = std::make_unique<isomer_model>();
  ISOMER_TRY(model->loaded, isomer::LoadedModel::load(path, engine, options));
  ISOMER_TRY(model->inputs, in_context(path.string(), describe(model->loaded->inputs())));
  ISOMER_TRY(model->outputs, in_context(path.string(), describe(model->loaded->outputs())));
  return model;
}

/// Returns the options of a load, after checking its other arguments.
Result<isomer::EngineOptions> read_load(const char* path, const std::string& engine, const char* options) {
  ISOMER_CHECK(given(path, "path"));
  isomer::EngineOptions read;
  if (options != nullptr) ISOMER_CHECK(read_options(options, read));
  ISOMER_CHECK(isomer::check_engine_options(engine, read));
  return read;
}

int count(const isomer_model* model, Values isomer_model::*values, size_t* count, isomer_error* error) {
  return guarded(error, [&]() -> Outcome {
    if (auto status = given(model, "model"); !status) return argument(status);
    if (auto status = given(count, "count"); !status) return argument(status);
    *count = (model->*values).c_types.size();
    return {};
  });
}

int get(const isomer_model* model, Values isomer_model::*values, size_t index, isomer_value* value,
        isomer_error* error) {
  return guarded(error, [&]() -> Outcome {
    if (auto status = given(model, "model"); !status) return argument(status);
    if (auto status = given(value, "value"); !status) return argument(status);
    const auto& [declared, c_types] = model->*values;
    if (index >= c_types.size())
      return fail_with(ISOMER_BAD_ARGUMENT, "index {} is out of range: there are {}", index, c_types.size());
    const isomer::DeclaredValue& one = (*declared)[index];
    *value = {one.name.c_str(), c_types[index], one.has_default ? 1 : 0};
    return {};
  });
}

/// Returns whether an input of a run asks for the model's default.
bool is_left_out(const isomer_input& input) {
  return input.type.dtype == ISOMER_UNDEFINED && input.data == nullptr && input.bytes == 0;
}

/// Returns the caller's inputs that are not left out, after checking them against the model's types.
Result<std::vector<isomer::NamedTensor>> read_inputs(const isomer_model& model, const isomer_input* inputs,
                                                     size_t num_inputs) {
  const auto& declared = model.loaded->inputs();
  if (num_inputs != declared.size())
    return fail("{} inputs are given, but the model has {}", num_inputs, declared.size());
  if (num_inputs > 0) ISOMER_CHECK(given(inputs, "inputs"));
  std::vector<isomer::NamedTensor> tensors;
  for (size_t i = 0; i < num_inputs; ++i) {
    if (declared[i].has_default && is_left_out(inputs[i])) continue;
    const std::string where = "input '" + printable(declared[i].name) + "'";
    ISOMER_TRY(auto tensor, in_context(where, isomer::capi::view_of(inputs[i])));
    tensors.emplace_back(declared[i].name, std::move(tensor));
  }
  ISOMER_CHECK(model.loaded->check(tensors));
  return tensors;
}

Status check_outputs(const isomer_model& model, const isomer_output* outputs, size_t num_outputs) {
  const auto& declared = model.loaded->outputs();
  if (num_outputs != declared.size())
    return fail("{} outputs are given, but the model has {}", num_outputs, declared.size());
  if (num_outputs > 0) ISOMER_CHECK(given(outputs, "outputs"));
  for (size_t i = 0; i < num_outputs; ++i) {
    if (outputs[i].data == nullptr && outputs[i].capacity > 0)
      return fail("output '{}': data is NULL, capacity {}", printable(declared[i].name), outputs[i].capacity);
  }
  return {};
}

Outcome store_outputs(const isomer_model& model, const std::vector<Tensor>& tensors, isomer_output* outputs) {
  const auto& declared = model.loaded->outputs();
  if (tensors.size() != declared.size())
    return fail_with(ISOMER_BUG, "{} outputs of {}", tensors.size(), declared.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (auto status = isomer::capi::crosses(tensors[i]); !status)
      return fail_with(ISOMER_FAILED, "output '{}': {}", printable(declared[i].name), status.error().message);
  }
  std::string small;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (isomer::capi::store(tensors[i], outputs[i])) continue;
    small += fmt::format("{}output '{}' takes {} bytes, its buffer has {}", small.empty() ? "" : "; ",
                         printable(declared[i].name), outputs[i].bytes, outputs[i].capacity);
  }
  if (!small.empty()) return fail_with(ISOMER_TOO_SMALL, "{}", small);
  return {};
}

}  // namespace

const char* isomer_version(void) { return isomer::version().data(); }

int isomer_type_bytes(const isomer_type* type, size_t* bytes, isomer_error* error) {
  return guarded(error, [&]() -> Outcome {
    if (auto status = given(type, "type"); !status) return argument(status);
    if (auto status = given(bytes, "bytes"); !status) return argument(status);
    const auto size = isomer::capi::type_bytes(*type);
    if (!size) return fail_with(ISOMER_BAD_ARGUMENT, "{}", size.error().message);
    *bytes = *size;
    return {};
  });
}

int isomer_load(const char* path, const char* engine, const char* options, isomer_model** model, isomer_error* error) {
  if (model != nullptr) *model = nullptr;
  return guarded(error, [&]() -> Outcome {
    if (auto status = given(static_cast<const void*>(model), "model"); !status) return argument(status);
    const std::string name = engine == nullptr ? "onednn" : engine;
    const auto read = read_load(path, name, options);
    if (!read) return fail_with(ISOMER_BAD_ARGUMENT, "{}", read.error().message);
    return or_fail_with(ISOMER_FAILED, load(path, name, *read)).map([&](auto loaded) { *model = loaded.release(); });
  });
}

void isomer_release(isomer_model* model) { delete model; }

int isomer_input_count(const isomer_model* model, size_t* count, isomer_error* error) {
  return ::count(model, &isomer_model::inputs, count, error);
}

int isomer_output_count(const isomer_model* model, size_t* count, isomer_error* error) {
  return ::count(model, &isomer_model::outputs, count, error);
}

int isomer_get_input(const isomer_model* model, size_t index, isomer_value* value, isomer_error* error) {
  return get(model, &isomer_model::inputs, index, value, error);
}

int isomer_get_output(const isomer_model* model, size_t index, isomer_value* value, isomer_error* error) {
  return get(model, &isomer_model::outputs, index, value, error);
}

int isomer_run(isomer_model* model, const isomer_input* inputs, size_t num_inputs, isomer_output* outputs,
               size_t num_outputs, isomer_error* error) {
  return guarded(error, [&]() -> Outcome {
    if (auto status = given(model, "model"); !status) return argument(status);
    const auto tensors = read_inputs(*model, inputs, num_inputs);
    if (!tensors) return fail_with(ISOMER_BAD_ARGUMENT, "{}", tensors.error().message);
    if (auto status = check_outputs(*model, outputs, num_outputs); !status) return argument(status);
    const auto results = model->loaded->run(*tensors);
    if (!results) return fail_with(ISOMER_FAILED, "{}", results.error().message);
    return store_outputs(*model, *results, outputs);
  });
}
