// Discrete Fourier transforms and mel weights.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/indices.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using Complex = std::complex<double>;

/// Fails if the last extent is known to be neither 1 (real numbers) nor 2 (complex numbers).
Status want_complex_axis(const OpView& view) {
  if (view.rank(0) < 2) return fail("{} of {}", view.op.name, view.type(0).str());
  const Dim& last = view.shape(0).back();
  if (last.is_const() && !last.is(1) && !last.is(2))
    return fail("the last extent of {} must be 1 or 2, it is {}", view.op.name, last.str());
  return {};
}

Result<size_t> dft_axis(const Attrs& attrs, size_t rank) {
  ISOMER_TRY(const size_t axis, normal_axis(attrs.integer("axis"), rank));
  if (axis + 1 == rank) return fail("DFT along the axis of real and imaginary parts");
  return axis;
}

/// The number of frequencies (or points in time) of a transform.
Dim dft_length(const Attrs& attrs, const Dim& extent) {
  if (attrs.has("dft_length")) return Dim(attrs.integer("dft_length"));
  const bool real_result = attrs.integer("inverse") != 0 && attrs.integer("onesided") != 0;
  return real_result ? (extent - Dim(1)) * Dim(2) : extent;
}

Result<std::vector<TensorType>> infer_dft(const OpView& view) {
  ISOMER_CHECK(want_complex_axis(view));
  ISOMER_TRY(const size_t axis, dft_axis(view.attrs, view.rank(0)));
  const Dim length = dft_length(view.attrs, view.shape(0)[axis]);
  if (at_least(length, Dim(1)) == false) return fail("DFT of length {}", length.str());
  const bool onesided = view.attrs.integer("onesided") != 0;
  const bool inverse = view.attrs.integer("inverse") != 0;
  Shape shape = view.shape(0);
  shape[axis] = onesided && !inverse ? floor_div(length, Dim(2)) + Dim(1) : length;
  shape.back() = Dim(onesided && inverse ? 1 : 2);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// The first `wanted` terms of the transform of `x`, which has the length of the transform. `sign` is -1 for forward, 1
/// for backward.
std::vector<Complex> transform(const std::vector<Complex>& x, size_t wanted, int sign) {
  const size_t n = x.size();
  std::vector<Complex> roots(n);
  for (size_t i = 0; i < n; ++i)
    roots[i] = std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  std::vector<Complex> y(wanted);
  for (size_t k = 0; k < wanted; ++k) {
    size_t phase = 0;
    for (size_t i = 0; i < n; ++i) {
      y[k] += x[i] * roots[phase];
      phase = (phase + k) % n;
    }
    if (sign > 0) y[k] /= static_cast<double>(n);
  }
  return y;
}

/// Computes the whole spectrum of real data from its first half.
void complete_spectrum(std::vector<Complex>& x) {
  const size_t n = x.size();
  for (size_t k = n / 2 + 1; k < n; ++k) x[k] = std::conj(x[n - k]);
  x[0] = x[0].real();
  if (n % 2 == 0) x[n / 2] = x[n / 2].real();
}

/// A real or complex element of an operand, whose last axis contains the real and imaginary parts.
template <class T>
Complex complex_at(std::span<const T> data, size_t element, int64_t parts) {
  const size_t at = element * static_cast<size_t>(parts);
  return parts == 2 ? Complex(data[at], data[at + 1]) : Complex(data[at], 0);
}

template <class T>
Status dft(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const size_t axis, dft_axis(context.attrs, x.dims().size()));
  const int sign = context.attrs.integer("inverse") != 0 ? 1 : -1;
  const bool real_result = sign > 0 && context.attrs.integer("onesided") != 0;
  const auto length = static_cast<size_t>(dft_length(context.attrs, Dim(x.dims()[axis])).value());
  Tensor& y = new_result(context);
  if (y.element_count() == 0) return {};
  const int64_t outer = extent_product(x.dims(), 0, axis);
  const int64_t inner = extent_product(x.dims(), axis + 1, x.dims().size() - 1);
  const int64_t extent = x.dims()[axis];
  const int64_t wanted = y.dims()[axis];
  const auto from = x.data<T>();
  const auto to = y.mutable_data<T>();
  for (int64_t line = 0; line < outer * inner; ++line) {
    const int64_t o = line / inner;
    const int64_t i = line % inner;
    std::vector<Complex> signal(length);
    for (int64_t n = 0; n < std::min<int64_t>(extent, static_cast<int64_t>(length)); ++n)
      signal[static_cast<size_t>(n)] =
          complex_at<T>(from, static_cast<size_t>((o * extent + n) * inner + i), x.dims().back());
    if (real_result) complete_spectrum(signal);
    const auto result = transform(signal, static_cast<size_t>(wanted), sign);
    for (int64_t n = 0; n < wanted; ++n) {
      const auto at = static_cast<size_t>(((o * wanted + n) * inner + i) * (real_result ? 1 : 2));
      to[at] = static_cast<T>(result[static_cast<size_t>(n)].real());
      if (!real_result) to[at + 1] = static_cast<T>(result[static_cast<size_t>(n)].imag());
    }
  }
  return {};
}

