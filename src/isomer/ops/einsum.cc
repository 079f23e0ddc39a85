#include "isomer/ops/einsum.h"

#include <map>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The labels of one term. If it has an ellipsis, this represents `hidden` axes.
Result<EinsumTerm> parse_term(std::string_view text, size_t hidden) {
  EinsumTerm term;
  bool ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      term.push_back(static_cast<unsigned char>(text[i]));
    } else if (text.substr(i, 3) == "..." && !ellipsis) {
      for (size_t h = hidden; h-- > 0;) term.push_back(kEinsumEllipsis + static_cast<EinsumLabel>(h));
      ellipsis = true;
      i += 2;
    } else {
      return fail("Einsum cannot read the term '{}'", text);
    }
  }
  return term;
}

/// The number of axes that a term's ellipsis represents in an operand of this rank.
Result<size_t> hidden_axes(std::string_view text, size_t rank) {
  const auto letters = static_cast<size_t>(std::count_if(text.begin(), text.end(), is_letter));
  const bool ellipsis = text.find("...") != std::string_view::npos;
  if (ellipsis ? letters > rank : letters != rank)
    return fail("the term '{}' of Einsum does not fit an operand of rank {}", text, rank);
  return rank - letters;
}

/// The result of an equation without "->": the hidden axes, then all letters that occur once, sorted.
EinsumTerm implicit_result(const std::vector<EinsumTerm>& operands) {
  std::map<EinsumLabel, int> uses;
  for (const EinsumTerm& term : operands)
    for (const EinsumLabel label : term) ++uses[label];
  EinsumTerm hidden;
  EinsumTerm letters;
  for (const auto& [label, n] : uses) {
    if (label >= kEinsumEllipsis)
      hidden.insert(hidden.begin(), label);
    else if (n == 1)
      letters.push_back(label);
  }
  hidden.insert(hidden.end(), letters.begin(), letters.end());
  return hidden;
}

/// The equation of the gradient for operand i: the result takes the place of the operand. Empty if the gradient is not
/// such a sum of products.
std::string adjoint_equation(const EinsumEquation& equation, size_t i) {
  const auto text = [](const EinsumTerm& term) { return std::string(term.begin(), term.end()); };
  const EinsumTerm& wanted = equation.operands[i];
  std::string out;
  std::string seen = text(equation.result);
  for (size_t k = 0; k < equation.operands.size(); ++k) {
    const std::string term = k == i ? text(equation.result) : text(equation.operands[k]);
    out += (k > 0 ? "," : "") + term;
    seen += term;
  }
  for (const EinsumLabel label : wanted) {
    const bool once = std::ranges::count(wanted, label) == 1;
    if (!once || label >= kEinsumEllipsis || seen.find(static_cast<char>(label)) == std::string::npos) return "";
  }
  return out + "->" + text(wanted);
}

void einsum_gradient(Backward& node) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < node.num_operands(); ++i) ranks.push_back(node.operand(i).rank());
  const auto equation = parse_einsum(node.attrs().text("equation"), ranks);
  if (!equation) node.refuse(equation.error().message);
  for (size_t i = 0; i < node.num_operands(); ++i) {
    if (!node.needs(i)) continue;
    const std::string adjoint = adjoint_equation(*equation, i);
    if (adjoint.empty())
      node.refuse("there is no gradient for ellipses, repeated letters, and letters that only one operand has");
    std::vector<GraphValue> operands;
    for (size_t k = 0; k < node.num_operands(); ++k) operands.push_back(k == i ? node.gradient() : node.operand(k));
    node.give(i, node.call("Einsum", {{"equation", adjoint}}, operands));
  }
}

}  // namespace

Result<EinsumEquation> parse_einsum(const std::string& attr, const std::vector<size_t>& ranks) {
  std::string text;
  std::copy_if(attr.begin(), attr.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow) + ",";
  EinsumEquation equation;
  size_t max_hidden = 0;
  for (size_t begin = 0, end = 0; (end = left.find(',', begin)) != std::string::npos; begin = end + 1) {
    const std::string term = left.substr(begin, end - begin);
    if (equation.operands.size() >= ranks.size()) return fail("Einsum '{}' got {} operands", attr, ranks.size());
    ISOMER_TRY(const size_t hidden, hidden_axes(term, ranks[equation.operands.size()]));
    max_hidden = std::max(max_hidden, hidden);
    ISOMER_TRY(EinsumTerm labels, parse_term(term, hidden));
    equation.operands.push_back(std::move(labels));
  }
  if (equation.operands.size() != ranks.size()) return fail("Einsum '{}' got {} operands", attr, ranks.size());
  if (arrow == std::string::npos) {
    equation.result = implicit_result(equation.operands);
    return equation;
  }
  ISOMER_TRY(equation.result, parse_term(std::string_view(text).substr(arrow + 2), max_hidden));
  return equation;
}

