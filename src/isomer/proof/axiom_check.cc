#include "isomer/proof/axiom_check.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>

#include "isomer/base/hash.h"
#include "isomer/check/bounds_ladder.h"
#include "isomer/check/coverage.h"
#include "isomer/eval/random.h"
#include "isomer/ir/field.h"
#include "isomer/ops/kernel_types.h"
#include "isomer/proof/axiom_cases.h"
#include "isomer/proof/evaluation.h"
#include "isomer/rules/expr.h"

namespace isomer {
namespace {

constexpr size_t kMaxOperands = 3;
constexpr uint64_t kSeed = 7;

struct OperatorPattern {
  Rule rule;
  bool reals = true;
};

/// Returns patterns of the operator over variables, for every number of operands. For operators with index operands,
/// these are lists of indices along each axis.
std::vector<OperatorPattern> patterns_of(const OpDef& op) {
  std::vector<std::string> texts;
  const std::string head = "(" + op.name + (op.attrs.empty() ? "" : " ..a");
  if (op.role(1) == OperandRole::Indices) {
    for (int axis = 0; axis < 4; ++axis) texts.push_back(fmt::format("({} axis={} ?x0 {{?i}})", op.name, axis));
  } else {
    const size_t max_operands = std::min(op.max_operands, std::max(op.min_operands, kMaxOperands));
    for (size_t n = op.min_operands; n <= max_operands; ++n) {
      std::string text = head;
      for (size_t i = 0; i < n; ++i) text += fmt::format(" ?x{}", i);
      texts.push_back(text + ")");
    }
  }
  size_t data = 0;
  while (data < op.min_operands && op.role(data) == OperandRole::Condition) ++data;
  if (data == op.min_operands) data = 0;
  std::vector<OperatorPattern> out;
  for (const std::string& text : texts) {
    for (const bool reals : {true, false}) {
      auto rule = parse_pattern(reals && op.max_operands > 0 ? fmt::format("{} where real(?x{})", text, data) : text);
      assert(rule.has_value());
      rule->sources[0].op = &op;
      out.push_back({*std::move(rule), reals});
    }
  }
  return out;
}

/// Returns elements of an input: of the field if they are real.
Tensor drawn(const TensorType& type, uint64_t seed) {
  const auto dims = *concrete(*type.shape);
  return random_tensor(is_real(type.dtype) ? DType::Field : type.dtype, dims, seed);
}

std::string tensor_text(const Tensor& tensor) {
  std::string out = tensor.type().str() + " {";
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if (i > 0) out += ", ";
    const auto at = static_cast<size_t>(i);
    if (tensor.dtype() == DType::Field)
      out += std::to_string(tensor.data<Fp>()[at].residue());
    else if (tensor.dtype() == DType::Int64)
      out += std::to_string(tensor.data<int64_t>()[at]);
    else if (tensor.dtype() == DType::Bool)
      out += std::to_string(tensor.data<uint8_t>()[at]);
    else
      out += '?';
  }
  return out + "}";
}

/// Returns element i as a scalar.
Tensor element_of(const Tensor& tensor, size_t i) {
  const size_t bytes = dtype_bits(tensor.dtype()) / 8;
  Tensor out = Tensor::zeros(tensor.dtype(), {});
  std::ranges::copy(tensor.bytes().subspan(i * bytes, bytes), out.mutable_bytes().begin());
  return out;
}

/// One instance of an operator: its operands, the kernel's results, and the values of its symbols.
struct AxiomTrial {
  Assignment given;
  std::vector<Tensor> results;
  std::string text;
  bool reals = false;  ///< an operand has elements of the field
};

void assign_attr(Assignment& given, const std::string& name, const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) given.integers[name] = *i;
  if (const auto* f = std::get_if<float>(&value)) given.numbers[name] = static_cast<double>(*f);
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->dtype() == DType::Bool) given.numbers[name] = tensor->data<uint8_t>()[0];
    if (const auto number = uniform_value(*tensor)) given.numbers[name] = *number;
  }
  if (const auto* list = std::get_if<Ints>(&value))
    for (size_t i = 0; i < list->size(); ++i) given.integers[fmt::format("{}.{}", name, i)] = (*list)[i];
}

