#include "isomer/onnx/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "isomer/base/file.h"
#include "isomer/ir/scanner.h"
#include "isomer/onnx/utf32.h"

namespace isomer {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Kind {
  std::string_view name;  // NumPy's name without the byte order
  DType dtype;
  size_t word;  // bytes with a common byte order: half of a complex number
};
constexpr std::array<Kind, 15> kKinds = {{
    {"b1", DType::Bool, 1},
    {"i1", DType::Int8, 1},
    {"i2", DType::Int16, 2},
    {"i4", DType::Int32, 4},
    {"i8", DType::Int64, 8},
    {"u1", DType::Uint8, 1},
    {"u2", DType::Uint16, 2},
    {"u4", DType::Uint32, 4},
    {"u8", DType::Uint64, 8},
    {"f2", DType::Half, 2},
    {"f4", DType::Float, 4},
    {"f8", DType::Double, 8},
    {"c8", DType::Complex64, 4},
    {"c16", DType::Complex128, 8},
    {"V2", DType::BFloat16, 2},
}};

/// The contents of the header.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> dims;
};

Result<std::string> python_string(Scanner& in) {
  const bool single = in.accept("'");
  if (!single) ISOMER_CHECK(in.expect("\""));
  std::string text = in.raw_until(single ? "'" : "\"");
  ISOMER_CHECK(in.expect(single ? "'" : "\""));
  return text;
}

Result<std::vector<int64_t>> python_shape(Scanner& in) {
  std::vector<int64_t> dims;
  ISOMER_CHECK(in.expect("("));
  while (!in.accept(")")) {
    ISOMER_TRY(const int64_t dim, in.integer());
    if (dim < 0) return fail("an extent is negative");
    dims.push_back(dim);
    if (!in.accept(",") && in.peek() != ')') return fail("a malformed shape");
  }
  return dims;
}

/// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
Result<Header> parse_header(std::string_view text) {
  Scanner in(text);
  Header header;
  int keys = 0;
  ISOMER_CHECK(in.expect("{"));
  while (!in.accept("}")) {
    ISOMER_TRY(const std::string key, python_string(in));
    ISOMER_CHECK(in.expect(":"));
    if (key == "descr") {
      if (in.peek() == '[') return fail("structured elements are not supported");
      ISOMER_TRY(header.descr, python_string(in));
    } else if (key == "fortran_order") {
      header.fortran_order = in.accept_word("True");
      if (!header.fortran_order && !in.accept_word("False")) return fail("fortran_order is neither True nor False");
    } else if (key == "shape") {
      ISOMER_TRY(header.dims, python_shape(in));
    } else {
      return fail("unknown key '{}'", key);
    }
    ++keys;
    if (!in.accept(",") && in.peek() != '}') return fail("a malformed header");
  }
  if (keys != 3) return fail("a header without descr, fortran_order and shape");
  return header;
}

/// Parses the header and removes it from `bytes`.
Result<Header> take_header(std::string_view& bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 4) return fail("not a .npy file");
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[at])); };
  const uint32_t major = byte(6);
  if (major < 1 || major > 3) return fail("unknown format version {}", major);
  const size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) return fail("cut off");
  const size_t length = major == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - start < length) return fail("cut off within the header");
  auto header = parse_header(bytes.substr(start, length));
  bytes.remove_prefix(start + length);
  return header;
}

void swap_words(std::span<std::byte> bytes, size_t word) {
  for (size_t at = 0; at + word <= bytes.size(); at += word) {
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(at + word));
  }
}

/// Reorders elements of `width` bytes from Fortran order to C order.
std::string to_c_order(std::string_view data, const std::vector<int64_t>& dims, size_t width) {
  std::string result(data.size(), '\0');
  std::vector<int64_t> position(dims.size(), 0);
  for (size_t to = 0; to < data.size(); to += width) {
    size_t from = 0;
    for (size_t axis = dims.size(); axis-- > 0;)
      from = from * static_cast<size_t>(dims[axis]) + static_cast<size_t>(position[axis]);
    std::memcpy(result.data() + to, data.data() + from * width, width);
    for (size_t axis = dims.size(); axis-- > 0 && ++position[axis] == dims[axis];) position[axis] = 0;
  }
  return result;
}

