#include "isomer/engine/onednn/builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "isomer/base/parallel.h"
#include "isomer/engine/onednn/loop_nodes.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/workspace.h"

namespace isomer::onednn {
namespace {

/// Converts a constant. Paddings are zero.
void copy(const dnnl::engine& engine, const Builder::Copy& copy) {
  if (copy.convert) {
    copy.convert(reinterpret_cast<const float*>(copy.source), reinterpret_cast<float*>(copy.target));
    return;
  }
  const size_t element = dnnl::memory::data_type_size(copy.to.data_type());
  const bool padded = copy.to.get_size() > static_cast<size_t>(element_count(copy.to.dims())) * element;
  if (padded) std::memset(copy.target, 0, copy.to.get_size());
  dnnl::memory a(copy.from, engine, const_cast<std::byte*>(copy.source));
  dnnl::memory b(copy.to, engine, copy.target);
  dnnl::stream stream(engine);
  dnnl::reorder(a, b).execute(stream, a, b);
  stream.wait();
}

/// Performs copies with the current number of threads, each copy in one thread: there are many and most are small.
void perform(const dnnl::engine& engine, std::span<const Builder::Copy> copies) {
  isomer::parallel_for(copies.size(), current_threads(), 1, [&](size_t i, size_t) {
    const ThreadScope alone(1);
    copy(engine, copies[i]);
  });
}

/// Returns whether a primitive writes to the argument with this number.
bool is_written(int number) {
  switch (number) {
    case DNNL_ARG_DST_0:
    case DNNL_ARG_DST_1:
    case DNNL_ARG_DST_2:
    case DNNL_ARG_DIFF_WEIGHTS:
    case DNNL_ARG_WORKSPACE:
    case DNNL_ARG_SCRATCHPAD:
      return true;
    default:
      return false;
  }
}

}  // namespace

dnnl::primitive_attr scratch_by_user() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

Builder::Builder(Candidate candidate, std::shared_ptr<Tuner> tuner, DType dtype)
    : program_{.graph = std::move(candidate.graph), .engine = dnnl::engine(dnnl::engine::kind::cpu, 0)},
      tuner_(std::move(tuner)),
      types_(element_types(dtype)),
      convolutions_(tuner_, dtype),
      planning_(program_.graph, Stage::Canonical, native_block(), convolutions_, candidate.decisions),
      forms_(program_.graph.num_values()) {
  const Graph& g = program_.graph;
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    const ValueId input = g.inputs()[i];
    const TensorType& given = g.type(input);
    const bool flat = given.known() && given.dtype != DType::String && concrete(*given.shape);
    Location location = box();
    if (flat) {
      location = {new_buffer(Place::Input, Tensor::byte_size(given.dtype, *concrete(*given.shape)), i)};
      if (given.dtype == DType::Float) location.desc = plain_desc(dims_of(given));
    }
    program_.inputs.push_back(location);
    place(input, location);
  }
}

void Builder::start(size_t group, GroupForms planned, bool alone) {
  now_ = group;
  planned_ = std::move(planned);
  alone_ = alone;
}

/// Returns whether a value has been made, and has a layout.
bool Builder::has_form(ValueId value) {
  return !forms_[value].empty() && !boxed(value) && graph().type(value).dtype == DType::Float &&
         !is_empty(graph(), value);
}

void Builder::report(const Node& made) {
  for (uint32_t i = 0; i < made.num_results; ++i) {
    if (!has_form(made.result(i))) continue;
    const Desc desc = at(made.result(i)).desc;
    Strides strides;
    if (is_strided(desc)) std::ranges::copy(strides_of(desc), std::back_inserter(strides));
    planning_.correct(made.result(i), form_of(desc), std::move(strides));
  }
}

void Builder::convert_as_decided(ValueId value) {
  const auto form = has_form(value) ? planning_.conversion(value) : std::nullopt;
  if (!form) return;
  const Desc desc = form_desc(dims_of(graph().type(value)), *form, at(value).desc.data_type());
  as(value, desc);
  auto& forms = forms_[value];
  const auto decided =
      std::ranges::find_if(forms, [&](const Location& other) { return same_layout(other.desc, desc); });
  std::rotate(forms.begin(), decided, decided + 1);
}

BufferId Builder::new_buffer(Place place, size_t bytes, size_t index) {
  program_.buffers.push_back({place, bytes, index});
  in_buffer_.emplace_back();
  return static_cast<BufferId>(program_.buffers.size() - 1);
}

Location Builder::room(size_t bytes, const Desc& desc) { return {new_buffer(Place::Arena, bytes), 0, desc}; }
Location Builder::box() { return {new_buffer(Place::Box, 0, program_.boxes++)}; }

void Builder::place(ValueId value, const Location& location) {
  in_buffer_[location.buffer].push_back(value);
  forms_[value].insert(forms_[value].begin(), location);
}

