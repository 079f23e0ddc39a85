// Rearranges space and channels: DepthToSpace, SpaceToDepth, Col2Im.

#include <algorithm>

#include "isomer/ops/domain.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<Dim> block_of(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 0, 4));
  const std::string& mode = view.attrs.text("mode");
  if (mode != "DCR" && mode != "CRD") return fail("{} of the unknown mode '{}'", view.op.name, mode);
  const int64_t block = view.attrs.integer("blocksize");
  if (block < 1 || block > INT32_MAX) return fail("{} with blocks of {}", view.op.name, block);
  return Dim(block);
}

/// extent / divisor. Fails if there is known to be a remainder.
Result<Dim> divided(const OpView& view, const Dim& extent, const Dim& divisor) {
  Dim quotient = floor_div(extent, divisor);
  if (extent.is_const() && !(quotient * divisor == extent))
    return fail("{} of {} in blocks of {}", view.op.name, view.type(0).str(), divisor.str());
  return quotient;
}

Result<std::vector<TensorType>> infer_depth_to_space(const OpView& view) {
  ISOMER_TRY(const Dim block, block_of(view));
  const Shape& x = view.shape(0);
  ISOMER_TRY(const Dim channels, divided(view, x[1], block * block));
  return std::vector<TensorType>{{view.dtype(0), {x[0], channels, x[2] * block, x[3] * block}}};
}

Result<std::vector<TensorType>> infer_space_to_depth(const OpView& view) {
  ISOMER_TRY(const Dim block, block_of(view));
  const Shape& x = view.shape(0);
  ISOMER_TRY(const Dim height, divided(view, x[2], block));
  ISOMER_TRY(const Dim width, divided(view, x[3], block));
  return std::vector<TensorType>{{view.dtype(0), {x[0], x[1] * block * block, height, width}}};
}

/// Copies the operand, reshaped to `dims`, with its axes in the order `order`.
Status permuted_kernel(KernelContext& context, const std::vector<int64_t>& dims, const std::vector<size_t>& order) {
  return for_width(context.operands[0].dtype(), [&]<class T>() {
    const auto from = elements<T>(context.operands[0]);
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return;
    const auto to = mutable_elements<T>(y);
    const auto own = strides_of(dims);
    std::vector<int64_t> extents;
    std::vector<int64_t> strides;
    for (const size_t axis : order) {
      extents.push_back(dims[axis]);
      strides.push_back(own[axis]);
    }
    size_t n = 0;
    for_each_position(extents, {strides}, [&](const int64_t* at) { to[n++] = from[static_cast<size_t>(at[0])]; });
  });
}

Status depth_to_space_kernel(KernelContext& context) {
  const auto& x = context.operands[0].dims();
  const int64_t block = context.attrs.integer("blocksize");
  const int64_t channels = x[1] / (block * block);
  if (context.attrs.text("mode") == "DCR")
    return permuted_kernel(context, {x[0], block, block, channels, x[2], x[3]}, {0, 3, 4, 1, 5, 2});
  return permuted_kernel(context, {x[0], channels, block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
}

Status space_to_depth_kernel(KernelContext& context) {
  const auto& x = context.operands[0].dims();
  const int64_t block = context.attrs.integer("blocksize");
  const std::vector<int64_t> dims{x[0], x[1], x[2] / block, block, x[3] / block, block};
  if (context.attrs.text("mode") == "DCR") return permuted_kernel(context, dims, {0, 3, 5, 1, 2, 4});
  return permuted_kernel(context, dims, {0, 1, 3, 5, 2, 4});
}

/// The geometry of Col2Im, with one entry per image axis.
struct Columns {
  std::vector<int64_t> image;
  std::vector<int64_t> block;
  std::vector<int64_t> dilations;
  std::vector<int64_t> strides;
  std::vector<int64_t> pads;
  std::vector<int64_t> steps;  // positions of the block along each axis
};

bool sane(const Ints& values, int64_t min) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= min && v <= INT32_MAX; });
}