/// The work of a fast transform: 5 n log n per line.
double dft_flops(const WorkView& view) {
  const auto rank = static_cast<int64_t>(view.operands[0].size());
  const int64_t axis = view.attrs.integer("axis");
  const auto n = static_cast<double>(view.operands[0][static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  return 2.5 * count(view.results[0]) * std::log2(std::max(n, 2.0));
}

/// Before opset 20 the axis is an attribute with another default.
Status dft_from_onnx(OnnxForm& form) {
  if (form.opset < 20 && !form.attrs.contains("axis")) form.attrs["axis"] = int64_t{1};
  return {};
}

/// Length of STFT's frames.
Dim frame_length(const OpView& view) {
  if (view.attrs.has("frame_length")) return Dim(view.attrs.integer("frame_length"));
  return view.has(1) ? view.shape(1)[0] : view.shape(0)[1];
}

Result<std::vector<TensorType>> infer_stft(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 0, 3));
  ISOMER_CHECK(want_complex_axis(view));
  const int64_t step = view.attrs.integer("frame_step");
  if (step < 1) return fail("STFT with steps of {}", step);
  if (view.has(1)) {
    ISOMER_CHECK(want_rank(view, 1, 1));
    ISOMER_CHECK(same_dtype(view, 0, 1));
  }
  const Dim length = frame_length(view);
  if (at_least(length, Dim(1)) == false || at_least(view.shape(0)[1], length) == false)
    return fail("STFT of {} with frames of {}", view.type(0).str(), length.str());
  if (view.has(1) && unequal(view.shape(1)[0], length))
    return fail("STFT with frames of {} and a window of {}", length.str(), view.shape(1)[0].str());
  const Dim frames = floor_div(view.shape(0)[1] - length, Dim(step)) + Dim(1);
  const Dim bins = view.attrs.integer("onesided") != 0 ? floor_div(length, Dim(2)) + Dim(1) : length;
  return std::vector<TensorType>{{view.dtype(0), {view.shape(0)[0], frames, bins, Dim(2)}}};
}

template <class T>
Status stft(KernelContext& context) {
  const Tensor& x = context.operands[0];
  int64_t length = x.dims()[1];
  if (context.has(1)) length = context.operands[1].dims()[0];
  if (context.attrs.has("frame_length")) length = context.attrs.integer("frame_length");
  const int64_t step = context.attrs.integer("frame_step");
  Tensor& y = new_result(context);
  const auto from = x.data<T>();
  const auto to = y.mutable_data<T>();
  size_t out = 0;
  for (int64_t batch = 0; batch < y.dims()[0]; ++batch) {
    for (int64_t frame = 0; frame < y.dims()[1]; ++frame) {
      std::vector<Complex> signal;
      for (int64_t n = 0; n < length; ++n) {
        const auto at = static_cast<size_t>(batch * x.dims()[1] + frame * step + n);
        const double weight = context.has(1) ? context.operands[1].data<T>()[static_cast<size_t>(n)] : 1.0;
        signal.push_back(complex_at<T>(from, at, x.dims()[2]) * weight);
      }
      for (const Complex& value : transform(signal, static_cast<size_t>(y.dims()[2]), -1)) {
        to[out++] = static_cast<T>(value.real());
        to[out++] = static_cast<T>(value.imag());
      }
    }
  }
  return {};
}

double stft_flops(const WorkView& view) {
  return 2.5 * count(view.results[0]) * std::log2(std::max(2.0, static_cast<double>(view.results[0][2])));
}

Result<std::vector<TensorType>> infer_mel(const OpView& view) {
  const int64_t bins = view.attrs.integer("num_mel_bins");
  const int64_t length = view.attrs.integer("dft_length");
  if (bins < 0 || length < 0 || view.attrs.integer("sample_rate") <= 0)
    return fail("MelWeightMatrix of {} bins for a transform of length {}", bins, length);
  const int64_t number = view.attrs.integer("output_datatype");
  const auto dtype = dtype_from_onnx(number >= 0 && number < 256 ? static_cast<int>(number) : 0);
  if (!dtype) return fail("MelWeightMatrix of the unknown element type {}", number);
  return std::vector<TensorType>{{*dtype, {Dim(length / 2 + 1), Dim(bins)}}};
}

