#pragma once
// Builds a program: tracks where every value is and in which layout, and converts it if a kernel needs another layout.

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/planning.h"
#include "isomer/engine/onednn/program.h"
#include "isomer/engine/onednn/tuner.h"
#include "isomer/plan/candidate.h"

namespace isomer::onednn {

/// Returns the attributes of primitives whose scratch memory is in the arena.
dnnl::primitive_attr scratch_by_user();

class Builder {
 public:
  /// Computes the elements of a constant from a row-major one.
  using Conversion = std::function<void(const float* from, float* to)>;
  /// A constant that is to be converted: to another layout, or as `convert` does.
  struct Copy {
    Desc from;
    const std::byte* source;
    Desc to;
    std::byte* target;
    Conversion convert = nullptr;
  };

  /// Places the graph's inputs. `dtype`: the element type in which convolutions and products compute if they can.
  Builder(Candidate candidate, std::shared_ptr<Tuner> tuner, DType dtype);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  const Graph& graph() const { return program_.graph; }
  const dnnl::engine& engine() const { return program_.engine; }
  Planning& planning() { return planning_; }
  Tuner& tuner() { return *tuner_; }
  /// The element type for this result. It is `type`, except that outputs are not rounded to a smaller type first.
  ElementType result_type(ValueId value, ElementType type) const {
    return program_.graph.is_output(value) ? kF32 : type;
  }
  /// The types to try for a kernel, best first.
  const std::vector<ElementType>& types() const { return types_; }

  /// Starts a group, for which this is planned. With `alone`, its nodes become kernels one by one, and nothing is
  /// overwritten.
  void start(size_t group, GroupForms planned, bool alone);
  const GroupForms& planned() const { return planned_; }
  /// Tells the planning in which forms the results of a node were made.
  void report(const Node& made);
  /// Converts a result to the layout that is decided for it, unless it has that already. From then on this is its
  /// original layout.
  void convert_as_decided(ValueId value);

  /// Returns the location of a value as it was computed.
  Location at(ValueId value);
  /// Returns an f32 value in this layout and type; emits a copy if there is none in that layout yet. A layout with
  /// different extents (but as many elements) must be row-major.
  Location as(ValueId value, const Desc& desc);
  /// Returns a value in row-major order; floating-point values in f32.
  Location plain(ValueId value);
  /// Returns a value in row-major order; floating-point values in the type in which they were computed.
  Location row_major(ValueId value);
  /// Returns where the elements of an f32 constant, now in layout `from`, will be in the layout `to` when the program
  /// is finished. Repeated calls return the same location.
  Location constant(ValueId value, const Desc& from, const Desc& to) { return constant(value, from, to, nullptr); }
  /// Likewise, but converted. `to` must be of other extents than the constant, and determine the conversion.
  Location converted_constant(ValueId value, const Desc& to, Conversion convert) {
    return constant(value, plain_desc(dims_of(graph().type(value))), to, std::move(convert));
  }
  /// Adds a new constant.
  Location constant(const Tensor& tensor);
  /// Adds a new constant whose elements are in layout `from`, and will be in layout `to`.
  Location constant(Tensor tensor, const Desc& from, const Desc& to);
  bool boxed(ValueId value);
  /// Returns whether a group reads boxed values, which oneDNN cannot.
  bool reads_boxed(const Group& group);

  /// Returns space for the result of the current group in this layout: its place within a concatenation, if that has
  /// the same layout; else `over`, if that may be overwritten and has the same layout; else a new buffer.
  Location result(ValueId value, const Desc& desc, std::optional<Location> over = std::nullopt);
  /// Returns temporary space, which is in use until the last kernel that accesses it.
  Location room(size_t bytes, const Desc& desc = {});
  Location box();
  /// Returns whether the current group may overwrite this location element by element: nothing else reads it later, and
  /// the group itself reads nothing else from the buffer.
  bool may_overwrite(const Location& location) const;
  /// Sets the location of a value.
  void place(ValueId value, const Location& location);
  /// Returns the place of a value in its concatenation, if the value belongs there.
  std::optional<Location> place_in_concat(ValueId value);

  /// Appends a kernel. A primitive's scratch memory is added to the arguments.
  template <class PrimitiveDesc>
  void emit(const std::string& name, const PrimitiveDesc& desc, const std::vector<Argument>& arguments,
            const std::vector<ValueId>& values);
  void emit(Kernel kernel);
  /// Appends a copy that changes the layout.
  void emit_reorder(const Location& from, const Location& to, ValueId value);

  /// Returns the program after all groups have their kernels: converts constants to their layouts, and copies outputs
  /// to the caller's memory. A `draft` is not to be run: its constants have no elements, and its arena no layout.
  Result<Program> finish(bool draft);

 private:
  Location constant(ValueId value, const Desc& from, const Desc& to, Conversion convert);
  Location copied_constant(const std::byte* source, const Desc& from, const Desc& to, Conversion convert = nullptr);
  BufferId new_buffer(Place place, size_t bytes, size_t index = 0);
  void emit_primitive(std::string name, dnnl::primitive primitive, const char* implementation,
                      std::vector<Argument> arguments, const Desc& scratch, std::vector<ValueId> values);
  Status emit_output(size_t index);
  bool gives_buffer(ValueId value, size_t bytes, size_t index);
  const Location* known_form(ValueId value, const Desc& desc) const;
  bool has_form(ValueId value);

  Program program_;
  const std::shared_ptr<Tuner> tuner_;
  const std::vector<ElementType> types_;
  ConvWays convolutions_;
  Planning planning_;
  size_t now_ = 0;
  GroupForms planned_;
  bool alone_ = false;
  std::vector<std::vector<Location>> forms_;     // by value; the first is the original one
  std::vector<std::vector<ValueId>> in_buffer_;  // values in a buffer, by buffer
  std::map<ValueId, BufferId> roots_;            // buffers of concatenations
  struct Reordered {
    Desc from;
    Location at;
  };
  std::map<ValueId, std::vector<Reordered>> reordered_;  // of constants
  std::vector<Copy> copies_;                             // of constants, performed at the end
  std::vector<Tensor> copied_;                           // their sources that are not constants of the graph
};

template <class PrimitiveDesc>
void Builder::emit(const std::string& name, const PrimitiveDesc& desc, const std::vector<Argument>& arguments,
                   const std::vector<ValueId>& values) {
  emit_primitive(name, dnnl::primitive(desc.get()), desc.impl_info_str(), arguments, desc.scratchpad_desc(), values);
}

}  // namespace isomer::onednn
