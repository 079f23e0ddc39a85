#include "isomer/ir/tensor.h"

#include <cassert>
#include <cstring>
#include <mutex>

#include "isomer/base/byte_pool.h"
#include "isomer/base/hash.h"

namespace isomer {

struct Tensor::Storage {
  std::span<const std::byte> bytes;
  std::byte* own = nullptr;  // the bytes, unless they are a view
  std::unique_ptr<std::byte[]> zeros;
  std::shared_ptr<const void> owner;
  std::vector<std::string> strings;
  std::once_flag hashed;
  uint64_t hash = 0;
};

size_t Tensor::byte_size(DType dtype, std::span<const int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return (count * dtype_bits(dtype) + 7) / 8;
}

std::optional<size_t> Tensor::byte_size(const TensorType& type) {
  const auto dims = type.shape ? concrete(*type.shape) : std::nullopt;
  return dims ? std::optional(byte_size(type.dtype, *dims)) : std::nullopt;
}

Tensor Tensor::zeros(DType dtype, std::vector<int64_t> dims) {
  Tensor tensor;
  tensor.storage_ = std::make_shared<Storage>();
  const size_t size = byte_size(dtype, dims);
  tensor.storage_->zeros = std::make_unique<std::byte[]>(size);
  tensor.storage_->own = tensor.storage_->zeros.get();
  tensor.storage_->bytes = {tensor.storage_->own, size};
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  if (dtype == DType::String) tensor.storage_->strings.resize(static_cast<size_t>(tensor.element_count()));
  return tensor;
}

Tensor Tensor::uninitialized(DType dtype, std::vector<int64_t> dims, BytePool* pool) {
  assert(dtype != DType::String);
  Tensor tensor;
  tensor.storage_ = std::make_shared<Storage>();
  const size_t size = byte_size(dtype, dims);
  const auto bytes = pool != nullptr && size >= AlignedBytes::kLargePage ? pool->take(size)
                                                                         : std::make_shared<const AlignedBytes>(size);
  tensor.storage_->own = bytes->data();
  tensor.storage_->bytes = bytes->span();
  tensor.storage_->owner = bytes;
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  return tensor;
}

Tensor Tensor::view(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
                    std::shared_ptr<const void> owner) {
  assert(bytes.size() == byte_size(dtype, dims));
  Tensor tensor;
  tensor.storage_ = std::make_shared<Storage>();
  tensor.storage_->bytes = bytes;
  tensor.storage_->owner = std::move(owner);
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  return tensor;
}

Tensor Tensor::strings(std::vector<int64_t> dims, std::vector<std::string> elements) {
  Tensor tensor = zeros(DType::String, std::move(dims));
  assert(static_cast<int64_t>(elements.size()) == tensor.element_count());
  tensor.storage_->strings = std::move(elements);
  return tensor;
}

int64_t Tensor::element_count() const {
  int64_t count = 1;
  for (const int64_t dim : dims_) count *= dim;
  return count;
}

std::span<const std::byte> Tensor::bytes() const { return storage_ ? storage_->bytes : std::span<const std::byte>(); }

const std::vector<std::string>& Tensor::string_elements() const { return storage_->strings; }

std::vector<std::string>& Tensor::mutable_strings() { return storage_->strings; }

std::span<std::byte> Tensor::mutable_bytes() {
  assert(storage_ && (storage_->own != nullptr || storage_->bytes.empty()));
  return {storage_->own, storage_->bytes.size()};
}

bool Tensor::is_mutable() const { return storage_.use_count() == 1 && storage_->own != nullptr; }

Tensor Tensor::reshaped(std::vector<int64_t> dims) const {
  Tensor tensor = *this;
  tensor.dims_ = std::move(dims);
  assert(tensor.element_count() == element_count());
  return tensor;
}

uint64_t Tensor::hash() const {
  if (empty()) return 0;
  std::call_once(storage_->hashed, [this] {
    uint64_t h = hash_bytes(storage_->bytes.data(), storage_->bytes.size());
    for (const std::string& text : storage_->strings) h = hash_text(text, h);
    storage_->hash = h;
  });
  return hash_mix(type().hash(), storage_->hash);
}

Tensor WeakTensor::lock() const {
  Tensor tensor;
  tensor.storage_ = storage_.lock();
  if (tensor.empty()) return tensor;
  tensor.dtype_ = dtype_;
  tensor.dims_ = dims_;
  return tensor;
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.dims_ != b.dims_ || a.empty() != b.empty()) return false;
  if (a.storage_ == b.storage_) return true;
  if (a.hash() != b.hash() || a.storage_->strings != b.storage_->strings) return false;
  return a.bytes().size() == b.bytes().size() && std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

}  // namespace isomer
