// Scaled dot-product attention.

#include <algorithm>
#include <limits>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/product_gradient.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

// Operands in ONNX's order.
enum : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValid };

/// One of Q, K and V as [batch, heads, length, size], whatever its original form.
struct Heads {
  Dim batch, heads, length, size;
};

Result<Heads> heads_of(const OpView& view, size_t i, const char* count_attr) {
  const Shape& shape = view.shape(i);
  if (shape.size() == 4) return Heads{shape[0], shape[1], shape[2], shape[3]};
  if (shape.size() != 3) return fail("operand {} of Attention must have rank 3 or 4, it is {}", i, view.type(i).str());
  if (!view.attrs.has(count_attr)) return fail("Attention over operands of rank 3 needs '{}'", count_attr);
  const int64_t heads = view.attrs.integer(count_attr);
  if (heads < 1 || (shape[2].is_const() && shape[2].value() % heads != 0))
    return fail("operand {} of Attention, {}, does not split into {} heads", i, view.type(i).str(), heads);
  return Heads{shape[0], Dim(heads), shape[1], floor_div(shape[2], Dim(heads))};
}

bool may_equal(const Dim& a, const Dim& b) { return !a.is_const() || !b.is_const() || a == b; }

Status check_past(const OpView& view, const Heads& k, const Heads& v) {
  if (view.has(kPastKey) != view.has(kPastValue)) return fail("Attention takes past key and value together");
  if (view.has(kPastKey) && view.has(kValid)) return fail("Attention takes no past with a count of valid keys");
  for (const size_t i : {size_t{kPastKey}, size_t{kPastValue}}) {
    if (!view.has(i)) continue;
    const Heads& now = i == kPastKey ? k : v;
    ISOMER_CHECK(want_rank(view, i, 4));
    const Shape& past = view.shape(i);
    if (!may_equal(past[0], now.batch) || !may_equal(past[1], now.heads) || !may_equal(past[3], now.size) ||
        !may_equal(past[2], view.shape(kPastKey)[2]))
      return fail("the past of Attention, {}, does not fit its operands", view.type(i).str());
  }
  return {};
}

Status check_mask(const OpView& view, const Shape& scores) {
  if (!view.has(kMask)) return {};
  const Shape& mask = view.shape(kMask);
  bool fits = !mask.empty() && mask.size() <= 4;
  for (size_t i = 1; fits && i < mask.size(); ++i) {
    const Dim& have = mask[mask.size() - 1 - i];
    fits = have.is(1) || may_equal(have, scores[3 - i]);
  }
  // A mask that is too short hides the last keys.
  if (fits && at_least(mask.back(), scores[3] + Dim(1)) == true) fits = false;
  if (!fits) return fail("mask {} does not fit scores {}", shape_str(mask), shape_str(scores));
  return {};
}

