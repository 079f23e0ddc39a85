#include "isomer/check/attr_domains.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "isomer/check/instances.h"

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

/// Lists; the plain one repeats `plain`.
Choices list_choices(size_t size, const Ints& values, int64_t plain) {
  Choices out;
  for (Ints& list : lists_of(size, values)) {
    const bool is_plain = std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == plain; });
    out.push_back({std::move(list), is_plain});
  }
  return out;
}

/// The first value is plain.
Choices choices(std::initializer_list<AttrValue> values) {
  Choices out;
  for (const AttrValue& value : values) out.push_back({value, out.empty()});
  return out;
}

/// -rank to rank - 1; axes counted from the front are plain.
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

/// Ordered sets of up to three axes, counted from the front (plain if ascending) and all from the back.
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
        negative[0] += n;  // axes counted from the front and from the back together
        out.push_back({negative, false});
      }
    }
  }
  return out;
}

/// All ways to cut the extent of the axis into up to three parts (those with a part of 0 are not plain).
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

/// All factorizations of the number of elements into up to four extents; also with one of them replaced by -1 or, if it
/// equals the operand's, by 0.
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
        Ints special = shape;
        special[i] = -1;
        out.push_back({special, false});
        if (i >= extents.size() || extents[i] != shape[i]) continue;
        special[i] = 0;
        out.push_back({special, false});
      }
    }
  }
  return out;
}

Choices shape_choices(const AttrSite& site) {
  Choices out;
  for (Ints& shape : small_shapes(4, site.extents)) out.push_back({std::move(shape), true});
  return out;
}

/// starts, ends and steps of a Slice, one per axis.
Choices slice_choices(const AttrSite& site) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const size_t n = site.chosen.ints("axes").size();
  if (site.def.domain == AttrDomain::Steps) return list_choices(n, n < 2 ? Ints{1, 2, -1} : Ints{1, 2}, 1);
  const bool starts = site.def.domain == AttrDomain::Starts;
  const Ints values =
      n < 2 ? (starts ? Ints{0, 1, 2, -1, -2} : Ints{1, 2, 3, kMax, -1, -kMax}) : (starts ? Ints{0, 1} : Ints{1, 2});
  Choices out;
  for (Ints& list : lists_of(n, values)) {
    const bool plain = std::all_of(list.begin(), list.end(), [](int64_t v) { return v >= 0 && v < kMax; });
    out.push_back({std::move(list), plain});
  }
  return out;
}

/// Attributes of the window of a convolution or pool; the number of spatial axes is the operand's rank minus 2.
Choices window_choices(const AttrSite& site, const Ints& values, int64_t plain, size_t per_axis = 1) {
  const size_t rank = rank_of(site);
  if (rank < 3) return {};
  return list_choices(per_axis * (rank - 2), values, plain);
}

/// Up to two entries that are not 0: the position of a pad matters, but more of them together add nothing.
Choices pads_choices(const AttrSite& site) {
  Choices out;
  for (Ints& pads : lists_of(2 * std::min<size_t>(rank_of(site), 4), {0, 1, -1})) {
    const auto zeros = std::count(pads.begin(), pads.end(), 0);
    const bool negative = std::find(pads.begin(), pads.end(), -1) != pads.end();
    const auto others = static_cast<int64_t>(pads.size()) - zeros;
    if (pads.size() <= 2 || others <= 2) out.push_back({std::move(pads), !negative && others <= 1});
  }
  return out;
}

/// Unsqueeze counts axes in the result, whose rank depends on the number of axes.
Choices result_axes_choices(const AttrSite& site) {
  Choices out;
  for (size_t n = 0; n <= 3; ++n)
    for (AttrChoice& choice : axes_choices(rank_of(site) + n))
      if (std::get<Ints>(*choice.value).size() == n) out.push_back(std::move(choice));
  return out;
}

