#include "isomer/verify/attr_domains.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace isomer {
namespace {

using Choices = std::vector<AttrChoice>;

size_t rank_of(const AttrSite& site) {
  return site.operands.empty() || site.operands[0] == nullptr ? 0 : site.operands[0]->rank();
}

Ints extents_of(const AttrSite& site) {
  if (site.operands.empty() || site.operands[0] == nullptr) return {};
  return concrete(*site.operands[0]->shape).value_or(Ints{});
}

/// Lists whose plain member is the one that repeats `plain`.
Choices list_choices(size_t size, const Ints& values, int64_t plain) {
  Choices out;
  for (Ints& list : lists_of(size, values)) {
    const bool is_plain = std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == plain; });
    out.push_back({std::move(list), is_plain});
  }
  return out;
}

Choices int_choices(std::initializer_list<int64_t> values) {
  Choices out;
  for (const int64_t value : values) out.push_back({value, out.empty()});
  return out;
}

/// -rank to rank - 1; counted from the front is plain.
Choices axis_choices(size_t rank, int64_t beyond = 0) {
  Choices out;
  const auto n = static_cast<int64_t>(rank);
  for (int64_t axis = 0; axis < n + beyond; ++axis) out.push_back({axis, true});
  for (int64_t axis = -n - beyond; axis < 0; ++axis) out.push_back({axis, false});
  return out;
}

Choices perm_choices(size_t rank) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  Choices out;
  do {
    out.push_back({perm, true});
  } while (std::next_permutation(perm.begin(), perm.end()));
  return out;
}

/// Ordered sets of up to three axes, counted from the front (plain when ascending) and all from the back.
Choices axes_choices(size_t rank) {
  Choices out{{Ints{}, true}};
  const auto n = static_cast<int64_t>(rank);
  std::vector<Ints> sets{{}};
  for (int size = 1; size <= 3; ++size) {
    std::vector<Ints> longer;
    for (const Ints& set : sets)
      for (int64_t axis = 0; axis < n; ++axis) {
        if (std::find(set.begin(), set.end(), axis) != set.end()) continue;
        longer.push_back(set);
        longer.back().push_back(axis);
      }
    sets = longer;
    for (const Ints& set : sets) {
      out.push_back({set, std::is_sorted(set.begin(), set.end())});
      Ints negative = set;
      for (int64_t& axis : negative) axis -= n;
      out.push_back({negative, false});
      if (set.size() > 1) {
        negative[0] += n;  // both ways of counting side by side
        out.push_back({negative, false});
      }
    }
  }
  return out;
}

/// All ways to cut the extent of the axis into up to three parts (with a part of 0 among the odd ones).
Choices split_choices(const AttrSite& site) {
  const Ints extents = extents_of(site);
  const auto n = static_cast<int64_t>(extents.size());
  const auto* axis = site.chosen.find("axis");
  int64_t at = axis == nullptr ? 0 : std::get<int64_t>(*axis);
  if (at < 0) at += n;
  if (at < 0 || at >= n) return {};
  const int64_t extent = extents[static_cast<size_t>(at)];
  Choices out;
  for (size_t parts = 1; parts <= 3; ++parts) {
    Ints values(static_cast<size_t>(extent) + 1);
    std::iota(values.begin(), values.end(), 0);
    for (Ints& split : lists_of(parts, values)) {
      if (std::accumulate(split.begin(), split.end(), int64_t{0}) != extent) continue;
      const bool plain = std::find(split.begin(), split.end(), 0) == split.end();
      out.push_back({std::move(split), plain});
    }
  }
  return out;
}

/// All factorizations of the number of elements into up to four extents; with one of them left to -1 or, where it
/// equals the operand's, to 0.
Choices reshape_choices(const AttrSite& site) {
  const Ints extents = extents_of(site);
  const int64_t total = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  Ints divisors;
  for (int64_t d = 1; d <= total; ++d)
    if (total % d == 0) divisors.push_back(d);
  Choices out;
  for (size_t rank = 0; rank <= 4; ++rank) {
    for (const Ints& shape : lists_of(rank, divisors)) {
      if (std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()) != total) continue;
      out.push_back({shape, true});
      for (size_t i = 0; i < rank; ++i) {
        Ints odd = shape;
        odd[i] = -1;
        out.push_back({odd, false});
        if (i >= extents.size() || extents[i] != shape[i]) continue;
        odd[i] = 0;
        out.push_back({odd, false});
      }
    }
  }
  return out;
}