/// Results: Y; keys and values including the past ones; the scores at the stage that qk_matmul_output_mode selects.
Result<std::vector<TensorType>> infer_attention(const OpView& view) {
  ISOMER_TRY(const Heads q, heads_of(view, kQ, "q_num_heads"));
  ISOMER_TRY(const Heads k, heads_of(view, kK, "kv_num_heads"));
  ISOMER_TRY(const Heads v, heads_of(view, kV, "kv_num_heads"));
  if (view.rank(kQ) != view.rank(kK) || view.rank(kQ) != view.rank(kV)) return fail("Attention mixes ranks");
  ISOMER_CHECK(same_dtype(view, kQ, kK));
  if (!may_equal(q.size, k.size)) return fail("queries of size {} against keys of size {}", q.size.str(), k.size.str());
  if (!may_equal(k.heads, v.heads) || !may_equal(k.length, v.length))
    return fail("keys and values of Attention differ");
  if (!may_equal(q.batch, k.batch) || !may_equal(q.batch, v.batch)) return fail("batches of Attention differ");
  if (q.heads.is_const() && k.heads.is_const() && (k.heads.is(0) || q.heads.value() % k.heads.value() != 0))
    return fail("{} query heads do not share {} key heads", q.heads.str(), k.heads.str());
  ISOMER_CHECK(check_past(view, k, v));
  if (view.has(kValid) && view.rank(kValid) == 1 && !may_equal(view.shape(kValid)[0], q.batch))
    return fail("Attention needs one count of valid keys for each batch");
  if (view.has(kValid)) ISOMER_CHECK(want_rank(view, kValid, 1));
  const Dim total = view.has(kPastKey) ? view.shape(kPastKey)[2] + k.length : k.length;
  const Shape scores{q.batch, q.heads, q.length, total};
  ISOMER_CHECK(check_mask(view, scores));
  const int64_t mode = view.attrs.integer("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) return fail("Attention has no qk_matmul_output_mode {}", mode);
  std::vector<TensorType> types;
  types.emplace_back(view.dtype(kQ), view.rank(kQ) == 4 ? Shape{q.batch, q.heads, q.length, v.size}
                                                        : Shape{q.batch, q.length, q.heads * v.size});
  if (view.num_results > 1) types.emplace_back(view.dtype(kK), Shape{q.batch, k.heads, total, k.size});
  if (view.num_results > 2) types.emplace_back(view.dtype(kV), Shape{q.batch, k.heads, total, v.size});
  if (view.num_results > 3) types.emplace_back(view.dtype(kQ), scores);
  return types;
}

/// Concrete extents of one run.
struct Sizes {
  int64_t batch, heads, kv_heads, queries, keys, past, size, value_size;
};

Sizes sizes_of(const Attrs& attrs, const std::vector<int64_t>& q, const std::vector<int64_t>& k,
               const std::vector<int64_t>& v, int64_t past) {
  if (q.size() == 4) return {q[0], q[1], k[1], q[2], k[2] + past, past, q[3], v[3]};
  const int64_t heads = attrs.integer("q_num_heads");
  const int64_t kv_heads = attrs.integer("kv_num_heads");
  return {q[0], heads, kv_heads, q[1], k[1] + past, past, q[2] / heads, v[2] / kv_heads};
}

double flops_attention(const WorkView& view) {
  const bool past = view.operands.size() > kPastKey && view.operands[kPastKey].size() == 4;
  const Sizes s = sizes_of(view.attrs, view.operands[kQ], view.operands[kK], view.operands[kV],
                           past ? view.operands[kPastKey][2] : 0);
  const double scores = static_cast<double>(s.batch) * static_cast<double>(s.heads) * static_cast<double>(s.queries) *
                        static_cast<double>(s.keys);
  return scores * (2 * static_cast<double>(s.size) + 2 * static_cast<double>(s.value_size) + 4);
}

/// An operand as [batch, heads, length, size], after its past.
template <class T>
std::vector<T> gathered(const Tensor& x, const Tensor& past, int64_t batch, int64_t heads, int64_t size,
                        int64_t before) {
  const int64_t now = batch * heads * size == 0 ? 0 : x.element_count() / (batch * heads * size);
  const bool flat = x.dims().size() == 3;
  std::vector<T> out;
  out.reserve(static_cast<size_t>(batch * heads * size * (before + now)));
  const T* data = x.data<T>().data();
  for (int64_t p = 0; p < batch * heads; ++p) {
    const auto old = past.empty() ? std::span<const T>()
                                  : past.data<T>().subspan(static_cast<size_t>(p * before * size),
                                                           static_cast<size_t>(before * size));
    out.insert(out.end(), old.begin(), old.end());
    for (int64_t l = 0; l < now; ++l) {
      const T* row = data + (flat ? ((p / heads * now + l) * heads + p % heads) * size : (p * now + l) * size);
      out.insert(out.end(), row, row + size);
    }
  }
  return out;
}

/// The keys that each query may see, and the mask's contribution to the scores.
template <class T>
class Mask {
 public:
  Mask(const KernelContext& context, const Sizes& s) : context_(context), s_(s) {
    const Attrs& attrs = context.attrs;
    causal_ = attrs.integer("is_causal") != 0;
    left_ = attrs.integer("left_window_size");
    right_ = attrs.integer("right_window_size");
    if (!context.has(kMask)) return;
    const auto& dims = context.operands[kMask].dims();
    covered_ = dims.back();
    strides_ = broadcast_strides(dims, {s.batch, s.heads, s.queries, s.keys});
    strides_[3] = 1;
  }

  /// nullopt if key j is hidden from query i, otherwise the number to add to the score.
  std::optional<Accumulator<T>> bias(int64_t b, int64_t h, int64_t i, int64_t j) const {
    using Sum = Accumulator<T>;
    const bool counted = context_.has(kValid);
    const int64_t valid = counted ? context_.operands[kValid].data<int64_t>()[static_cast<size_t>(b)] : s_.keys;
    const int64_t at = i + (counted ? valid - s_.queries : s_.past);
    if (j >= valid || (causal_ && j > at)) return std::nullopt;
    if ((left_ >= 0 && at - j > left_) || (right_ >= 0 && j - at > right_)) return std::nullopt;
    if (!context_.has(kMask)) return Sum(0);
    if (j >= covered_) return std::nullopt;
    const auto n = static_cast<size_t>(b * strides_[0] + h * strides_[1] + i * strides_[2] + j);
    const Tensor& mask = context_.operands[kMask];
    if (mask.dtype() == DType::Bool) return mask.data<uint8_t>()[n] != 0 ? std::optional<Sum>(Sum(0)) : std::nullopt;
    const T value = mask.data<T>()[n];
    if constexpr (std::is_floating_point_v<T>)
      if (std::isinf(value) && value < 0) return std::nullopt;
    return static_cast<Sum>(value);
  }

 private:
  const KernelContext& context_;
  Sizes s_;
  bool causal_ = false;
  int64_t left_ = -1;
  int64_t right_ = -1;
  int64_t covered_ = 0;
  std::vector<int64_t> strides_;
};

/// exp(x - maximum) / sum over the visible keys; 0 for the others, and for all keys if none is visible.
template <class Sum>
std::vector<Sum> softmax_seen(const std::vector<std::optional<Sum>>& scores) {
  Sum shift(0);
  if constexpr (!std::is_same_v<Sum, Fp>) {
    shift = lattice_bottom<Sum>();
    for (const auto& s : scores)
      if (s) shift = lattice_max(shift, *s);
  }
  std::vector<Sum> out(scores.size(), Sum(0));
  Sum sum(0);
  for (size_t j = 0; j < scores.size(); ++j) {
    if (!scores[j]) continue;
    out[j] = scalar_function("Exp", *scores[j] - shift, [](auto v) { return std::exp(v); });
    sum += out[j];
  }
  for (size_t j = 0; j < scores.size(); ++j)
    if (scores[j]) out[j] = out[j] / sum;
  return out;
}

/// All scores of one query, and its result row.
template <class T>
class Attend {
 public:
  using Sum = Accumulator<T>;

  Attend(const KernelContext& context, const Sizes& s) : s_(s), mask_(context, s), attrs_(context.attrs) {
    const AttrValue* given = attrs_.find("scale");
    scale_ = given != nullptr ? scalar<Sum>(std::get<float>(*given))
                              : scalar<Sum>(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, s.size))));
    softcap_ = attrs_.real("softcap");
    mode_ = attrs_.integer("qk_matmul_output_mode");
    const Tensor none;
    const auto past = [&](size_t i) -> const Tensor& { return context.has(i) ? context.operands[i] : none; };
    q_ = gathered<T>(context.operands[kQ], none, s.batch, s.heads, s.size, 0);
    k_ = gathered<T>(context.operands[kK], past(kPastKey), s.batch, s.kv_heads, s.size, s.past);
    v_ = gathered<T>(context.operands[kV], past(kPastValue), s.batch, s.kv_heads, s.value_size, s.past);
  }

  const std::vector<T>& keys() const { return k_; }
  const std::vector<T>& values() const { return v_; }

  /// Writes the row of query i of head h to `y` and, if not nullptr, its scores to `shown`.
  void query(int64_t b, int64_t h, int64_t i, T* y, T* shown) const {
    const int64_t kv = b * s_.kv_heads + h / (s_.heads / s_.kv_heads);
    std::vector<std::optional<Sum>> scores(static_cast<size_t>(s_.keys));
    for (int64_t j = 0; j < s_.keys; ++j) {
      const Sum raw = dot(((b * s_.heads + h) * s_.queries + i) * s_.size, (kv * s_.keys + j) * s_.size);
      const Sum capped = cap(raw);
      const auto bias = mask_.bias(b, h, i, j);
      if (bias) scores[static_cast<size_t>(j)] = capped + *bias;
      if (shown != nullptr && mode_ < 2) shown[j] = static_cast<T>(mode_ == 0 ? raw : capped);
      if (shown != nullptr && mode_ == 2) shown[j] = bias ? static_cast<T>(capped + *bias) : lattice_bottom<T>();
    }
    const auto weights = softmax_seen(scores);
    for (int64_t j = 0; j < s_.keys; ++j)
      if (shown != nullptr && mode_ == 3) shown[j] = static_cast<T>(weights[static_cast<size_t>(j)]);
    for (int64_t d = 0; d < s_.value_size; ++d) {
      Sum sum(0);
      for (int64_t j = 0; j < s_.keys; ++j) {
        const auto at = static_cast<size_t>((kv * s_.keys + j) * s_.value_size + d);
        if (scores[static_cast<size_t>(j)]) sum += weights[static_cast<size_t>(j)] * static_cast<Sum>(v_[at]);
      }
      y[d] = static_cast<T>(sum);
    }
  }

 private:
  Sum dot(int64_t q, int64_t k) const {
    Sum sum(0);
    for (int64_t d = 0; d < s_.size; ++d)
      sum += static_cast<Sum>(q_[static_cast<size_t>(q + d)]) * static_cast<Sum>(k_[static_cast<size_t>(k + d)]);
    return sum * scale_;
  }
  Sum cap(Sum score) const {
    if (softcap_ <= 0) return score;
    const auto limit = scalar<Sum>(softcap_);
    return limit * scalar_function("Tanh", score / limit, [](auto v) { return std::tanh(v); });
  }

  Sizes s_;
  Mask<T> mask_;
  const Attrs& attrs_;
  Sum scale_;
  float softcap_;
  int64_t mode_;
  std::vector<T> q_, k_, v_;
};