Choices declared_choices(const AttrSite& site) {
  Choices out;
  for (const AttrValue& value : site.def.values) out.push_back({value, out.empty()});
  return out;
}

Choices scalar_choices(const AttrSite& site) {
  Choices out;
  for (const AttrValue& value : site.def.values)
    out.push_back({uniform_tensor({site.element, Shape()}, std::get<float>(value)), out.empty()});
  return out;
}

Choices any_integer(const AttrDef& def) {
  if (!def.preset) return choices({int64_t{0}, int64_t{1}, int64_t{2}});
  const int64_t preset = std::get<int64_t>(*def.preset);
  if (preset == 0 || preset == 1) return choices({preset, 1 - preset});
  return choices({preset, int64_t{0}, int64_t{1}});
}

Choices any_value(const AttrSite& site) {
  switch (site.def.kind) {
    case AttrKind::Int:
      return any_integer(site.def);
    case AttrKind::Float: {
      Choices out;
      if (site.def.preset) out.push_back({site.def.preset, true});
      for (const float value : {0.5F, -1.0F, 2.0F}) out.push_back({value, out.empty()});
      return out;
    }
    case AttrKind::Tensor:
      return choices({uniform_tensor({site.element, {Dim(1)}}, 0), uniform_tensor({site.element, {Dim(1)}}, 2)});
    default:
      return {};
  }
}

Choices domain_of(const AttrSite& site) {
  switch (site.def.domain) {
    case AttrDomain::Any:
      return any_value(site);
    case AttrDomain::Values:
      return declared_choices(site);
    case AttrDomain::Fixed:
      return {};
    case AttrDomain::Axis:
      return axis_choices(rank_of(site));
    case AttrDomain::AxisOrEnd:
      return axis_choices(rank_of(site), 1);
    case AttrDomain::Axes:
      return axes_choices(rank_of(site));
    case AttrDomain::ResultAxes:
      return result_axes_choices(site);
    case AttrDomain::Permutation:
      return perm_choices(rank_of(site));
    case AttrDomain::Parts:
      return split_choices(site);
    case AttrDomain::Shape:
      return shape_choices(site);
    case AttrDomain::SameSize:
      return reshape_choices(site);
    case AttrDomain::Starts:
    case AttrDomain::Ends:
    case AttrDomain::Steps:
      return slice_choices(site);
    case AttrDomain::Window:
      return window_choices(site, {2, 1}, 2);
    case AttrDomain::Strides:
      return window_choices(site, {1, 2}, 1);
    case AttrDomain::WindowPads:
      return window_choices(site, {0, 1}, 0, 2);
    case AttrDomain::OutputPadding:
      return window_choices(site, {0, 1}, 0);
    case AttrDomain::Pads:
      return pads_choices(site);
    case AttrDomain::Repeats:
      return list_choices(rank_of(site), {1, 2}, 1);
    case AttrDomain::Groups:
      return choices({int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}});
    case AttrDomain::Divisor:
      return choices({int64_t{1}, int64_t{2}, int64_t{3}});
    case AttrDomain::Scalar:
      return scalar_choices(site);
  }
  return {};
}

}  // namespace

std::vector<AttrChoice> attr_domain(const AttrSite& site) {
  Choices out = domain_of(site);
  if (out.empty() && site.def.preset) out.push_back({site.def.preset, true});
  Choices sorted;
  if (site.def.optional) sorted.push_back({});
  for (const bool plain : {true, false})
    for (const AttrChoice& choice : out)
      if (choice.plain == plain) sorted.push_back(choice);
  return sorted;
}

int attr_order(const AttrDef& def) {
  switch (def.domain) {
    case AttrDomain::Axis:
    case AttrDomain::AxisOrEnd:
    case AttrDomain::Axes:
    case AttrDomain::ResultAxes:
    case AttrDomain::Groups:
    case AttrDomain::Window:
      return 0;
    default:
      return def.preset ? 2 : 1;
  }
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
