#pragma once
// Builds a program: knows where every value lies and in which layout, and brings it into another one where a kernel
// asks for that.

#include <map>
#include <optional>

#include "isomer/runtime/onednn/fusion.h"
#include "isomer/runtime/onednn/placement.h"
#include "isomer/runtime/onednn/program.h"
#include "isomer/runtime/onednn/tuner.h"

namespace isomer::onednn {

/// For primitives whose scratch memory lies in the arena.
dnnl::primitive_attr scratch_by_user();

class Builder {
 public:
  /// Elements of a constant on their way into another layout.
  struct Copy {
    Desc from;
    const std::byte* source;
    Desc to;
    std::byte* target;
  };

  /// Places the graph's inputs. Keeps a reference to the tuner. `type`: see below.
  Builder(Graph graph, std::vector<Group> groups, Tuner& tuner, ElementType type);

  const Graph& graph() const { return program_.graph; }
  const dnnl::engine& engine() const { return program_.engine; }
  std::span<const Group> groups() const { return groups_; }
  const ConcatPlacement& placement() const { return placement_; }
  Tuner& tuner() { return tuner_; }
  /// In which elements convolutions and products compute where they can, and make their results.
  ElementType type() const { return type_; }
  /// In which it makes this one: what the caller gets is not rounded to fewer bits before.
  ElementType result_type(ValueId value, ElementType type) const {
    return program_.graph.is_output(value) ? kF32 : type;
  }
  /// The types to try for a kernel, best first.
  std::vector<ElementType> types() const { return type_ == kF32 ? std::vector{kF32} : std::vector{type_, kF32}; }
  /// Channels that this processor's kernels take at once.
  int block() const { return block_; }

  /// The group whose turn it is. `alone` while its nodes become kernels one by one: then nothing is overwritten.
  void start(size_t group, bool alone);

  /// Where a value lies, as it was made.
  Location at(ValueId value);
  /// An f32 value in this layout and type: it gets a copy in that layout where it has none yet. A layout under other
  /// extents (as many elements) must be row-major.
  Location as(ValueId value, const Desc& desc);
  /// A value in row-major order, real ones in f32.
  Location plain(ValueId value);
  /// A value in row-major order, real ones in the type in which they were made.
  Location row_major(ValueId value);
  /// Where the elements of an f32 constant, which lie as `from` says, will be in the layout `to` when the program is
  /// finished. The same location when asked for again.
  Location constant(ValueId value, const Desc& from, const Desc& to);
  /// A new constant.
  Location constant(const Tensor& tensor);
  /// The same for elements that lie as `from` says, in the layout `to`.
  Location constant(Tensor tensor, const Desc& from, const Desc& to);
  bool boxed(ValueId value);

  /// Room for the result of the current group in this layout: its place within a concatenation where that has the same
  /// layout, else `over` where that may be overwritten and has the same layout, else room of its own.
  Location result(ValueId value, const Desc& desc, std::optional<Location> over = std::nullopt);
  /// Room for something that only lives until the last kernel that touches it.
  Location room(size_t bytes, const Desc& desc = {});
  Location box();
  /// Whether the current group may overwrite what lies there, element by element: nothing else reads it later, and the
  /// group itself reads nothing else of the buffer.
  bool may_overwrite(const Location& location) const;
  /// Tells where a value lies from now on.
  void place(ValueId value, const Location& location);
  /// Whether a value lies where its concatenation wants it; that place.
  std::optional<Location> place_in_concat(ValueId value);

  /// Appends a kernel. A primitive's scratch memory is added to the arguments.
  template <class PrimitiveDesc>
  void emit(const std::string& name, const PrimitiveDesc& desc, const std::vector<Argument>& arguments,
            const std::vector<ValueId>& values);
  void emit(Kernel kernel) { program_.kernels.push_back(std::move(kernel)); }
  /// A copy that changes the layout.
  void emit_reorder(const Location& from, const Location& to, ValueId value);

  /// The program, once all groups have their kernels: constants are brought into their layouts, outputs copied to where
  /// the caller wants them.
  Result<Program> finish();

 private:
  Location copied_constant(const std::byte* source, const Desc& from, const Desc& to);
  BufferId new_buffer(Place place, size_t bytes, size_t index = 0);
  void emit_primitive(std::string name, dnnl::primitive primitive, const char* implementation,
                      std::vector<Argument> arguments, const Desc& scratch, std::vector<ValueId> values);
  Status emit_output(size_t index);
  const Location* known_form(ValueId value, const Desc& desc) const;

  Program program_;
  std::vector<Group> groups_;
  Tuner& tuner_;
  const ElementType type_;
  const int block_;
  ConcatPlacement placement_;
  size_t now_ = 0;
  bool alone_ = false;
  std::vector<size_t> last_reader_;              // group, by value; beyond all groups for outputs
  std::vector<std::vector<Location>> forms_;     // by value; the first is as it was made
  std::vector<std::vector<ValueId>> in_buffer_;  // values that lie in a buffer, by buffer
  std::map<ValueId, BufferId> roots_;            // buffers of concatenations
  struct Reordered {
    Desc from;
    Location at;
  };
  std::map<ValueId, std::vector<Reordered>> reordered_;  // of constants
  std::vector<Copy> copies_;                             // of constants, to be performed in the end
  std::vector<Tensor> copied_;                           // those of them that are not the graph's
};

template <class PrimitiveDesc>
void Builder::emit(const std::string& name, const PrimitiveDesc& desc, const std::vector<Argument>& arguments,
                   const std::vector<ValueId>& values) {
  emit_primitive(name, dnnl::primitive(desc.get()), desc.impl_info_str(), arguments, desc.scratchpad_desc(), values);
}

}  // namespace isomer::onednn