Status attention_kernel(KernelContext& context) {
  const auto& operands = context.operands;
  const int64_t past = context.has(kPastKey) ? operands[kPastKey].dims()[2] : 0;
  const Sizes s = sizes_of(context.attrs, operands[kQ].dims(), operands[kK].dims(), operands[kV].dims(), past);
  return for_real(operands[kQ].dtype(), [&]<class T>() -> Status {
    for (const size_t i : {size_t{kV}, size_t{kMask}, size_t{kPastKey}, size_t{kPastValue}})
      if (context.has(i) && operands[i].dtype() != operands[kQ].dtype() && operands[i].dtype() != DType::Bool)
        return fail("the reference kernel of Attention takes operands of one type");
    const Attend<T> attend(context, s);
    for (size_t i = 0; i < context.types.size(); ++i) new_result(context);
    auto& results = context.results;
    if (results.size() > 1) std::copy(attend.keys().begin(), attend.keys().end(), results[1].mutable_data<T>().begin());
    if (results.size() > 2)
      std::copy(attend.values().begin(), attend.values().end(), results[2].mutable_data<T>().begin());
    const bool flat = operands[kQ].dims().size() == 3;
    T* y = results[0].mutable_data<T>().data();
    T* shown = results.size() > 3 ? results[3].mutable_data<T>().data() : nullptr;
    for (int64_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
      const int64_t i = row % s.queries;
      const int64_t h = row / s.queries % s.heads;
      const int64_t b = row / s.queries / s.heads;
      T* to = y + (flat ? ((b * s.queries + i) * s.heads + h) * s.value_size : row * s.value_size);
      attend.query(b, h, i, to, shown != nullptr ? shown + row * s.keys : nullptr);
    }
    return {};
  });
}

