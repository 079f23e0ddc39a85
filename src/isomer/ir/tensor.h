#pragma once
// Dense data of a constant or of a run: immutable, shared by reference, possibly a view of a mapped file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/ir/type.h"

namespace isomer {

class BytePool;

/// Row-major elements with concrete extents. Copies share the data. Elements of less than 8 bits are packed, low bits
/// first, as in ONNX. A default-constructed Tensor is `empty()` and represents an absent operand.
class Tensor {
 public:
  Tensor() = default;

  /// A tensor filled with zeros, to be written through `mutable_data` before it is shared.
  static Tensor zeros(DType dtype, std::vector<int64_t> dims);
  /// A view of `bytes`, which `owner` keeps alive. The size of `bytes` must be byte_size(dtype, dims).
  static Tensor view(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
                     std::shared_ptr<const void> owner);
  /// Elements that are to be written. Large ones are in large pages; they are borrowed from `pool` unless that is null.
  /// Not for texts.
  static Tensor uninitialized(DType dtype, std::vector<int64_t> dims, BytePool* pool = nullptr);
  static Tensor strings(std::vector<int64_t> dims, std::vector<std::string> elements);

  /// A copy of elements of type T, which must have the same width as the dtype.
  template <class T>
  static Tensor of(DType dtype, std::vector<int64_t> dims, const std::vector<T>& elements) {
    Tensor tensor = zeros(dtype, std::move(dims));
    std::copy(elements.begin(), elements.end(), tensor.mutable_data<T>().begin());
    return tensor;
  }
  static Tensor floats(std::vector<int64_t> dims, const std::vector<float>& elements) {
    return of(DType::Float, std::move(dims), elements);
  }
  static Tensor ints(std::vector<int64_t> dims, const std::vector<int64_t>& elements) {
    return of(DType::Int64, std::move(dims), elements);
  }

  bool empty() const { return storage_ == nullptr; }
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t element_count() const;
  TensorType type() const { return {dtype_, Shape(dims_.begin(), dims_.end())}; }

  std::span<const std::byte> bytes() const;
  const std::vector<std::string>& string_elements() const;
  std::vector<std::string>& mutable_strings();

  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  /// The elements for writing. Only for a Tensor made by `zeros` or `uninitialized` that is not shared yet.
  template <class T>
  std::span<T> mutable_data() {
    const auto raw = mutable_bytes();
    return {reinterpret_cast<T*>(raw.data()), raw.size() / sizeof(T)};
  }
  std::span<std::byte> mutable_bytes();
  /// Whether the elements are this Tensor's alone, and may be written.
  bool is_mutable() const;

  /// The same elements with other extents (of equal count).
  Tensor reshaped(std::vector<int64_t> dims) const;

  /// Hash of dtype, extents and elements; computed once per data and cached.
  uint64_t hash() const;
  friend bool operator==(const Tensor& a, const Tensor& b);

  /// Number of bytes of a tensor with these extents.
  static size_t byte_size(DType dtype, std::span<const int64_t> dims);
  /// Number of bytes of a tensor of this type; nothing unless all its extents are known numbers.
  static std::optional<size_t> byte_size(const TensorType& type);

 private:
  friend class WeakTensor;
  struct Storage;
  DType dtype_ = DType::Undefined;
  std::vector<int64_t> dims_;
  std::shared_ptr<Storage> storage_;
};

/// Refers to a tensor without keeping its data.
class WeakTensor {
 public:
  explicit WeakTensor(const Tensor& tensor) : dtype_(tensor.dtype_), dims_(tensor.dims_), storage_(tensor.storage_) {}

  /// Returns the tensor; an empty one if its data is gone.
  Tensor lock() const;

 private:
  DType dtype_;
  std::vector<int64_t> dims_;
  std::weak_ptr<Tensor::Storage> storage_;
};

}  // namespace isomer