/// The number of elements. Fails unless `bytes` is their total size.
Result<size_t> check_size(const std::vector<int64_t>& dims, size_t width, size_t bytes) {
  size_t count = 1, total = 0;
  // If one extent is zero, the others do not matter.
  if (std::ranges::find(dims, 0) != dims.end()) count = 0;
  for (const int64_t dim : dims) {
    if (count != 0 && __builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) return fail("too many elements");
  }
  if (__builtin_mul_overflow(count, width, &total)) return fail("too many elements");
  if (total != bytes) return fail("{} bytes of elements, but the header says {}", bytes, total);
  return count;
}

Result<Tensor> parse_text(const Header& header, std::string_view data) {
  Scanner in(std::string_view(header.descr).substr(2));
  const bool wide = header.descr[1] == 'U';
  const auto length = in.integer();
  if (!length || *length < 0 || *length > (1 << 28) || !in.at_end()) {
    return fail("unknown element type '{}'", header.descr);
  }
  const size_t width = static_cast<size_t>(*length) * (wide ? 4 : 1);
  ISOMER_TRY(const size_t count, check_size(header.dims, width, data.size()));
  if (width == 0 && count > (1 << 24)) return fail("too many elements");  // elements without bytes
  const std::string ordered = header.fortran_order ? to_c_order(data, header.dims, width) : std::string(data);
  std::vector<std::string> elements;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view element = std::string_view(ordered).substr(i * width, width);
    if (wide) {
      ISOMER_TRY(std::string text, utf8_from_utf32(element, header.descr[0] == '>'));
      elements.push_back(std::move(text));
    } else {
      elements.emplace_back(element.substr(0, element.find_last_not_of('\0') + 1));
    }
  }
  return Tensor::strings(header.dims, std::move(elements));
}

Result<Tensor> parse_elements(const Header& header, std::string_view data) {
  const bool ordered = header.descr.size() > 2 && std::string_view("<>|=").find(header.descr[0]) != std::string::npos;
  if (ordered && (header.descr[1] == 'U' || header.descr[1] == 'S')) return parse_text(header, data);
  const auto kind = std::ranges::find(kKinds, std::string_view(header.descr).substr(ordered ? 1 : 0), &Kind::name);
  if (!ordered || kind == kKinds.end()) return fail("unknown element type '{}'", header.descr);
  const size_t width = dtype_bits(kind->dtype) / 8;
  ISOMER_CHECK(check_size(header.dims, width, data.size()).map([](size_t) {}));
  Tensor tensor = Tensor::zeros(kind->dtype, header.dims);
  const auto bytes = tensor.mutable_bytes();
  const std::string reordered = header.fortran_order ? to_c_order(data, header.dims, width) : "";
  if (!data.empty()) std::memcpy(bytes.data(), header.fortran_order ? reordered.data() : data.data(), data.size());
  if (header.descr[0] == '>') swap_words(bytes, kind->word);
  if (kind->dtype == DType::Bool) {
    for (std::byte& one : bytes) one = std::byte{one != std::byte{0}};
  }
  return tensor;
}

}  // namespace

Result<Tensor> parse_npy(std::string_view bytes) {
  ISOMER_TRY(const Header header, take_header(bytes));
  return parse_elements(header, bytes);
}

Result<Tensor> read_npy(const std::filesystem::path& path) {
  ISOMER_TRY(const std::string bytes, read_file(path));
  return in_context(path.string(), parse_npy(bytes));
}

Result<std::string> npy_bytes(const Tensor& tensor) {
  std::string descr, data;
  if (tensor.dtype() == DType::String) {
    ISOMER_TRY(Utf32 text, utf32_from_utf8(tensor.string_elements()));
    descr = fmt::format("<U{}", text.length);
    data = std::move(text.bytes);
  } else {
    const auto kind = std::ranges::find(kKinds, tensor.dtype(), &Kind::dtype);
    if (kind == kKinds.end()) return fail("a .npy file cannot hold {}", dtype_name(tensor.dtype()));
    const bool no_order = kind->word == 1 || kind->dtype == DType::BFloat16;
    descr = fmt::format("{}{}", no_order ? '|' : '<', kind->name);
    const auto raw = tensor.bytes();
    data.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                   fmt::join(tensor.dims(), ", "), tensor.dims().size() == 1 ? "," : "");
  // The data begins at a multiple of 64, and the header ends with a newline.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 0xFFFF) return fail("too many dimensions for a .npy file");
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return bytes + header + data;
}

Status write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  ISOMER_TRY(const std::string bytes, in_context(path.string(), npy_bytes(tensor)));
  return write_file(path, bytes);
}

}  // namespace isomer