Result<Columns> columns_of(const Attrs& attrs) {
  Columns geometry{attrs.ints("image_shape"), attrs.ints("block_shape"), attrs.ints("dilations"),
                   attrs.ints("strides"),     attrs.ints("pads"),        {}};
  const size_t rank = geometry.image.size();
  if (geometry.dilations.empty()) geometry.dilations.assign(rank, 1);
  if (geometry.strides.empty()) geometry.strides.assign(rank, 1);
  if (geometry.pads.empty()) geometry.pads.assign(2 * rank, 0);
  const bool sizes = rank > 0 && geometry.block.size() == rank && geometry.dilations.size() == rank &&
                     geometry.strides.size() == rank && geometry.pads.size() == 2 * rank;
  if (!sizes) return fail("Col2Im got attributes of different lengths");
  if (!sane(geometry.image, 1) || !sane(geometry.block, 1) || !sane(geometry.dilations, 1) ||
      !sane(geometry.strides, 1) || !sane(geometry.pads, 0))
    return fail("Col2Im got extents, strides, dilations or pads that are out of range");
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = geometry.image[i] + geometry.pads[i] + geometry.pads[rank + i] -
                         geometry.dilations[i] * (geometry.block[i] - 1) - 1;
    if (span < 0) return fail("the block of Col2Im is larger than the image");
    geometry.steps.push_back(span / geometry.strides[i] + 1);
  }
  return geometry;
}

Dim product(const std::vector<int64_t>& values) { return element_count(Shape(values.begin(), values.end())); }

Result<std::vector<TensorType>> infer_col2im(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 0, 3));
  ISOMER_TRY(const Columns geometry, columns_of(view.attrs));
  ISOMER_TRY(const Dim channels, divided(view, view.shape(0)[1], product(geometry.block)));
  const Dim& columns = view.shape(0)[2];
  if (columns.is_const() && !(columns == product(geometry.steps)))
    return fail("Col2Im of {} needs {} columns", view.type(0).str(), product(geometry.steps).str());
  Shape shape{view.shape(0)[0], channels};
  shape.insert(shape.end(), geometry.image.begin(), geometry.image.end());
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status col2im_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const Columns geometry, columns_of(context.attrs));
  const size_t rank = geometry.image.size();
  return for_numeric(x.dtype(), [&]<class T>() {
    const auto from = x.data<T>();
    const auto to = new_result(context).template mutable_data<T>();
    const auto image_strides = strides_of(geometry.image);
    const auto image_size = static_cast<size_t>(product(geometry.image).value());
    // The operand as [images, block positions..., steps...]. Each element belongs to one element of its image, or is
    // outside.
    std::vector<int64_t> dims = geometry.block;
    dims.insert(dims.end(), geometry.steps.begin(), geometry.steps.end());
    std::vector<std::vector<int64_t>> strides(rank, std::vector<int64_t>(2 * rank, 0));
    for (size_t i = 0; i < rank; ++i) {
      strides[i][i] = geometry.dilations[i];
      strides[i][rank + i] = geometry.strides[i];
    }
    size_t n = 0;
    for (size_t image = 0; n < from.size(); ++image) {
      for_each_position(dims, strides, [&](const int64_t* at) {
        int64_t offset = 0;
        bool inside = true;
        for (size_t i = 0; i < rank; ++i) {
          const int64_t position = at[i] - geometry.pads[i];
          inside = inside && position >= 0 && position < geometry.image[i];
          offset += position * image_strides[i];
        }
        if (inside) {
          T& pixel = to[image * image_size + static_cast<size_t>(offset)];
          pixel = static_cast<T>(pixel + from[n]);
        }
        ++n;
      });
    }
  });
}

double col2im_flops(const WorkView& view) { return count(view.operands[0]); }