Choices shape_choices(const AttrSite& site) {
  if (site.op.name == "Reshape") return reshape_choices(site);
  Choices out;
  for (Ints& shape : small_shapes(4, site.extents)) out.push_back({std::move(shape), true});
  return out;
}

/// starts, ends and steps of a Slice, as many as there are axes.
Choices slice_choices(const AttrSite& site) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const size_t n = site.chosen.ints("axes").size();
  if (site.def.name == "steps") return list_choices(n, n < 2 ? Ints{1, 2, -1} : Ints{1, 2}, 1);
  const bool starts = site.def.name == "starts";
  const Ints values =
      n < 2 ? (starts ? Ints{0, 1, 2, -1, -2} : Ints{1, 2, 3, kMax, -1, -kMax}) : (starts ? Ints{0, 1} : Ints{1, 2});
  Choices out;
  for (Ints& list : lists_of(n, values)) {
    const bool plain = std::all_of(list.begin(), list.end(), [](int64_t v) { return v >= 0 && v < kMax; });
    out.push_back({std::move(list), plain});
  }
  return out;
}

/// Sets the window of a convolution or pool; the number of spatial axes is the operand's rank less 2.
Choices window_choices(const AttrSite& site, const Ints& values, int64_t plain, size_t per_axis = 1) {
  const size_t rank = rank_of(site);
  if (rank < 3) return {};
  return list_choices(per_axis * (rank - 2), values, plain);
}

Choices pads_choices(const AttrSite& site) {
  if (site.op.name != "Pad") return window_choices(site, {0, 1}, 0, 2);
  // Up to two entries other than 0: where a pad stands matters, more of them together do not add to it.
  Choices out;
  for (Ints& pads : lists_of(2 * std::min<size_t>(rank_of(site), 4), {0, 1, -1})) {
    const auto zeros = std::count(pads.begin(), pads.end(), 0);
    const bool negative = std::find(pads.begin(), pads.end(), -1) != pads.end();
    const auto others = static_cast<int64_t>(pads.size()) - zeros;
    if (pads.size() <= 2 || others <= 2) out.push_back({std::move(pads), !negative && others <= 1});
  }
  return out;
}

Tensor scalar_tensor(DType dtype, double value) {
  switch (dtype) {
    case DType::Float:
      return Tensor::floats({1}, {static_cast<float>(value)});
    case DType::Double:
      return Tensor::of<double>(dtype, {1}, {value});
    case DType::Bool:
      return Tensor::of<uint8_t>(dtype, {1}, {static_cast<uint8_t>(value != 0)});
    default:
      return Tensor::ints({1}, {static_cast<int64_t>(value)});
  }
}

Choices tensor_choices(const AttrSite& site, std::initializer_list<double> values) {
  Choices out;
  const bool bound = site.def.name == "min" || site.def.name == "max";
  for (const double value : values) {
    const Tensor tensor = scalar_tensor(site.element, value);
    out.push_back({bound ? tensor.reshaped({}) : tensor, out.empty()});
  }
  return out;
}

Choices int_domain(const AttrSite& site) {
  const std::string& name = site.def.name;
  if (name == "axis" || name == "batch_axis" || name == "time_axis")
    return axis_choices(rank_of(site), site.op.name == "Flatten" ? 1 : 0);
  if (name == "group") return int_choices({1, 2, 3, 4});
  if (name == "num_groups" || name == "blocksize" || name == "k") return int_choices({1, 2, 3});
  if (name == "to") return int_choices({1, 11, 7, 6, 9});
  if (name == "stash_type" || name == "saturate") return int_choices({1});
  if (name == "p" || name == "size") return int_choices({2, 1, 3});
  if (!site.def.preset) return int_choices({0, 1, 2});
  const int64_t preset = std::get<int64_t>(*site.def.preset);
  return preset == 0 || preset == 1 ? int_choices({preset, 1 - preset}) : int_choices({preset, 0, 1});
}

