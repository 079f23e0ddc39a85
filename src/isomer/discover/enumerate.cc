#include "isomer/discover/enumerate.h"

#include <algorithm>

#include "isomer/base/parallel.h"

namespace isomer {
namespace {

constexpr size_t kBuckets = 64;  // by the highest bits of the fingerprint

struct Record {
  uint64_t fingerprint;
  TermCode code;
  friend auto operator<=>(const Record&, const Record&) = default;  // NOLINT(modernize-use-nullptr): as in TermCode
};

/// The results of one thread.
struct Found {
  std::array<std::vector<Record>, kBuckets> records;
  std::vector<EqualTerms> equal;  // in the last size: a term of the bank has the same value
  uint64_t terms = 0;
};

/// Returns whether the equality of a term with the first of its value should be kept.
bool informative(const TermBank& bank, TermCode code, size_t max_nodes) {
  return bank.canonical(bank.inputs_of(code)) && !bank.implied(code, max_nodes);
}

/// Makes the terms of `nodes` nodes with given larger operands.
class Worker {
 public:
  Worker(const TermBank& bank, size_t nodes, bool last, size_t pass, size_t passes)
      : bank_(bank), types_(bank.types()), nodes_(nodes), last_(last), pass_(pass), passes_(passes) {
    for (size_t a = 0; a < types_.size(); ++a)
      for (size_t b = 0; b < types_.size(); ++b)
        pairs_.push_back(applicable(static_cast<TypeId>(a), static_cast<TypeId>(b)));
  }

  void visit(TermId a) {
    const size_t size = bank_.at(a).size;
    const size_t rest = nodes_ - 1 - size;
    value_a_ = bank_.value(a, scratch_a_);
    if (rest == 0) unary(a);
    if (rest <= size) disjoint(a, rest);
    if (size > 0) overlapping(a, rest);
  }

  Found& found() { return found_; }

 private:
  struct Binary {
    uint32_t op;
    const TypeTable::Entry* forward;   // f(a, b); nullptr: not applicable
    const TypeTable::Entry* backward;  // f(b, a)
  };

  std::vector<Binary> applicable(TypeId a, TypeId b) const {
    std::vector<Binary> out;
    const auto& ops = bank_.universe().ops;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      if (ops[op].operands.size() != 2) continue;
      const auto usable = [&](TypeId x, TypeId y) {
        const auto* entry = types_.find(op, x, y);
        return entry != nullptr && !entry->maps.empty() ? entry : nullptr;
      };
      const Binary both{op, usable(a, b), usable(b, a)};
      if (both.forward != nullptr || both.backward != nullptr) out.push_back(both);
    }
    return out;
  }

  void unary(TermId a) {
    const auto& ops = bank_.universe().ops;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      if (ops[op].operands.size() != 1) continue;
      const auto* entry = types_.find(op, bank_.at(a).type, 0);
      if (entry != nullptr) make(op, *entry, a, kNoTerm, value_a_, nullptr);
    }
  }

  void disjoint(TermId a, size_t rest) {
    const size_t size = bank_.at(a).size;
    for (size_t type = 0; type < types_.size(); ++type) {
      const auto& ops = pairs_[bank_.at(a).type * types_.size() + type];
      if (ops.empty()) continue;
      for (const TermId b : bank_.of(rest, static_cast<TypeId>(type))) {
        if (rest == size && b > a) break;
        if (rest > 0 && bank_.union_size(a, b) != nodes_ - 1) continue;
        binary(ops, a, b);
      }
    }
  }

  /// Operands that share nodes.
  void overlapping(TermId a, size_t rest) {
    const BankTerm& larger = bank_.at(a);
    for (size_t i = 0; i < larger.size; ++i) {
      const TermId node = larger.nodes[i];
      if (rest == 0) {
        for (TermId b = node; b < bank_.size() && (b == node || bank_.at(b).code.same_node(bank_.at(node).code)); ++b)
          pair(a, b);
        continue;
      }
      for (const TermId b : bank_.with_node(node))
        if (bank_.at(b).size > 0 && bank_.union_size(a, b) == nodes_ - 1 && last_common(larger, bank_.at(b)) == node)
          pair(a, b);
    }
  }

  static TermId last_common(const BankTerm& x, const BankTerm& y) {
    TermId last = kNoTerm;
    for (size_t i = 0; i < y.size; ++i)
      if (std::binary_search(x.nodes.begin(), x.nodes.begin() + x.size, y.nodes[i])) last = y.nodes[i];
    return last;
  }

  void pair(TermId a, TermId b) {
    if (bank_.at(b).size > bank_.at(a).size || (bank_.at(b).size == bank_.at(a).size && b > a)) return;
    const auto& ops = pairs_[bank_.at(a).type * types_.size() + bank_.at(b).type];
    if (!ops.empty()) binary(ops, a, b);
  }