/// The gradient of attention without a past. Weights are computed anew.
class AttentionGradient {
 public:
  explicit AttentionGradient(Backward& node) : node_(node) {
    const Attrs& attrs = node.attrs();
    if (node.has(kPastKey) || node.has(kValid)) node.refuse("attention with past or counted keys has none");
    if (attrs.real("softcap") > 0) node.refuse("attention with a softcap has none");
    if (attrs.integer("left_window_size") >= 0 || attrs.integer("right_window_size") >= 0)
      node.refuse("attention in windows has none");
    for (size_t i = 1; i < 4; ++i)
      if (node.has_gradient(i)) node.refuse("only the first result of attention has one");
    flat_ = node.operand(kQ).rank() == 3;
    heads_ = flat_ ? attrs.integer("q_num_heads") : known_extent(node.operand(kQ), 1);
    kv_heads_ = flat_ ? attrs.integer("kv_num_heads") : known_extent(node.operand(kK), 1);
  }

  void give_gradients() {
    const GraphValue q = grouped(by_heads(node_.operand(kQ), heads_)), g = grouped(by_heads(node_.gradient(), heads_));
    const GraphValue k = shared(by_heads(node_.operand(kK), kv_heads_)),
                     v = shared(by_heads(node_.operand(kV), kv_heads_));
    const double scale = node_.attrs().has("scale")
                             ? double{node_.attrs().real("scale")}
                             : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, known_extent(q, q.rank() - 1))));
    const GraphValue weights = weights_of(scale * matmul(q, matrices_transposed(k)));
    if (node_.needs(kV)) give_shared(kV, matmul(matrices_transposed(weights), g));
    const GraphValue to_weights = matmul(g, matrices_transposed(v));
    const Ints last{static_cast<int64_t>(q.rank()) - 1};
    const GraphValue to_scores = weights * (to_weights - summed(weights * to_weights, last, true));
    if (node_.needs(kMask)) node_.give(kMask, ungrouped(to_scores));
    if (node_.needs(kQ)) node_.give(kQ, as_given(ungrouped(scale * matmul(to_scores, k))));
    if (node_.needs(kK)) give_shared(kK, scale * matmul(matrices_transposed(to_scores), q));
  }

 private:
  bool groups() const { return heads_ != kv_heads_; }

  /// [batch, heads, length, size] from either form, and back.
  GraphValue by_heads(const GraphValue& x, int64_t heads) const {
    if (!flat_) return x;
    const Dim size(known_extent(x, 2) / heads);
    return transposed(reshaped(x, {x.shape()[0], x.shape()[1], Dim(heads), size}), {0, 2, 1, 3});
  }
  GraphValue as_given(const GraphValue& x) const {
    if (!flat_) return x;
    return reshaped(transposed(x, {0, 2, 1, 3}), {x.shape()[0], x.shape()[2], x.shape()[1] * x.shape()[3]});
  }
  /// Heads of queries that share keys get an axis of their own: [batch, key heads, queries' heads, length, size].
  GraphValue grouped(const GraphValue& x) const {
    if (!groups()) return x;
    return reshaped(x, {x.shape()[0], Dim(kv_heads_), Dim(heads_ / kv_heads_), x.shape()[2], x.shape()[3]});
  }
  GraphValue ungrouped(const GraphValue& x) const {
    return groups() ? reshaped(x, {x.shape()[0], Dim(heads_), x.shape()[3], x.shape()[4]}) : x;
  }
  GraphValue shared(const GraphValue& x) const { return groups() ? unsqueezed(x, {2}) : x; }
  void give_shared(size_t operand, const GraphValue& gradient) {
    node_.give(operand, as_given(groups() ? summed(gradient, {2}, false) : gradient));
  }

  /// The softmax of scores over the keys that a query may see, zeros for the other ones.
  GraphValue weights_of(GraphValue scores) {
    const auto softmax = [&](const GraphValue& x) { return node_.call("Softmax", {{"axis", int64_t{-1}}}, {x}); };
    // As in the kernel, only an infinity hides a key.
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    std::optional<GraphValue> seen;
    if (node_.has(kMask)) {
      const GraphValue mask = node_.operand(kMask);
      if (mask.shape().back() != node_.operand(kK).shape()[flat_ ? 1 : 2])
        node_.refuse("a mask of other keys has none");
      if (mask.dtype() == DType::Bool) {
        seen = mask;
      } else {
        seen = above(mask, kHidden);
        scores = grouped(ungrouped(scores) + mask);
      }
    }
    if (node_.attrs().integer("is_causal") != 0) {
      const GraphValue before = earlier_keys(scores);
      seen = seen ? apply("And", {*seen, before}) : before;
    }
    if (!seen) return softmax(scores);
    const GraphValue all = ungrouped(scores);
    // The softmax of a query that sees nothing is NaN, which the mask removes.
    return grouped(masked(*seen, softmax(where(*seen, all, number(all, kHidden)))));
  }
  /// Whether a key is not after a query, [queries, keys].
  GraphValue earlier_keys(const GraphValue& scores) {
    const int64_t queries = known_extent(scores, scores.rank() - 2), keys = known_extent(scores, scores.rank() - 1);
    std::vector<uint8_t> seen;
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t j = 0; j < keys; ++j) seen.push_back(j <= i ? 1 : 0);
    return node_.constant(Tensor::of<uint8_t>(DType::Bool, {queries, keys}, seen));
  }

  Backward& node_;
  bool flat_ = false;
  int64_t heads_ = 1, kv_heads_ = 1;
};