/// The spectrogram bins where the mel filters begin, peak and end.
Result<std::vector<int64_t>> mel_edges(const Attrs& attrs) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(attrs.real("lower_edge_hertz"));
  const int64_t count = attrs.integer("num_mel_bins") + 2;
  const double step = (mel(attrs.real("upper_edge_hertz")) - low) / static_cast<double>(count);
  const int64_t last_bin = attrs.integer("dft_length") / 2;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < count; ++i) {
    const double hertz = 700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1);
    const double bin = std::floor(static_cast<double>(attrs.integer("dft_length") + 1) * hertz /
                                  static_cast<double>(attrs.integer("sample_rate")));
    if (!(bin >= 0) || bin > static_cast<double>(last_bin))
      return fail("MelWeightMatrix has a filter at {} Hz, which the transform does not reach", hertz);
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

Status mel_kernel(KernelContext& context) {
  return for_numeric(context.types[0].dtype, [&]<class T>() -> Status {
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return {};
    ISOMER_TRY(const auto edges, mel_edges(context.attrs));
    const int64_t bins = y.dims()[1];
    const auto to = y.mutable_data<T>();
    const auto put = [&](int64_t row, int64_t bin, int64_t part, int64_t whole) {
      to[static_cast<size_t>(row * bins + bin)] = scalar<T>(static_cast<double>(part) / static_cast<double>(whole));
    };
    for (int64_t bin = 0; bin < bins; ++bin) {
      const int64_t begin = edges[static_cast<size_t>(bin)];
      const int64_t peak = edges[static_cast<size_t>(bin) + 1];
      const int64_t end = edges[static_cast<size_t>(bin) + 2];
      if (peak == begin) put(peak, bin, 1, 1);
      for (int64_t row = begin; peak > begin && row <= peak; ++row) put(row, bin, row - begin, peak - begin);
      for (int64_t row = peak; row < end; ++row) put(row, bin, end - row, end - peak);
    }
    return {};
  });
}

}  // namespace

std::vector<OpDef> signal_ops() {
  const auto integer = [](std::string name) { return AttrDef{.name = std::move(name), .kind = AttrKind::Int}; };
  const auto flag = [](std::string name, int64_t preset) {
    return AttrDef{.name = std::move(name), .kind = AttrKind::Int, .preset = preset};
  };
  const auto length = [](std::string name) {
    return AttrDef{.name = std::move(name), .kind = AttrKind::Int, .optional = true};
  };
  AttrDef axis = flag("axis", -2);
  axis.always_written = true;
  axis.domain = AttrDomain::Axis;
  return {
      {.name = "DFT",
       .attrs = {std::move(axis), length("dft_length"), flag("inverse", 0), flag("onesided", 0)},
       .infer = infer_dft,
       .flops = dft_flops,
       .kernel = float_kernel([]<class T>(KernelContext& context) { return dft<T>(context); }),
       .since = 17,
       .params = {{.index = 1, .attr = "dft_length", .since = 17}, {.index = 2, .attr = "axis", .since = 20}},
       .from_onnx = dft_from_onnx},
      {.name = "STFT",
       .attrs = {integer("frame_step"), length("frame_length"), flag("onesided", 1)},
       .max_operands = 2,
       .infer = infer_stft,
       .flops = stft_flops,
       .kernel = float_kernel([]<class T>(KernelContext& context) { return stft<T>(context); }),
       .since = 17,
       .params = {{.index = 1, .attr = "frame_step", .since = 17}, {.index = 3, .attr = "frame_length", .since = 17}}},
      {.name = "MelWeightMatrix",
       .attrs = {integer("num_mel_bins"),
                 integer("dft_length"),
                 integer("sample_rate"),
                 {.name = "lower_edge_hertz", .kind = AttrKind::Float},
                 {.name = "upper_edge_hertz", .kind = AttrKind::Float},
                 flag("output_datatype", 1)},
       .min_operands = 0,
       .infer = infer_mel,
       .flops = flops_per_element,
       .kernel = mel_kernel,
       .since = 17,
       .params = {{.index = 0, .attr = "num_mel_bins", .since = 17},
                  {.index = 1, .attr = "dft_length", .since = 17},
                  {.index = 2, .attr = "sample_rate", .since = 17},
                  {.index = 3, .attr = "lower_edge_hertz", .since = 17},
                  {.index = 4, .attr = "upper_edge_hertz", .since = 17}}},
  };
}

}  // namespace isomer