  void binary(const std::vector<Binary>& ops, TermId a, TermId b) {
    const Fp* value_b = b == a ? value_a_ : bank_.value(b, scratch_b_);
    for (const Binary& entry : ops) {
      const bool commutative = bank_.universe().ops[entry.op].commutative;
      if (commutative) {
        // Only one of the two orders: the smaller term first.
        if (entry.backward != nullptr) make(entry.op, *entry.backward, b, a, value_b, value_a_);
        continue;
      }
      if (entry.forward != nullptr) make(entry.op, *entry.forward, a, b, value_a_, value_b);
      if (entry.backward != nullptr && a != b) make(entry.op, *entry.backward, b, a, value_b, value_a_);
    }
  }

  void make(uint32_t op, const TypeTable::Entry& entry, TermId a, TermId b, const Fp* value_a, const Fp* value_b) {
    if (last_ && bank_.implied(TermCode(op, a, b, 0), nodes_)) {
      // The term with the first equal operands has the same value, comes earlier, and implies this one's equalities.
      if (pass_ == 0) found_.terms += entry.maps.size();
      return;
    }
    for (uint32_t r = 0; r < entry.maps.size(); ++r) {
      out_.resize(std::max(out_.size(), entry.maps[r].elements()));
      entry.maps[r].run(value_a, value_b, out_.data());
      const uint64_t fingerprint = bank_.fingerprint(entry.types[r], out_.data());
      if (fingerprint % passes_ != pass_) continue;
      ++found_.terms;
      const TermCode code(op, a, b, r);
      const auto known = last_ ? bank_.find(fingerprint) : std::nullopt;
      if (!known) {
        found_.records[fingerprint >> 58].push_back({fingerprint, code});
      } else if (informative(bank_, code, nodes_)) {
        found_.equal.push_back({code, bank_.at(*known).code});
      }
    }
  }

  const TermBank& bank_;
  const TypeTable& types_;
  const size_t nodes_;
  const bool last_;
  const size_t pass_;
  const size_t passes_;
  std::vector<std::vector<Binary>> pairs_;  // by types
  const Fp* value_a_ = nullptr;
  std::vector<Fp> scratch_a_;
  std::vector<Fp> scratch_b_;
  std::vector<Fp> out_;
  Found found_;
};

/// Of records with equal fingerprints, the first one represents their value.
size_t count_values(const TermBank& bank, std::vector<Record>& records, size_t nodes, std::vector<EqualTerms>& equal) {
  std::ranges::sort(records);
  size_t values = 0;
  TermCode first;
  for (size_t i = 0; i < records.size(); ++i) {
    if (i == 0 || records[i].fingerprint != records[i - 1].fingerprint) {
      ++values;
      first = records[i].code;
    } else if (informative(bank, records[i].code, nodes)) {
      equal.push_back({records[i].code, first});
    }
  }
  return values;
}

}  // namespace

void Enumeration::run() {
  counts_.terms.assign(options_.max_nodes + 1, 0);
  counts_.values.assign(options_.max_nodes + 1, 0);
  counts_.terms[0] = counts_.values[0] = bank_.size();
  for (size_t nodes = 1; nodes <= options_.max_nodes; ++nodes) {
    bank_.types().compile();
    const bool last = nodes == options_.max_nodes;
    const size_t passes = last ? options_.passes : 1;
    for (size_t pass = 0; pass < passes; ++pass) {
      if (options_.progress)
        options_.progress(fmt::format("enumerating graphs of {} operators, pass {} of {}", nodes, pass + 1, passes));
      run_pass(nodes, pass);
    }
  }
}

/// Makes the terms of `nodes` nodes whose fingerprints belong to this pass. Adds their equalities, ordered by term.
void Enumeration::run_pass(size_t nodes, size_t pass) {
  const bool last = nodes == options_.max_nodes;
  const auto threads = static_cast<size_t>(std::max(options_.threads, 1));
  std::vector<Worker> workers(threads, Worker(bank_, nodes, last, pass, last ? options_.passes : 1));
  parallel_for(bank_.size(), options_.threads, 64,
               [&](size_t id, size_t thread) { workers[thread].visit(static_cast<TermId>(id)); });

  std::vector<EqualTerms> equal;
  std::vector<TermBank::NewTerm> made;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    std::vector<Record> records;
    for (Worker& worker : workers) {
      auto& part = worker.found().records[bucket];
      records.insert(records.end(), part.begin(), part.end());
      part = {};
    }
    if (last) {
      counts_.values[nodes] += count_values(bank_, records, nodes, equal);
    } else {
      for (const Record& record : records) made.push_back({record.code, record.fingerprint});
    }
  }
  for (Worker& worker : workers) {
    counts_.terms[nodes] += worker.found().terms;
    equal.insert(equal.end(), worker.found().equal.begin(), worker.found().equal.end());
  }
  if (!last) {
    std::ranges::sort(made, {}, &TermBank::NewTerm::code);
    const auto first = static_cast<TermId>(bank_.size());
    counts_.values[nodes] = bank_.add(nodes, made, nodes + 2 <= options_.max_nodes);
    for (TermId id = first; id < bank_.size(); ++id) {
      const BankTerm& term = bank_.at(id);
      if (term.first != id && informative(bank_, term.code, options_.max_nodes))
        equal.push_back({term.code, bank_.at(term.first).code});
    }
  }
  std::ranges::sort(equal, {}, &EqualTerms::term);
  equal_.insert(equal_.end(), equal.begin(), equal.end());
}

}  // namespace isomer