namespace {

/// The equation and the extent of each of its axes.
Result<std::pair<EinsumEquation, std::map<EinsumLabel, Dim>>> labelled(const Attrs& attrs,
                                                                       const std::vector<const Shape*>& shapes) {
  std::vector<size_t> ranks;
  ranks.reserve(shapes.size());
  for (const Shape* shape : shapes) ranks.push_back(shape->size());
  ISOMER_TRY(EinsumEquation equation, parse_einsum(attrs.text("equation"), ranks));
  std::map<EinsumLabel, Dim> extents;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t axis = 0; axis < ranks[i]; ++axis) {
      const auto [at, fresh] = extents.emplace(equation.operands[i][axis], (*shapes[i])[axis]);
      if (fresh) continue;
      ISOMER_TRY(const Shape both, broadcast({at->second}, {(*shapes[i])[axis]}));
      at->second = both[0];
    }
  }
  for (size_t i = 0; i < equation.result.size(); ++i) {
    const EinsumLabel label = equation.result[i];
    const bool again = std::count(equation.result.begin(), equation.result.end(), label) > 1;
    if (!extents.contains(label) || again) return fail("Einsum '{}' has an invalid result", attrs.text("equation"));
  }
  return std::pair(std::move(equation), std::move(extents));
}

Result<std::vector<TensorType>> infer_einsum(const OpView& view) {
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < view.operands.size(); ++i) {
    if (!view.has(i)) return fail("operand {} of Einsum is missing", i);
    ISOMER_CHECK(want_number(view, i));
    ISOMER_CHECK(same_dtype(view, 0, i));
    shapes.push_back(&view.shape(i));
  }
  ISOMER_TRY(const auto parsed, labelled(view.attrs, shapes));
  Shape shape;
  for (const EinsumLabel label : parsed.first.result) shape.push_back(parsed.second.at(label));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// All axes, those of the result first, with their extents, and the strides of each operand along them.
struct Loops {
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> strides;
};

Result<Loops> loops_of(const Attrs& attrs, std::span<const std::vector<int64_t>> operands) {
  std::vector<Shape> shapes;
  std::vector<const Shape*> pointers;
  for (const auto& dims : operands) shapes.emplace_back(dims.begin(), dims.end());
  pointers.reserve(shapes.size());
  for (const Shape& shape : shapes) pointers.push_back(&shape);
  ISOMER_TRY(const auto parsed, labelled(attrs, pointers));
  const auto& [equation, extents] = parsed;
  EinsumTerm order = equation.result;
  for (const auto& [label, extent] : extents)
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  Loops loops;
  for (const EinsumLabel label : order) loops.extents.push_back(extents.at(label).value());
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto own = strides_of(operands[i]);
    std::vector<int64_t> strides(order.size(), 0);
    for (size_t axis = 0; axis < own.size(); ++axis) {
      const auto at = std::find(order.begin(), order.end(), equation.operands[i][axis]) - order.begin();
      if (operands[i][axis] != 1) strides[static_cast<size_t>(at)] += own[axis];
    }
    loops.strides.push_back(std::move(strides));
  }
  return loops;
}

/// One multiplication for each operand except the first, and one addition, for every combination of positions.
double flops_einsum(const WorkView& view) {
  const auto loops = loops_of(view.attrs, view.operands);
  return loops ? static_cast<double>(view.operands.size()) * count(loops->extents) : 0;
}

Status einsum_kernel(KernelContext& context) {
  std::vector<std::vector<int64_t>> dims;
  for (const Tensor& operand : context.operands) dims.push_back(operand.dims());
  ISOMER_TRY(const Loops loops, loops_of(context.attrs, dims));
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    const auto out = new_result(context).mutable_data<T>();
    std::vector<A> sums(out.size(), A(0));
    const auto total = static_cast<size_t>(count(loops.extents));
    const size_t terms = out.empty() ? 1 : std::max<size_t>(total / out.size(), 1);
    size_t n = 0;
    for_each_position(loops.extents, loops.strides, [&](const int64_t* at) {
      A product(1);
      for (size_t i = 0; i < context.operands.size(); ++i) {
        const A factor = context.operands[i].data<T>()[static_cast<size_t>(at[i])];
        product = product_of(product, factor);
      }
      A& sum = sums[n++ / terms];
      sum = sum_of(sum, product);
    });
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(sums[i]);
  });
}

}  // namespace

std::vector<OpDef> einsum_ops() {
  return {{.name = "Einsum",
           .attrs = {{.name = "equation", .kind = AttrKind::String}},
           .max_operands = OpDef::kVariadic,
           .infer = infer_einsum,
           .flops = flops_einsum,
           .kernel = einsum_kernel,
           .gradient = einsum_gradient,
           .since = 12}};
}

}  // namespace isomer
