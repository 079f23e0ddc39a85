#include "isomer/engine/onednn/own_kernel.h"

#include <cstring>
#include <utility>

namespace isomer::onednn {

void emit_own(Builder& builder, OwnKernel own) {
  Kernel kernel{.name = std::move(own.name),
                .implementation = std::move(own.implementation),
                .arguments = {{DNNL_ARG_DST, own.to}},
                .function = std::move(own.run),
                .touches = {write_of(own.to)},
                .values = {own.result}};
  for (const Location& from : own.from) kernel.touches.push_back(read_of(from));
  if (own.scratch) kernel.touches.push_back(write_of(*own.scratch));
  builder.emit(std::move(kernel));
  builder.place(own.result, own.to);
}

LocatedPosts::LocatedPosts(Builder& builder, const PostOps& ops, const OwnPosts& posts) : posts_(posts) {
  for (const auto& operand : ops.operands) {
    which_.push_back(static_cast<size_t>(operand.post));
    added_.push_back(builder.as(operand.value, operand.layout));
  }
}

std::optional<Location> LocatedPosts::over(const Location& src) const {
  if (added_.empty() || added_[0].buffer == src.buffer) return std::nullopt;
  return added_[0];
}

OwnPosts LocatedPosts::in(const Workspace& workspace) const {
  OwnPosts out = posts_;
  for (size_t i = 0; i < which_.size(); ++i) out.locate(which_[i], elements_at(workspace, added_[i]));
  return out;
}

void emit_own(Builder& builder, OwnKernel kernel, const std::optional<Location>& bias, const LocatedPosts& posts,
              std::function<void(const Workspace&, const FinishArguments&)> run) {
  if (bias) kernel.from.push_back(*bias);
  kernel.from.insert(kernel.from.end(), posts.added().begin(), posts.added().end());
  kernel.run = [=, run = std::move(run), to = kernel.to](Workspace& workspace) -> Status {
    run(workspace, {.bias = bias ? elements_at(workspace, *bias) : nullptr,
                    .result = mutable_elements_at(workspace, to),
                    .posts = posts.in(workspace)});
    return {};
  };
  emit_own(builder, std::move(kernel));
}

TrialFloats::TrialFloats(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(float)) {
  std::memset(bytes_.data(), 0, bytes_.size());
}

}  // namespace isomer::onednn
