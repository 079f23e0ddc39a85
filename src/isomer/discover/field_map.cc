#include "isomer/discover/field_map.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "isomer/base/rng.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/rules/instantiate.h"

namespace isomer {
namespace {

size_t count(const Ints& dims) {
  size_t n = 1;
  for (const int64_t dim : dims) n *= static_cast<size_t>(dim);
  return n;
}

/// Returns a graph of only the operator, on inputs of these extents.
Result<Graph> graph_of(const std::vector<Term>& results, const std::vector<std::string>& operands,
                       std::span<const Ints> dims) {
  GraphBuilder builder;
  Rule rule;
  rule.targets = results;
  Binding binding;
  for (size_t i = 0; i < operands.size(); ++i)
    binding.values.emplace_back(operands[i], builder.input({DType::Double, Shape(dims[i].begin(), dims[i].end())}));
  ISOMER_TRY(const std::vector<ValueId> values, instantiate_targets(builder, rule, std::move(binding), DType::Double));
  return builder.finish(values);
}

Tensor tensor_of(const Ints& dims, const Fp* elements) {
  Tensor out = Tensor::zeros(DType::Field, dims);
  std::copy_n(elements, count(dims), out.mutable_data<Fp>().begin());
  return out;
}

/// Adds products of residues before they are reduced: 64 of them fit into 128 bits.
class ProductSum {
 public:
  void add(Fp x, Fp y) {
    sum_ += static_cast<unsigned __int128>(x.residue()) * y.residue();
    if (++pending_ == 63) reduce();
  }
  Fp value() {
    reduce();
    const auto low = static_cast<uint64_t>(sum_);
    return Fp::raw(low >= Fp::kPrime ? low - Fp::kPrime : low);
  }

 private:
  void reduce() {
    for (int fold = 0; fold < 2; ++fold) sum_ = (sum_ & Fp::kPrime) + (sum_ >> 61);
    pending_ = 1;
  }
  unsigned __int128 sum_ = 0;
  int pending_ = 0;
};

using Vec = std::vector<Fp>;

}  // namespace

/// Determines what kind of map a kernel is.
class FieldMapProbe {
 public:
  explicit FieldMapProbe(FieldMap& map) : map_(map), rng_(17) {}

  void run() {
    if (always([this] { return linear(); })) {
      tabulate_linear();
    } else if (map_.operand_sizes_.size() == 2 && always([this] { return bilinear(); })) {
      tabulate_bilinear();
    }
  }

 private:
  /// For a single element, relu passes all other tests of linearity.
  template <class Test>
  bool always(const Test& test) const {
    for (size_t tested = 0; tested < kMinElements; tested += map_.elements_)
      if (!test()) return false;
    return true;
  }

  Vec random(size_t n) {
    Vec out(n);
    for (Fp& x : out) x = Fp::raw(rng_.below(Fp::kPrime));
    return out;
  }
  size_t size(size_t operand) const { return operand < map_.operand_sizes_.size() ? map_.operand_sizes_[operand] : 0; }

  Vec apply(const Vec& a, const Vec& b) const {
    Vec out(map_.elements_);
    map_.run_kernel(a.data(), b.data(), out.data());
    return out;
  }
  static Vec combined(const Vec& x, Fp c, const Vec& y) {
    Vec out(x.size());
    for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] + c * y[i];
    return out;
  }

  bool linear() {
    const Vec a = random(size(0)), b = random(size(1)), c = random(size(0)), d = random(size(1));
    const Fp factor = random(1)[0];
    return apply(combined(a, factor, c), combined(b, factor, d)) == combined(apply(a, b), factor, apply(c, d));
  }

  bool bilinear() {
    const Vec a = random(size(0)), b = random(size(1)), c = random(size(0)), d = random(size(1));
    const Fp factor = random(1)[0];
    return apply(combined(a, factor, c), b) == combined(apply(a, b), factor, apply(c, b)) &&
           apply(a, combined(b, factor, d)) == combined(apply(a, b), factor, apply(a, d));
  }

  void tabulate_linear() {
    std::vector<std::vector<FieldMap::Part>> rows(map_.elements_);
    for (size_t i = 0; i < size(0) + size(1); ++i) {
      Vec a(size(0)), b(size(1));
      (i < size(0) ? a[i] : b[i - size(0)]) = 1;
      const Vec out = apply(a, b);
      for (size_t e = 0; e < out.size(); ++e)
        if (!(out[e] == Fp())) rows[e].push_back({static_cast<uint32_t>(i), 0, out[e]});
    }
    const auto moves = [](const std::vector<FieldMap::Part>& row) {
      return row.empty() || (row.size() == 1 && row[0].factor == Fp(1));
    };
    store(rows, std::ranges::all_of(rows, moves) ? FieldMap::Kind::Move : FieldMap::Kind::Linear);
  }

