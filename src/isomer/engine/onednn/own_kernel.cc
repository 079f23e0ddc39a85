#include "isomer/engine/onednn/own_kernel.h"

#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {

void emit_own(Builder& builder, OwnKernel own) {
  Kernel kernel{.name = std::move(own.name),
                .implementation = own_implementation(),
                .arguments = {{DNNL_ARG_DST, own.to}},
                .function = std::move(own.run),
                .touches = {write_of(own.to)},
                .values = {own.result}};
  for (const Location& from : own.from) kernel.touches.push_back(read_of(from));
  builder.emit(std::move(kernel));
  builder.place(own.result, own.to);
}

}  // namespace isomer::onednn
