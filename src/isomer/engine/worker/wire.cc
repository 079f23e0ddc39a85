#include "isomer/engine/worker/wire.h"

#include <cstring>

namespace isomer {
namespace {

using nlohmann::json;

Result<Tensor> decode_strings(const json& spec, std::vector<int64_t> dims, std::string_view data) {
  std::vector<std::string> elements;
  for (const json& length : spec.at("lengths")) {
    const auto size = length.get<size_t>();
    if (size > data.size()) return fail("a string is longer than its data");
    elements.emplace_back(data.substr(0, size));
    data.remove_prefix(size);
  }
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  if (static_cast<int64_t>(elements.size()) != count)
    return fail("{} strings are given for {} elements", elements.size(), count);
  return Tensor::strings(std::move(dims), std::move(elements));
}

Result<Tensor> decode_tensor(const json& spec, std::string_view data) {
  const auto dtype = dtype_from_onnx(spec.at("dtype").get<int>());
  if (!dtype) return fail("unknown element type {}", spec.at("dtype").get<int>());
  auto dims = spec.at("dims").get<std::vector<int64_t>>();
  for (const int64_t dim : dims) {
    if (dim < 0) return fail("an extent is negative");
  }
  if (*dtype == DType::String) return decode_strings(spec, std::move(dims), data);
  if (data.size() != Tensor::byte_size(*dtype, dims)) return fail("{} bytes do not fit the shape", data.size());
  Tensor tensor = Tensor::zeros(*dtype, std::move(dims));
  if (!data.empty()) std::memcpy(tensor.mutable_bytes().data(), data.data(), data.size());
  return tensor;
}

}  // namespace

json encode_tensors(std::span<const NamedTensor> tensors, std::string& payload) {
  json specs = json::array();
  for (const auto& [name, tensor] : tensors) {
    json spec = {{"name", name}, {"dtype", static_cast<int>(tensor.dtype())}, {"dims", tensor.dims()}};
    const size_t begin = payload.size();
    if (tensor.dtype() == DType::String) {
      json& lengths = spec["lengths"] = json::array();
      for (const std::string& element : tensor.string_elements()) {
        lengths.push_back(element.size());
        payload += element;
      }
    } else {
      payload.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    }
    spec["bytes"] = payload.size() - begin;
    specs.push_back(std::move(spec));
  }
  return specs;
}

Result<std::vector<Tensor>> decode_tensors(const json& specs, const std::string& payload) try {
  std::string_view rest = payload;
  std::vector<Tensor> tensors;
  for (const json& spec : specs) {
    const auto size = spec.at("bytes").get<size_t>();
    if (size > rest.size()) return fail("tensor data is cut off");
    auto tensor = decode_tensor(spec, rest.substr(0, size));
    if (!tensor) return fail_in(spec.value("name", ""), tensor.error());
    tensors.push_back(std::move(*tensor));
    rest.remove_prefix(size);
  }
  return tensors;
} catch (const json::exception& error) {
  return fail("malformed tensor: {}", error.what());
}

}  // namespace isomer