Location Builder::at(ValueId value) {
  if (forms_[value].empty()) {  // only constants have no location before first use
    const Tensor& tensor = *program_.graph.constant(value);
    if (tensor.dtype() == DType::String) {
      // Text has no flat bytes; a kernel that reads it uses the tensor itself.
      Location location = box();
      place(value, location);
      Kernel fill{.name = "Constant", .implementation = "reference", .touches = {write_of(location)}};
      fill.function = [tensor, location](Workspace& workspace) -> Status {
        workspace.box(location) = tensor;
        return {};
      };
      emit(std::move(fill));
      return location;
    }
    place(value, constant(tensor));
  }
  return forms_[value].front();
}

bool Builder::boxed(ValueId value) { return program_.buffers[at(value).buffer].place == Place::Box; }

bool Builder::reads_boxed(const Group& group) {
  const auto is_boxed = [&](ValueId value) { return value != kNoValue && boxed(value); };
  if (!group.inner.empty()) return std::ranges::any_of(loop_operands(graph(), group), is_boxed);
  return std::ranges::any_of(graph().operands(graph().node(group.root)), is_boxed) ||
         std::ranges::any_of(group.posts, is_boxed, &Post::added);
}

const Location* Builder::known_form(ValueId value, const Desc& desc) const {
  for (const Location& form : forms_[value])
    if (same_layout(form.desc, desc)) return &form;
  return nullptr;
}

Location Builder::as(ValueId value, const Desc& desc) {
  at(value);
  if (desc.dims() != dims_of(program_.graph.type(value))) {
    Location location = as(value, plain_desc(dims_of(program_.graph.type(value)), desc.data_type()));
    location.desc = desc;
    return location;
  }
  if (const Location* form = known_form(value, desc)) return {form->buffer, form->offset, desc};
  if (program_.graph.constant(value) != nullptr) {
    forms_[value].push_back(constant(value, plain_desc(desc.dims()), desc));
  } else {
    const Location copy = room(desc.get_size(), desc);
    emit_reorder(forms_[value].front(), copy, value);
    forms_[value].push_back(copy);
  }
  in_buffer_[forms_[value].back().buffer].push_back(value);
  return forms_[value].back();
}

Location Builder::plain(ValueId value) {
  const Location location = at(value);
  if (boxed(value) || program_.graph.type(value).dtype != DType::Float) return location;
  return as(value, plain_desc(dims_of(program_.graph.type(value))));
}

Location Builder::row_major(ValueId value) {
  const Location location = at(value);
  if (boxed(value) || program_.graph.type(value).dtype != DType::Float) return location;
  return as(value, plain_desc(dims_of(program_.graph.type(value)), location.desc.data_type()));
}

Location Builder::constant(ValueId value, const Desc& from, const Desc& to, Conversion convert) {
  auto& known = reordered_[value];
  for (const Reordered& one : known)
    if (one.from == from && one.at.desc == to) return one.at;
  const std::byte* const source = program_.graph.constant(value)->bytes().data();
  known.push_back({from, copied_constant(source, from, to, std::move(convert))});
  return known.back().at;
}

Location Builder::copied_constant(const std::byte* source, const Desc& from, const Desc& to, Conversion convert) {
  std::byte* const bytes = program_.pool.allocate(to.get_size());
  copies_.push_back({from, source, to, bytes, std::move(convert)});
  // Packed weights of recurrent layers begin with a description of themselves.
  const bool describes_itself = to.data.format_kind == dnnl_format_kind_rnn_packed;
  program_.constants.push_back({Tensor(), bytes, !describes_itself});
  return {new_buffer(Place::Constant, to.get_size(), program_.constants.size() - 1), 0, to};
}

Location Builder::constant(Tensor tensor, const Desc& from, const Desc& to) {
  copied_.push_back(std::move(tensor));
  return copied_constant(copied_.back().bytes().data(), from, to);
}

Location Builder::constant(const Tensor& tensor) {
  program_.constants.push_back({tensor, nullptr, tensor.dtype() == DType::Float});
  Location location{new_buffer(Place::Constant, tensor.bytes().size(), program_.constants.size() - 1)};
  if (tensor.dtype() == DType::Float) location.desc = plain_desc(dims_of(tensor.type()));
  return location;
}

bool Builder::may_overwrite(const Location& location) const {
  if (alone_ || program_.buffers[location.buffer].place != Place::Arena) return false;
  const auto elsewhere = [&](const Location& form) {
    return form.buffer == location.buffer && (form.offset != location.offset || !same_layout(form.desc, location.desc));
  };
  for (const ValueId value : in_buffer_[location.buffer]) {
    if (planning_.last_reader(value) > now_) return false;
    // Elements that the group reads elsewhere in the buffer would be overwritten before they are read.
    if (planning_.last_reader(value) == now_ && std::ranges::any_of(forms_[value], elsewhere)) return false;
  }
  return true;
}

