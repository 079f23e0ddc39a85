// NonMaxSuppression: selects the best boxes that do not overlap a better one too much.

#include <algorithm>

#include "isomer/ops/form_params.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_suppression(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 0, 3));
  ISOMER_CHECK(want_rank(view, 1, 3));
  if (view.dtype(0) != DType::Float || view.dtype(1) != DType::Float)
    return fail("NonMaxSuppression of {} and {}", view.type(0).str(), view.type(1).str());
  if (view.shape(0)[2].is_const() && !view.shape(0)[2].is(4))
    return fail("boxes have four numbers, not those of {}", view.type(0).str());
  for (const auto& [i, j] : {std::pair<size_t, size_t>{0, 0}, {1, 2}}) {
    if (differ(view.shape(0)[i], view.shape(1)[j]))
      return fail("NonMaxSuppression of {} and {}", view.type(0).str(), view.type(1).str());
  }
  TensorType type;  // the number of rows depends on the data
  type.dtype = DType::Int64;
  return std::vector<TensorType>{type};
}

/// Corners of a box.
struct Box {
  float top;
  float left;
  float bottom;
  float right;
  float area() const { return (bottom - top) * (right - left); }
};

Box read_box(std::span<const float> numbers, bool center_point) {
  if (center_point) {
    const float x = numbers[0];
    const float y = numbers[1];
    const float half_width = numbers[2] / 2;
    const float half_height = numbers[3] / 2;
    return {y - half_height, x - half_width, y + half_height, x + half_width};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]), std::max(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3])};
}

/// Intersection over union.
float overlap(const Box& a, const Box& b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return 0;
  const float both = height * width;
  return both / (a.area() + b.area() - both);
}

struct Limits {
  int64_t max_boxes = 0;
  float iou = 0;
  std::optional<float> score;
};

/// The selected boxes of one class, best first.
std::vector<int64_t> keep_best(const std::vector<Box>& boxes, std::span<const float> scores, const Limits& limits) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] == scores[i] && (!limits.score || scores[i] > *limits.score))
      order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  std::vector<int64_t> kept;
  for (const int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.max_boxes) break;
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](int64_t better) {
      return overlap(boxes[static_cast<size_t>(candidate)], boxes[static_cast<size_t>(better)]) > limits.iou;
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

Result<Limits> read_limits(const KernelContext& context) {
  Limits limits;
  for (size_t i = 2; i < 5; ++i)
    if (context.has(i) && context.operands[i].element_count() != 1)
      return fail("operand {} of NonMaxSuppression is {}", i, context.operands[i].type().str());
  if (context.has(2)) {
    ISOMER_TRY(const Ints boxes, int_elements(context.operands[2]));
    limits.max_boxes = boxes[0];
  }
  if (context.has(3)) {
    ISOMER_TRY(const Floats iou, float_elements(context.operands[3]));
    limits.iou = iou[0];
  }
  if (context.has(4)) {
    ISOMER_TRY(const Floats score, float_elements(context.operands[4]));
    limits.score = score[0];
  }
  return limits;
}

Status suppression_kernel(KernelContext& context) {
  ISOMER_TRY(const Limits limits, read_limits(context));
  const bool center_point = context.attrs.integer("center_point_box") != 0;
  const auto numbers = context.operands[0].data<float>();
  const auto scores = context.operands[1].data<float>();
  const int64_t classes = context.operands[1].dims()[1];
  const auto num_boxes = static_cast<size_t>(context.operands[1].dims()[2]);
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < context.operands[1].dims()[0]; ++batch) {
    std::vector<Box> boxes;
    for (size_t i = 0; i < num_boxes; ++i)
      boxes.push_back(read_box(numbers.subspan((static_cast<size_t>(batch) * num_boxes + i) * 4, 4), center_point));
    for (int64_t c = 0; c < classes; ++c) {
      const auto own = scores.subspan(static_cast<size_t>(batch * classes + c) * num_boxes, num_boxes);
      for (const int64_t box : keep_best(boxes, own, limits)) rows.insert(rows.end(), {batch, c, box});
    }
  }
  context.results.push_back(Tensor::ints({static_cast<int64_t>(rows.size() / 3), 3}, rows));
  return {};
}

}  // namespace

std::vector<OpDef> suppress_ops() {
  return {{.name = "NonMaxSuppression",
           .attrs = {{.name = "center_point_box", .kind = AttrKind::Int, .preset = int64_t{0}}},
           .min_operands = 2,
           .max_operands = 5,
           .infer = infer_suppression,
           .kernel = suppression_kernel,
           .compute = Compute::Movement,
           .data_dependent = true,
           .since = 10,
           .from_onnx = known_operands_from_onnx}};
}

}  // namespace isomer
