#include "isomer/engine/onednn/own_kernel.h"

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

}  // namespace isomer::onednn