Result<AxiomTrial> trial_of(const OpDef& op, const Instance& instance) {
  using Kind = Instance::Value::Kind;
  const Instance::Node& node = instance.nodes.at(0);
  AxiomTrial out;
  out.given.op = &op;
  out.given.attrs = node.attrs;
  out.text = "with " + op.name;
  for (const auto& [name, value] : node.attrs.entries()) {
    assign_attr(out.given, "n0." + name, value);
    out.text += fmt::format(" {}={}", name, attr_str(value));
  }
  std::vector<Tensor> operands;
  std::vector<const TensorType*> types;
  std::vector<TensorType> kept(node.operands.size());
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Instance::Value& value = instance.values[node.operands[i]];
    operands.push_back(value.kind == Kind::Input ? drawn(value.type, hash_mix(kSeed, i)) : constant_tensor(value));
    kept[i] = operands.back().type();
    out.reals = out.reals || kept[i].dtype == DType::Field;
    types.push_back(&kept[i]);
    out.text += fmt::format("\n  {} = {}", value.name, tensor_text(operands.back()));
    const auto dims = operands.back().dims();
    for (size_t axis = 0; axis < dims.size(); ++axis)
      out.given.integers[fmt::format("{}.{}", value.name, axis)] = dims[axis];
    if (value.kind == Kind::Indices) {
      out.given.lists[value.name] = value.indices;
      out.given.integers[value.name + ".length"] = dims[0];
    }
    out.given.tensors[value.name] = operands.back();
    out.given.operand_dtypes.push_back(kept[i].dtype);
  }
  ISOMER_TRY(const auto inferred, op.infer(OpView{op, node.attrs, types, node.num_results}));
  KernelContext context{node.attrs, operands, inferred};
  ISOMER_CHECK(op.kernel(context));
  out.results = std::move(context.results);
  return out;
}

/// The check of one operator.
class AxiomCheck {
 public:
  AxiomCheck(const OpDef& op, const AxiomBounds& bounds) : op_(op), bounds_(bounds) {}

  AxiomVerdict run() {
    for (const OperatorPattern& pattern : patterns_of(op_)) {
      // Operators that only move elements treat all elements alike.
      if (!pattern.reals && op_.compute == Compute::Movement && op_.max_operands > 0) continue;
      structures_.clear();
      const size_t before = out_.instances;
      const std::vector<Ladder> ladders = isomer::ladders(pattern.rule);
      for (const DType element : pattern.reals ? std::vector{DType::Double} : std::vector{DType::Int64, DType::Bool}) {
        if (out_.instances > before) break;  // integers are enough
        std::vector<size_t> rungs(ladders.size(), 0);
        for (size_t rank = 0; rank <= bounds_.max_rank; ++rank)
          for (size_t l = 0; l < ladders.size() && !out_.refuted; ++l)
            sweep(pattern, ladders[l], element, rank, rungs[l]);
      }
    }
    out_.bounds = covered_.str();
    return out_;
  }

 private:
  void sweep(const OperatorPattern& pattern, const Ladder& ladder, DType element, size_t rank, size_t& rung) {
    const auto listed = list_instances(pattern.rule, ladder, rung, element, rank, bounds_.max_instances / ladder.part,
                                       bounds_.max_steps);
    if (!listed) return;
    size_t tried = 0;
    for (const Instance& instance : listed->instances) {
      if (out_.refuted) return;
      tried += try_one(pattern, instance) ? 1 : 0;
    }
    if (tried > 0) covered_.add(listed->bounds, tried);
  }

  /// Returns the axiom evaluated for the structure of an instance; nullptr if that gives up.
  const AxiomCases* cases_of(const OperatorPattern& pattern, const Instance& instance) {
    const auto [found, fresh] = structures_.try_emplace(structure_key(instance));
    if (!fresh) return found->second.get();
    try {
      found->second = std::make_unique<AxiomCases>(pattern.rule, instance, solver_);
      ++out_.structures;
      out_.cases += found->second->cases().size();
    } catch (const GaveUp& gave_up) {
      if (out_.given_up++ == 0) out_.why_given_up = gave_up.reason;
    }
    return found->second.get();
  }

  /// Returns whether the instance could be compared.
  bool try_one(const OperatorPattern& pattern, const Instance& instance) {
    auto trial = trial_of(op_, instance);
    if (!trial) return false;  // it cannot be computed in the field, or is ill typed at these extents
    const AxiomCases* cases = cases_of(pattern, instance);
    if (cases == nullptr) return false;
    ++out_.instances;
    for (size_t r = 0; r < trial->results.size() && !out_.refuted; ++r) compare(*cases, *trial, r);
    return true;
  }

  void refute(const AxiomTrial& trial, size_t r, const std::string& what) {
    out_.refuted = true;
    out_.counterexample =
        fmt::format("{}\nresult {} is {}\nby the axiom {}\n", trial.text, r, tensor_text(trial.results[r]), what);
  }

  using Cases = std::vector<const AxiomCases::Case*>;

  /// Returns the cases of a result's shape, or else of its elements, that hold at the extents and attributes of the
  /// trial.
  Result<Cases> possible(const AxiomCases& cases, const AxiomTrial& trial, size_t r, bool shapes) {
    Cases out;
    for (const AxiomCases::Case& one : cases.cases()) {
      if (one.result != r || one.element.has_value() == shapes) continue;
      ISOMER_TRY(const bool holds, evaluate(cases.scope(), one.outer, trial.given));
      if (holds) out.push_back(&one);
    }
    return out;
  }