Choices ints_domain(const AttrSite& site) {
  const std::string& name = site.def.name;
  if (name == "perm") return perm_choices(rank_of(site));
  if (name == "axes") {
    // Unsqueeze counts in the result, whose rank depends on how many axes there are.
    if (site.op.name != "Unsqueeze") return axes_choices(rank_of(site));
    Choices out;
    for (size_t n = 0; n <= 3; ++n)
      for (AttrChoice& choice : axes_choices(rank_of(site) + n))
        if (std::get<Ints>(*choice.value).size() == n) out.push_back(std::move(choice));
    return out;
  }
  if (name == "split") return split_choices(site);
  if (name == "shape") return shape_choices(site);
  if (name == "starts" || name == "ends" || name == "steps") return slice_choices(site);
  if (name == "kernel_shape") return window_choices(site, {2, 1}, 2);
  if (name == "strides" || name == "dilations") return window_choices(site, {1, 2}, 1);
  if (name == "pads") return pads_choices(site);
  if (name == "output_padding") return window_choices(site, {0, 1}, 0);
  if (name == "repeats") return list_choices(rank_of(site), {1, 2}, 1);
  return {};
}

Choices float_domain(const AttrSite& site) {
  const std::string& name = site.def.name;
  Choices out;
  if (site.def.preset) out.push_back({site.def.preset, true});
  if (name == "momentum") return out;
  const Floats values = name == "epsilon" ? Floats{0.5F} : Floats{0.5F, -1, 2};
  for (const float value : values) out.push_back({value, out.empty()});
  return out;
}

Choices text_domain(const AttrSite& site) {
  const std::string& name = site.def.name;
  const auto texts = [](std::initializer_list<std::string> values) {
    Choices out;
    for (const std::string& value : values) out.push_back({value, out.empty()});
    return out;
  };
  if (name == "auto_pad") return texts({"NOTSET"});  // of known extents, import leaves no other
  if (name == "mode" && site.op.name == "Pad") return texts({"constant", "edge", "reflect", "wrap"});
  if (name == "mode" && site.op.name == "DepthToSpace") return texts({"DCR", "CRD"});
  if (name == "approximate") return texts({"none", "tanh"});
  if (name == "direction") return texts({"LEFT", "RIGHT"});
  return {};
}

Choices tensor_domain(const AttrSite& site) {
  const std::string& name = site.def.name;
  if (name == "min") return tensor_choices(site, {0, -1});
  if (name == "max") return tensor_choices(site, {2, 0});
  return tensor_choices(site, {0, 2});
}

}  // namespace

std::vector<AttrChoice> attr_domain(const AttrSite& site) {
  Choices out;
  switch (site.def.kind) {
    case AttrKind::Int:
      out = int_domain(site);
      break;
    case AttrKind::Ints:
      out = ints_domain(site);
      break;
    case AttrKind::Float:
      out = float_domain(site);
      break;
    case AttrKind::String:
      out = text_domain(site);
      break;
    case AttrKind::Tensor:
      out = tensor_domain(site);
      break;
    default:
      break;
  }
  if (out.empty() && site.def.preset) out.push_back({site.def.preset, true});
  Choices sorted;
  if (site.def.optional) sorted.push_back({});
  for (const bool plain : {true, false})
    for (const AttrChoice& choice : out)
      if (choice.plain == plain) sorted.push_back(choice);
  return sorted;
}

int attr_order(const AttrDef& def) {
  if (def.name == "axis" || def.name == "axes" || def.name == "group" || def.name == "kernel_shape") return 0;
  return def.preset ? 2 : 1;
}

std::vector<Ints> lists_of(size_t size, const Ints& values) {
  std::vector<Ints> out{{}};
  for (size_t i = 0; i < size; ++i) {
    std::vector<Ints> longer;
    for (const Ints& list : out)
      for (const int64_t value : values) {
        longer.push_back(list);
        longer.back().push_back(value);
      }
    out = std::move(longer);
  }
  return out;
}

std::vector<Ints> small_shapes(size_t max_rank, const Ints& extents) {
  std::vector<Ints> out;
  for (size_t rank = 0; rank <= max_rank; ++rank)
    for (Ints& shape : lists_of(rank, extents)) out.push_back(std::move(shape));
  return out;
}

}  // namespace isomer
