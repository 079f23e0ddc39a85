#pragma once
// What a plan runs: kernels over buffers.

#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"
#include "isomer/runtime/onednn/desc.h"

namespace isomer::onednn {

/// What holds the bytes of a buffer.
enum class Place : uint8_t {
  Arena,     ///< the block of memory that a run has for itself
  Constant,  ///< the program
  Input,     ///< the caller's tensor
  Output,    ///< the tensor that the caller gets
  Box,       ///< a Tensor of the run: text, and whatever has extents that depend on data
};

using BufferId = uint32_t;

struct Buffer {
  Place place = Place::Arena;
  size_t bytes = 0;
  /// Arena: offset. Otherwise: which constant, input, output or box.
  size_t index = 0;
};

/// Where a value lies. f32 values have a description; all others lie in row-major order (or are boxed).
struct Location {
  BufferId buffer = 0;
  size_t offset = 0;  ///< in bytes
  Desc desc = {};
};

/// An argument of a primitive, by oneDNN's number (DNNL_ARG_SRC, ...).
struct Argument {
  int number = 0;
  Location at;
};

class Workspace;

/// One launch: a primitive with its arguments, or a function.
struct Kernel {
  std::string name;            ///< "Conv+Relu"
  std::string implementation;  ///< "jit:avx512_core", "reference", ...
  dnnl::primitive primitive = {};
  std::vector<Argument> arguments = {};
  std::function<Status(Workspace&)> function = nullptr;
  std::vector<BufferId> buffers = {};  ///< all that it touches
  std::vector<ValueId> values = {};    ///< what it makes, of Program::graph
};

/// Bytes at an address that suits vectors; in large pages where they fill some.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t bytes);
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    size_t alignment;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

/// Room for constants that lasts as long as the pool: large blocks, so that the system can map them by large pages, and
/// streaming weights through the caches does not wait for the tables of small ones.
class ConstantPool {
 public:
  /// Not filled; at a multiple of kArenaAlignment.
  std::byte* allocate(size_t bytes);

 private:
  std::vector<AlignedBytes> blocks_;
  size_t used_ = 0;  // of the last block
};

/// A constant: a tensor of the graph, or one brought into another layout, in the pool.
struct ConstantData {
  Tensor tensor = {};
  std::byte* pooled = nullptr;
  std::byte* address() const;
};

struct Program {
  Graph graph;  ///< what the kernels compute
  dnnl::engine engine;
  std::vector<Buffer> buffers = {};
  ConstantPool pool = {};
  std::vector<ConstantData> constants = {};
  std::vector<Kernel> kernels = {};
  std::vector<Location> inputs = {};  ///< of the graph, in its order
  std::vector<Location> outputs = {};
  size_t boxes = 0;
  size_t arena_bytes = 0;
};

/// Lays out the arena: every buffer in it lives from the first to the last kernel that touches it.
void place_in_arena(Program& program);

}  // namespace isomer::onednn
