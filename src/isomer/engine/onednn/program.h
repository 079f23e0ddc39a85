#pragma once
// What a plan runs: kernels over buffers.

#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/aligned_bytes.h"
#include "isomer/base/result.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/ir/graph.h"
#include "isomer/plan/stream_plan.h"

namespace isomer::onednn {

/// Where the bytes of a buffer are.
enum class Place : uint8_t {
  Arena,     ///< the block of memory of one run
  Constant,  ///< the program
  Input,     ///< the caller's tensor
  Output,    ///< the tensor that the caller gets
  Box,       ///< a Tensor of the run: text, and values whose extents depend on data
};

using BufferId = uint32_t;

struct Buffer {
  Place place = Place::Arena;
  size_t bytes = 0;
  /// Arena: offset. Otherwise: index of the constant, input, output or box.
  size_t index = 0;
};

/// The location of a value. f32 values have a description; all others are in row-major order (or boxed).
struct Location {
  BufferId buffer = 0;
  size_t offset = 0;  ///< in bytes
  Desc desc = {};
};

/// A part of a buffer that a kernel reads or writes, in bytes.
struct Touch {
  BufferId buffer = 0;
  bool write = false;
  size_t begin = 0;
  size_t end = SIZE_MAX;
};
/// The elements that a description spans; the whole buffer if there is none.
Touch read_of(const Location& at);
Touch write_of(const Location& at);

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
  std::vector<Touch> touches = {};   ///< all buffers that it accesses
  std::vector<ValueId> values = {};  ///< its results, as values of Program::graph
  size_t group = 0;                  ///< its number in the planning; the next one if it only fills an output
  int threads = 1;                   ///< that run it
};

/// Memory for constants that is freed with the pool. It uses large blocks, so that the system can map them by large
/// pages; with small pages, streaming weights through the caches would wait for page tables.
class ConstantPool {
 public:
  /// Returns uninitialized memory, aligned to kArenaAlignment.
  std::byte* allocate(size_t bytes);

 private:
  std::vector<AlignedBytes> blocks_;
  size_t used_ = 0;  // of the last block
};

/// A constant: a tensor of the graph, or a copy in another layout, in the pool.
struct ConstantData {
  Tensor tensor = {};
  std::byte* pooled = nullptr;
  bool replaceable = false;  ///< kernels take equally long with any other floating-point numbers in its place
  std::byte* address() const;
};

struct Program {
  Graph graph;  ///< what the kernels compute
  dnnl::engine engine;
  std::vector<Buffer> buffers = {};
  ConstantPool pool = {};
  std::vector<ConstantData> constants = {};
  std::vector<Kernel> kernels = {};
  std::vector<NodeId> groups = {};  ///< the last node of each group (Kernel::group)
  /// The kernels, as tasks, on several streams; if empty, they run one after the other.
  StreamPlan order = {};
  std::vector<Location> inputs = {};  ///< of the graph, in its order
  std::vector<Location> outputs = {};
  size_t boxes = 0;
  size_t arena_bytes = 0;
};

/// Lays out the arena for kernels that run one after the other: every buffer in it is live from the first to the last
/// kernel that accesses it.
void place_in_arena(Program& program);

}  // namespace isomer::onednn