  void compare(const AxiomCases& cases, AxiomTrial& trial, size_t r) {
    const Tensor& expected = trial.results[r];
    const auto shapes = possible(cases, trial, r, true);
    const auto elements = possible(cases, trial, r, false);
    if (!shapes || !elements) return refute(trial, r, (shapes ? elements : shapes).error().message);
    if (shapes->empty()) return refute(trial, r, "open: no case covers it");
    for (const AxiomCases::Case* one : *shapes) {
      Ints dims;
      for (const Dim& extent : one->shape) dims.push_back(evaluate(cases.scope(), extent, trial.given).value_or(-1));
      if (dims != expected.dims()) return refute(trial, r, fmt::format("its shape is [{}]", fmt::join(dims, ",")));
    }
    const size_t rank = expected.dims().size();
    std::vector<int64_t> index(rank, 0);
    for (size_t n = 0; n < static_cast<size_t>(expected.element_count()); ++n) {
      for (size_t axis = 0; axis < rank; ++axis) trial.given.integers[AxiomCases::index_symbol(r, axis)] = index[axis];
      if (!equal_at(cases, *elements, trial, r, n)) return;
      for (size_t axis = rank; axis-- > 0;) {
        if (++index[axis] < expected.dims()[axis]) break;
        index[axis] = 0;
      }
    }
  }

  bool equal_at(const AxiomCases& cases, const Cases& possible, const AxiomTrial& trial, size_t r, size_t n) {
    ++out_.elements;
    const auto say = [&](const std::string& what) {
      refute(trial, r, fmt::format("element {} is {}", n, what));
      return false;
    };
    Cases holding;
    for (const AxiomCases::Case* one : possible) {
      const auto holds = evaluate(cases.scope(), one->facts, trial.given);
      if (!holds) return say("open: " + holds.error().message);
      if (*holds) holding.push_back(one);
    }
    if (holding.empty()) return say("open: no case covers it");
    Tensor expected = element_of(trial.results[r], n);
    // Literals are exact in the field, whatever floating-point type they have.
    const bool literal = trial.given.tensors.empty() || holding.front()->element->number().has_value();
    if (literal && is_real(expected.dtype())) expected = in_field(expected).value_or(expected);
    const bool field = expected.dtype() == DType::Field || trial.reals;
    const DType domain = field ? DType::Field : DType::Int64;
    for (const AxiomCases::Case* one : holding) {
      auto got = evaluate(cases.scope(), *one->element, trial.given, domain);
      if (!got) return say(fmt::format("{}, which has no value: {}", one->element->str(), got.error().message));
      if (expected.dtype() == DType::Bool && got->dtype() == DType::Int64)
        got = Tensor::of<uint8_t>(DType::Bool, {}, {static_cast<uint8_t>(got->data<int64_t>()[0])});
      if (!(*got == expected)) return say(fmt::format("{} = {}", tensor_text(*got), one->element->str()));
    }
    return true;
  }

  const OpDef& op_;
  const AxiomBounds& bounds_;
  AxiomVerdict out_;
  Coverage covered_;
  const std::shared_ptr<Solver> solver_ = std::make_shared<Solver>();
  std::map<std::string, std::unique_ptr<AxiomCases>> structures_;
};

/// Returns the axiom evaluated for one instance, one case per line.
std::string cases_text(const Rule& pattern, const Instance& instance) {
  std::string out;
  try {
    const AxiomCases written(pattern, instance, std::make_shared<Solver>());
    for (const AxiomCases::Case& one : written.cases()) {
      if (!one.element) continue;
      std::vector<Dim> index;
      for (size_t axis = 0; axis < one.shape.size(); ++axis)
        index.push_back(Dim::symbol(AxiomCases::index_symbol(one.result, axis)));
      out += fmt::format("  y{}{} = {}\n    of {} where {}\n", one.result, shape_str(index), one.element->str(),
                         shape_str(one.shape), one.facts.str());
    }
  } catch (const GaveUp& gave_up) {
    out += "  given up: " + gave_up.reason + "\n";
  }
  return out;
}

}  // namespace

std::string AxiomVerdict::str() const {
  std::string out =
      fmt::format("{} structures, {} cases, {} instances, {} elements", structures, cases, instances, elements);
  if (given_up > 0) out += fmt::format(", {} structures given up ({})", given_up, why_given_up);
  return out;
}

AxiomVerdict check_axiom(const OpDef& op, const AxiomBounds& bounds) { return AxiomCheck(op, bounds).run(); }

std::string axiom_text(const OpDef& op, AxiomRanks ranks) {
  std::string out;
  for (const OperatorPattern& pattern : patterns_of(op)) {
    if (!pattern.reals) continue;
    for (size_t rank = 0; rank <= 4; ++rank) {
      std::optional<Instance> instance;
      for_each_instance(pattern.rule, {.rank = rank, .extents = {2}}, 60'000, [&](const Instance& one) {
        instance = one;
        return false;
      });
      if (!instance) continue;
      out += print_term(pattern.rule.sources[0]) + "\n" + cases_text(pattern.rule, *instance);
      if (ranks == AxiomRanks::Least) break;
    }
  }
  return out;
}

}  // namespace isomer