  void tabulate_bilinear() {
    const Vec b = random(size(1));
    std::unordered_map<uint64_t, uint32_t> index;
    for (size_t j = 0; j < b.size(); ++j) index[b[j].residue()] = static_cast<uint32_t>(j);
    std::vector<std::vector<FieldMap::Part>> rows(map_.elements_);
    for (size_t i = 0; i < size(0); ++i) {
      Vec a(size(0));
      a[i] = 1;
      const Vec out = apply(a, b);
      bool simple = true;
      for (const Fp x : out) simple = simple && (x == Fp() || index.contains(x.residue()));
      for (size_t e = 0; simple && e < out.size(); ++e)
        if (!(out[e] == Fp())) rows[e].push_back({static_cast<uint32_t>(i), index[out[e].residue()], 1});
      if (!simple) tabulate_row(a, i, rows);
    }
    store(rows, FieldMap::Kind::Bilinear);
  }

  void tabulate_row(const Vec& a, size_t i, std::vector<std::vector<FieldMap::Part>>& rows) const {
    for (size_t j = 0; j < size(1); ++j) {
      Vec b(size(1));
      b[j] = 1;
      const Vec out = apply(a, b);
      for (size_t e = 0; e < out.size(); ++e)
        if (!(out[e] == Fp())) rows[e].push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(j), out[e]});
    }
  }

  void store(const std::vector<std::vector<FieldMap::Part>>& rows, FieldMap::Kind kind) {
    map_.kind_ = kind;
    map_.begins_ = {0};
    for (const auto& row : rows) {
      map_.parts_.insert(map_.parts_.end(), row.begin(), row.end());
      map_.begins_.push_back(static_cast<uint32_t>(map_.parts_.size()));
    }
    map_.unit_factors_ =
        std::ranges::all_of(map_.parts_, [](const FieldMap::Part& part) { return part.factor == Fp(1); });
  }

  static constexpr size_t kMinElements = 50;
  FieldMap& map_;
  Rng rng_;
};

Result<std::vector<FieldMap>> FieldMap::compile(const UniverseOp& op, std::span<const Ints> operand_dims) {
  auto built = graph_of(op.results, op.operands, operand_dims);
  if (!built) return std::vector<FieldMap>();
  const auto graph = std::make_shared<const Graph>(std::move(*built));
  std::vector<Tensor> zeros;
  for (const Ints& dims : operand_dims) zeros.push_back(Tensor::zeros(DType::Field, dims));
  if (const auto run = run_reference(*graph, zeros); !run) return fail_in(print_term(op.results[0]), run.error());
  std::vector<FieldMap> out;
  for (size_t r = 0; r < graph->outputs().size(); ++r) {
    FieldMap map;
    const auto dims = concrete(*graph->type(graph->outputs()[r]).shape);
    if (!dims || count(*dims) == 0 || graph->type(graph->outputs()[r]).dtype != DType::Double)
      return std::vector<FieldMap>();
    map.dims_ = *dims;
    map.elements_ = count(map.dims_);
    map.operand_dims_.assign(operand_dims.begin(), operand_dims.end());
    for (const Ints& operand : operand_dims) map.operand_sizes_.push_back(count(operand));
    map.result_ = r;
    map.graph_ = graph;
    FieldMapProbe(map).run();
    out.push_back(std::move(map));
  }
  return out;
}

Result<Tensor> FieldMap::constant(const Term& term) {
  // An input of the field makes the whole run exact: 1/9 is not a double.
  ISOMER_TRY(const Graph graph, graph_of({term}, {"unused"}, std::array{Ints{}}));
  const Tensor zero = Tensor::zeros(DType::Field, {});
  ISOMER_TRY(const std::vector<Tensor> values, run_reference(graph, std::array{zero}));
  return values[0];
}

void FieldMap::run_kernel(const Fp* a, const Fp* b, Fp* out) const {
  std::vector<Tensor> operands{tensor_of(operand_dims_[0], a)};
  if (operand_dims_.size() == 2) operands.push_back(tensor_of(operand_dims_[1], b));
  // compile() has ensured that the kernel runs.
  const auto results = run_reference(*graph_, operands);
  assert(results.has_value());
  std::ranges::copy((*results)[result_].data<Fp>(), out);
}

void FieldMap::run(const Fp* a, const Fp* b, Fp* out) const {
  const size_t first = operand_sizes_[0];
  const auto source = [&](uint32_t i) { return i < first ? a[i] : b[i - first]; };
  switch (kind_) {
    case Kind::Kernel:
      return run_kernel(a, b, out);
    case Kind::Move:
      for (size_t e = 0; e < elements_; ++e)
        out[e] = begins_[e] == begins_[e + 1] ? Fp() : source(parts_[begins_[e]].i);
      return;
    case Kind::Linear:
      for (size_t e = 0; e < elements_; ++e) {
        Fp sum;
        for (uint32_t p = begins_[e]; p < begins_[e + 1]; ++p)
          sum += unit_factors_ ? source(parts_[p].i) : source(parts_[p].i) * parts_[p].factor;
        out[e] = sum;
      }
      return;
    case Kind::Bilinear:
      for (size_t e = 0; e < elements_; ++e) {
        ProductSum sum;
        for (uint32_t p = begins_[e]; p < begins_[e + 1]; ++p) {
          const Part& part = parts_[p];
          sum.add(a[part.i], unit_factors_ ? b[part.j] : b[part.j] * part.factor);
        }
        out[e] = sum.value();
      }
      return;
  }
}

}  // namespace isomer
