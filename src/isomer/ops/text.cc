// Strings: concatenation, splitting, normalization, n-gram counts.

#include <algorithm>
#include <set>

#include "isomer/ops/form_params.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Status want_strings(const OpView& view, size_t i) {
  if (view.dtype(i) != DType::String) return fail("{} of {}, which must be strings", view.op.name, view.type(i).str());
  return {};
}

Result<std::vector<TensorType>> infer_string_concat(const OpView& view) {
  ISOMER_CHECK(want_strings(view, 0));
  return infer_broadcast(view);
}

Status string_concat_kernel(KernelContext& context) {
  Tensor& z = new_result(context);
  const auto& x = context.operands[0];
  const auto& y = context.operands[1];
  size_t n = 0;
  for_each_position(
      z.dims(), {broadcast_strides(x.dims(), z.dims()), broadcast_strides(y.dims(), z.dims())}, [&](const int64_t* at) {
        z.mutable_strings()[n++] =
            x.string_elements()[static_cast<size_t>(at[0])] + y.string_elements()[static_cast<size_t>(at[1])];
      });
  return {};
}

Result<std::vector<TensorType>> infer_string_split(const OpView& view) {
  ISOMER_CHECK(want_strings(view, 0));
  if (view.attrs.has("maxsplit") && view.attrs.integer("maxsplit") < 0)
    return fail("StringSplit splits {} times", view.attrs.integer("maxsplit"));
  return std::vector<TensorType>{unknown_shape(DType::String), unknown_shape(DType::Int64)};
}

/// The parts of `text` between delimiters, of which the first `max_parts` are used. An empty delimiter means any white
/// space, without empty parts.
std::vector<std::string> split_text(std::string_view text, std::string_view delimiter, size_t max_parts) {
  constexpr std::string_view kBlank = " \t\n\r\f\v";
  const bool blank = delimiter.empty();
  std::vector<std::string> parts;
  while (true) {
    if (blank) text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    if (text.empty()) break;
    const size_t at = parts.size() == max_parts ? std::string_view::npos
                                                : (blank ? text.find_first_of(kBlank) : text.find(delimiter));
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + (blank ? 1 : delimiter.size()));
    if (!blank && text.empty()) parts.emplace_back();
  }
  return parts;
}

Status string_split_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const std::string& delimiter = context.attrs.text("delimiter");
  const size_t max_parts =
      context.attrs.has("maxsplit") ? static_cast<size_t>(context.attrs.integer("maxsplit")) : SIZE_MAX;
  std::vector<std::vector<std::string>> rows;
  std::vector<int64_t> counts;
  size_t width = 0;
  for (const std::string& text : x.string_elements()) {
    rows.push_back(split_text(text, delimiter, max_parts));
    counts.push_back(static_cast<int64_t>(rows.back().size()));
    width = std::max(width, rows.back().size());
  }
  std::vector<std::string> parts;
  for (auto& row : rows) {
    row.resize(width);
    parts.insert(parts.end(), row.begin(), row.end());
  }
  auto dims = x.dims();
  dims.push_back(static_cast<int64_t>(width));
  context.results.push_back(Tensor::strings(std::move(dims), std::move(parts)));
  context.results.push_back(Tensor::ints(x.dims(), counts));
  return {};
}

enum class Case : uint8_t { None, Lower, Upper };

Result<Case> case_of(const Attrs& attrs) {
  const std::string& name = attrs.text("case_change_action");
  if (name == "NONE") return Case::None;
  if (name == "LOWER") return Case::Lower;
  if (name == "UPPER") return Case::Upper;
  return fail("StringNormalizer with the unknown action '{}'", name);
}

Result<std::vector<TensorType>> infer_string_normalizer(const OpView& view) {
  ISOMER_CHECK(want_strings(view, 0));
  ISOMER_CHECK(case_of(view.attrs));
  const size_t rank = view.rank(0);
  const Dim* rows = rank == 2 ? &view.shape(0)[0] : nullptr;
  if (rank != 1 && (rows == nullptr || (rows->is_const() && !rows->is(1))))
    return fail("StringNormalizer of {}", view.type(0).str());
  return std::vector<TensorType>{unknown_shape(DType::String)};
}

/// Only ASCII letters change their case.
std::string with_case(std::string text, Case action) {
  for (char& c : text) {
    if (action == Case::Lower && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (action == Case::Upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

Status string_normalizer_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const Case action, case_of(context.attrs));
  const bool sensitive = context.attrs.integer("is_case_sensitive") != 0;
  const auto is_ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
  };
  const auto key = [&](const std::string& text) { return sensitive ? text : with_case(text, Case::Lower); };
  std::set<std::string> stopwords;
  for (const std::string& word :
       context.attrs.find("stopwords") != nullptr ? std::get<Strings>(*context.attrs.find("stopwords")) : Strings{})
    stopwords.insert(key(word));
  std::vector<std::string> kept;
  for (const std::string& text : x.string_elements()) {
    if (action != Case::None && !is_ascii(text))
      return fail("the reference kernel changes the case only of ASCII text");
    if (!stopwords.contains(key(text))) kept.push_back(with_case(text, action));
  }
  if (kept.empty()) kept.emplace_back();
  auto dims = x.dims();
  dims.back() = static_cast<int64_t>(kept.size());
  context.results.push_back(Tensor::strings(std::move(dims), std::move(kept)));
  return {};
}

}  // namespace

std::vector<OpDef> text_ops() {
  return {
      {.name = "StringConcat",
       .min_operands = 2,
       .infer = infer_string_concat,
       .kernel = string_concat_kernel,
       .compute = Compute::Movement,
       .since = 20},
      {.name = "StringSplit",
       .attrs = {{.name = "delimiter", .kind = AttrKind::String, .preset = std::string()},
                 {.name = "maxsplit", .kind = AttrKind::Int, .optional = true}},
       .min_results = 2,
       .infer = infer_string_split,
       .kernel = string_split_kernel,
       .compute = Compute::Movement,
       .data_dependent = true,
       .since = 20,
       .from_onnx = known_operands_from_onnx},
      {.name = "StringNormalizer",
       .attrs = {{.name = "case_change_action", .kind = AttrKind::String, .preset = std::string("NONE")},
                 {.name = "is_case_sensitive", .kind = AttrKind::Int, .preset = int64_t{0}},
                 {.name = "locale", .kind = AttrKind::String, .optional = true},
                 {.name = "stopwords", .kind = AttrKind::Strings, .optional = true}},
       .infer = infer_string_normalizer,
       .kernel = string_normalizer_kernel,
       .compute = Compute::Movement,
       .data_dependent = true,
       .since = 10,
       .from_onnx = known_operands_from_onnx},
  };
}

}  // namespace isomer