void attention_gradient(Backward& node) { AttentionGradient(node).give_gradients(); }

Status attention_to_onnx(OnnxForm& form) {
  if (form.opset < 24 && form.operands.size() > kValid && !form.operands[kValid].absent())
    return form.leave_opaque("a count of valid keys needs opset 24");
  return {};
}

AttrDef attention_attr(std::string name, int64_t preset, int since = 23) {
  return {.name = std::move(name), .kind = AttrKind::Int, .preset = preset, .since = since};
}

}  // namespace

std::vector<OpDef> attention_ops() {
  return {
      {.name = "Attention",
       .attrs = {attention_attr("is_causal", 0),
                 {.name = "q_num_heads", .kind = AttrKind::Int, .optional = true},
                 {.name = "kv_num_heads", .kind = AttrKind::Int, .optional = true},
                 {.name = "scale", .kind = AttrKind::Float, .optional = true},
                 {.name = "softcap", .kind = AttrKind::Float, .preset = 0.0F},
                 {.name = "softmax_precision", .kind = AttrKind::Int, .optional = true},
                 attention_attr("qk_matmul_output_mode", 0),
                 attention_attr("left_window_size", -1, 25),
                 attention_attr("right_window_size", -1, 25)},
       .min_operands = 3,
       .max_operands = 7,
       .max_results = 4,
       .infer = infer_attention,
       .flops = flops_attention,
       .kernel = attention_kernel,
       .gradient = attention_gradient,
       .since = 23,
       .to_onnx = attention_to_onnx},
  };
}

}  // namespace isomer