void depth_to_space_gradient(Backward& node) {
  const int64_t block = node.attrs().integer("blocksize");
  const GraphValue g = node.call("SpaceToDepth", {{"blocksize", block}}, {node.gradient()});
  if (node.attrs().text("mode") == "DCR") return node.give(0, g);
  // SpaceToDepth puts the positions in a block before the channels; the operand has them after these.
  const Shape& x = node.operand(0).shape();
  const Dim positions(block * block), channels = node.result().shape()[1];
  const GraphValue split = reshaped(g, {x[0], positions, channels, x[2], x[3]});
  node.give(0, reshaped(transposed(split, {0, 2, 1, 3, 4}), x));
}
void space_to_depth_gradient(Backward& node) {
  node.give(0, node.call("DepthToSpace", node.attrs(), {node.gradient()}));
}

/// Reads each element of the columns from the pixel that it was added to, or from the pads.
void col2im_gradient(Backward& node) {
  const auto geometry = columns_of(node.attrs());
  if (!geometry) node.refuse(geometry.error().message);
  known_extent(node.operand(0), 2);  // so that there are no more pixels to list than the operand has columns
  const size_t rank = geometry->image.size();
  const GraphValue& g = node.gradient();
  Ints pads(2 * (rank + 2), 0), extents = geometry->image, dims = geometry->block;
  for (size_t i = 0; i < rank; ++i) {
    pads[2 + i] = geometry->pads[i];
    pads[rank + 4 + i] = geometry->pads[rank + i];
    extents[i] += geometry->pads[i] + geometry->pads[rank + i];
  }
  dims.insert(dims.end(), geometry->steps.begin(), geometry->steps.end());
  const auto strides = strides_of(extents);
  Ints distances;
  for (size_t i = 0; i < rank; ++i) distances.push_back(geometry->dilations[i] * strides[i]);
  for (size_t i = 0; i < rank; ++i) distances.push_back(geometry->strides[i] * strides[i]);
  Ints pixels;
  for_each_position(dims, {distances}, [&](const int64_t* at) { pixels.push_back(at[0]); });
  const GraphValue flat = reshaped(padded(g, std::move(pads)), {g.shape()[0], g.shape()[1], product(extents)});
  const auto count = static_cast<int64_t>(pixels.size());
  const GraphValue indices = node.constant(Tensor::ints({count}, pixels));
  node.give(0, reshaped(node.call("Gather", {{"axis", int64_t{2}}}, {flat, indices}), node.operand(0).shape()));
}

}  // namespace

std::vector<OpDef> rearrange_ops() {
  const AttrDef blocksize{.name = "blocksize", .kind = AttrKind::Int, .domain = AttrDomain::Divisor};
  AttrDef mode = choice("mode", std::string("DCR"), texts({"DCR", "CRD"}));
  mode.since = 11;
  return {
      {.name = "DepthToSpace",
       .attrs = {blocksize, mode},
       .infer = infer_depth_to_space,
       .kernel = depth_to_space_kernel,
       .compute = Compute::Movement,
       .gradient = depth_to_space_gradient},
      {.name = "SpaceToDepth",
       .attrs = {blocksize, {.name = "mode", .kind = AttrKind::String, .preset = std::string("DCR"), .since = 28}},
       .infer = infer_space_to_depth,
       .kernel = space_to_depth_kernel,
       .compute = Compute::Movement,
       .gradient = space_to_depth_gradient},
      {.name = "Col2Im",
       .attrs = {{.name = "image_shape", .kind = AttrKind::Ints},
                 {.name = "block_shape", .kind = AttrKind::Ints},
                 {.name = "dilations", .kind = AttrKind::Ints, .preset = Ints{}, .domain = AttrDomain::Strides},
                 {.name = "strides", .kind = AttrKind::Ints, .preset = Ints{}, .domain = AttrDomain::Strides},
                 {.name = "pads", .kind = AttrKind::Ints, .preset = Ints{}, .domain = AttrDomain::WindowPads}},
       .infer = infer_col2im,
       .flops = col2im_flops,
       .kernel = col2im_kernel,
       .gradient = col2im_gradient,
       .since = 18,
       .params = {{.index = 1, .attr = "image_shape", .since = 18}, {.index = 2, .attr = "block_shape", .since = 18}}},
  };
}

}  // namespace isomer