std::optional<Location> Builder::place_in_concat(ValueId value) {
  const auto& part = planning_.concats().part(value);
  if (!part) return std::nullopt;
  const auto layout = [&](ValueId one) { return form_desc(dims_of(graph().type(one)), part->form, types_.front()); };
  const size_t offset = static_cast<size_t>(part->offset) * dnnl::memory::data_type_size(types_.front());
  const auto known = roots_.find(part->root);
  if (known != roots_.end()) return Location{known->second, offset, layout(value)};
  const BufferId buffer = new_buffer(Place::Arena, layout(part->root).get_size());
  roots_[part->root] = buffer;
  // All values that will be in the buffer, so that nothing of it is overwritten too early.
  for (ValueId other = 0; other < graph().num_values(); ++other)
    if (planning_.concats().part(other) && planning_.concats().part(other)->root == part->root)
      in_buffer_[buffer].push_back(other);
  return Location{buffer, offset, layout(value)};
}

Location Builder::result(ValueId value, const Desc& desc, std::optional<Location> over) {
  if (const auto part = place_in_concat(value); part && same_layout(part->desc, desc))
    return {part->buffer, part->offset, desc};
  if (over && same_layout(over->desc, desc) && may_overwrite(*over)) return {over->buffer, over->offset, desc};
  return room(desc.get_size(), desc);
}

void Builder::emit(Kernel kernel) {
  kernel.group = now_;
  kernel.threads = current_threads();
  program_.kernels.push_back(std::move(kernel));
}

void Builder::emit_primitive(std::string name, dnnl::primitive primitive, const char* implementation,
                             std::vector<Argument> arguments, const Desc& scratch, std::vector<ValueId> values) {
  if (scratch.get_size() > 0) arguments.push_back({DNNL_ARG_SCRATCHPAD, room(scratch.get_size(), scratch)});
  Kernel kernel{.name = std::move(name),
                .implementation = implementation,
                .primitive = std::move(primitive),
                .arguments = std::move(arguments),
                .values = std::move(values)};
  for (const Argument& argument : kernel.arguments)
    kernel.touches.push_back(is_written(argument.number) ? write_of(argument.at) : read_of(argument.at));
  emit(std::move(kernel));
}

void Builder::emit_reorder(const Location& from, const Location& to, ValueId value) {
  const dnnl::reorder::primitive_desc desc(program_.engine, from.desc, program_.engine, to.desc, scratch_by_user());
  emit("reorder", desc, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, {value});
}

/// Lets the caller's tensor be the buffer of a value that is row-major and alone there. False if that is not possible.
bool Builder::gives_buffer(ValueId value, size_t bytes, size_t index) {
  const TensorType& type = program_.graph.type(value);
  const Location* plain =
      type.dtype == DType::Float ? known_form(value, plain_desc(dims_of(type))) : &forms_[value].front();
  if (plain == nullptr) return false;
  Buffer& buffer = program_.buffers[plain->buffer];
  if (buffer.place != Place::Arena || plain->offset != 0 || buffer.bytes != bytes) return false;
  buffer.place = Place::Output;
  buffer.index = index;
  program_.outputs.push_back(*plain);
  return true;
}

Status Builder::emit_output(size_t index) {
  const ValueId value = program_.graph.outputs()[index];
  const Location from = at(value);
  if (boxed(value)) {
    program_.outputs.push_back(from);
    return {};
  }
  const TensorType& type = program_.graph.type(value);
  const size_t bytes = Tensor::byte_size(type.dtype, *concrete(*type.shape));
  if (bytes > 0 && gives_buffer(value, bytes, index)) return {};
  Location to{new_buffer(Place::Output, bytes, index)};
  program_.outputs.push_back(to);
  if (type.dtype == DType::Float && bytes > 0) {
    to.desc = plain_desc(dims_of(type));
    const Location* form = known_form(value, to.desc);
    if (form == nullptr) {
      emit_reorder(from, to, value);
      return {};
    }
  }
  const Location* plain = type.dtype == DType::Float && bytes > 0 ? known_form(value, to.desc) : &forms_[value].front();
  Kernel kernel{.name = "copy output", .implementation = "memcpy", .touches = {read_of(*plain), write_of(to)}};
  kernel.function = [source = *plain, to, bytes](Workspace& workspace) -> Status {
    if (bytes > 0) std::memcpy(workspace.address(to), workspace.address(source), bytes);
    return {};
  };
  emit(std::move(kernel));
  return {};
}

Result<Program> Builder::finish(bool draft) {
  now_ = planning_.groups().size();
  for (size_t i = 0; i < program_.graph.outputs().size(); ++i) ISOMER_CHECK(emit_output(i));
  if (draft) return std::move(program_);
  perform(program_.engine, copies_);
  place_in_arena(program_);
  return std::move(program_);
}

}  // namespace isomer::onednn
