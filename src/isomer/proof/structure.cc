#include "isomer/proof/structure.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "isomer/check/generality.h"
#include "isomer/check/partial_instance.h"

namespace isomer {
namespace {

constexpr size_t kMaxRank = 4;
constexpr size_t kMaxSteps = 400'000;
constexpr size_t kMaxStructures = 1500;
/// The structure does not depend on the numbers: a few unusual ones are enough to find one instance of it.
constexpr size_t kNonDefaultNumbers = 2;

std::string attr_key(const AttrDef& def, const AttrValue* value) {
  if (value == nullptr) return def.name + "-";
  switch (generality(def)) {
    case Generality::Fixed:
      return def.name + "=" + attr_str(*value);
    case Generality::Integers: {
      std::string out = def.name + ":";
      for (const int64_t entry : std::get<Ints>(*value))
        out += lists_extents(def) && entry <= 0 ? std::to_string(entry) : "n";
      return out;
    }
    default:
      return def.name;
  }
}

/// The structures of a rule that have an instance with some extents, rank by rank, computed on demand.
class Listing {
 public:
  Listing(const Rule& rule, InstanceBounds bounds) : rule_(rule), bounds_(std::move(bounds)) {}

  /// Returns one instance of each structure whose largest rank is `rank`; nullptr if there are too many to list.
  const std::vector<Instance>* of_rank(size_t rank) {
    while (ranks_.size() <= rank) ranks_.push_back(list(ranks_.size()));
    return ranks_[rank] ? &*ranks_[rank] : nullptr;
  }

  std::string bounds(size_t max_rank) const {
    const std::string out = fmt::format("ranks <= {}, lengths <= {}", max_rank, bounds_.max_sequence);
    if (bounds_.max_others != InstanceBounds::kAny)
      return fmt::format("{}, structures found at extents 2 but for broadcasting and {} of 1", out, bounds_.max_others);
    if (bounds_.free_broadcasts) return out + ", structures found at extents 2 but for broadcasting";
    return bounds_.extents == Ints{1, 2}
               ? out
               : fmt::format("{}, structures found at extents {}", out, fmt::join(bounds_.extents, " and "));
  }

 private:
  std::optional<std::vector<Instance>> list(size_t rank) {
    bounds_.rank = rank;
    std::vector<Instance> out;
    std::set<std::string> seen;
    const bool all = for_each_instance(rule_, bounds_, kMaxSteps, [&](const Instance& instance) {
      if (seen.insert(structure_key(instance)).second) out.push_back(instance);
      return seen.size() <= kMaxStructures;
    });
    if (!all || seen.size() > kMaxStructures) return std::nullopt;
    return out;
  }

  const Rule& rule_;
  InstanceBounds bounds_;
  std::vector<std::optional<std::vector<Instance>>> ranks_;
};

bool repeats(const Term& term) { return term.repeated || !sequences_of(term).empty(); }

/// Removes the names of attributes in repeated terms, which several nodes share.
void erase_shared(const Term& term, bool repeated, std::set<std::string>& names) {
  repeated = repeated || term.repeated;
  if (repeated) {
    names.erase(term.rest);
    for (const auto& [attr, expr] : term.attrs)
      if (expr.kind == Expr::Kind::Variable) names.erase(expr.name.substr(1));
  }
  for (const Term& operand : term.operands) erase_shared(operand, repeated, names);
}

/// Returns the variables and records of attributes that occur only once in a rule, and in one node. It matters only
/// which result they give their node.
std::set<std::string> mentioned_once(const Rule& rule) {
  Rule plain = rule;
  plain.doc.clear();
  const std::string text = print_rule(plain);
  std::map<std::string, size_t> counts;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t i = 1; i < text.size(); ++i) {
    const bool record = text[i - 1] == '.' && i > 1 && text[i - 2] == '.' && is_part(text[i]);
    if (text[i - 1] != '?' && !record) continue;
    size_t end = i;
    while (end < text.size() && is_part(text[end])) ++end;
    ++counts[text.substr(i, end - i)];
  }
  std::set<std::string> out;
  for (const auto& [name, count] : counts)
    if (count == 1) out.insert(name);
  for (const Term& source : rule.sources) erase_shared(source, false, out);
  return out;
}

/// From general to special. The last one is for windows that are larger than another by a pad on either side.
std::vector<Listing> listings(const Rule& rule) {
  std::vector<Listing> out;
  const std::set<std::string> representatives = mentioned_once(rule);
  const auto add = [&](InstanceBounds bounds) {
    bounds.max_non_default_numbers = kNonDefaultNumbers;
    bounds.representatives = representatives;
    out.emplace_back(rule, std::move(bounds));
  };
  const bool sequences = std::ranges::any_of(rule.sources, repeats);
  for (size_t lengths = 3; lengths >= (sequences ? 2 : 3); --lengths) {
    add({.extents = {1, 2}, .max_sequence = lengths});
    for (const size_t ones : {4, 3, 2})
      add({.extents = {1, 2}, .max_sequence = lengths, .max_others = ones, .free_broadcasts = true});
    add({.extents = {2}, .max_sequence = lengths, .free_broadcasts = true});
    add({.extents = {2}, .max_sequence = lengths});
  }
  add({.extents = {1, 3}, .max_sequence = 2});
  add({.extents = {2, 4}, .max_sequence = 2});
  return out;
}

/// Returns all structures of ranks up to `max_rank`; none if there are too many to list.
std::vector<Instance> structures_up_to(size_t max_rank, Listing& listing) {
  std::vector<Instance> out;
  for (size_t rank = 0; rank <= max_rank; ++rank) {
    const std::vector<Instance>* more = listing.of_rank(rank);
    if (more == nullptr) return {};
    out.insert(out.end(), more->begin(), more->end());
  }
  return out;
}

}  // namespace

std::string structure_key(const Instance& instance) {
  std::string out;
  for (const Instance::Value& value : instance.values) {
    if (value.kind == Instance::Value::Kind::Result) continue;
    out += fmt::format("{} {} {} {};", static_cast<int>(value.kind), dtype_name(value.type.dtype), value.type.rank(),
                       value.number);
  }
  for (const Instance::Node& node : instance.nodes) {
    out += node.op->name;
    for (const AttrDef& def : node.op->attrs) out += " " + attr_key(def, node.attrs.find(def.name));
    for (const ValueId operand : node.operands) out += " " + std::to_string(static_cast<int64_t>(operand));
    out += ';';
  }
  return out;
}

Structures structures_of(const Rule& rule) {
  std::vector<Listing> all = listings(rule);
  for (size_t max_rank = kMaxRank; max_rank >= 2; --max_rank) {
    for (Listing& listing : all) {
      std::vector<Instance> found = structures_up_to(max_rank, listing);
      if (!found.empty()) return {std::move(found), listing.bounds(max_rank)};
    }
  }
  return {};
}

}  // namespace isomer
