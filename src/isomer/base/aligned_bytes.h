#pragma once
// Memory for large data.

#include <cstddef>
#include <memory>
#include <span>

namespace isomer {

/// Uninitialized bytes aligned for vectors; in large pages if they fill at least one.
class AlignedBytes {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kLargePage = size_t{2} << 20;

  AlignedBytes() = default;
  explicit AlignedBytes(size_t bytes);
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  std::span<const std::byte> span() const { return {data(), size_}; }

 private:
  struct Free {
    size_t alignment;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

}  // namespace isomer
