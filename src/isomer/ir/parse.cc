// Parses a graph from text.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "isomer/base/rng.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/scanner.h"
#include "isomer/ir/text.h"

namespace isomer {
namespace {

constexpr std::string_view kNameCharacters = "_./$%";

class GraphParser {
 public:
  GraphParser(std::string_view text, FindOp find_op) : scan_(text), find_op_(find_op) {}

  Result<Graph> parse() {
    while (!scan_.at_end()) {
      if (scan_.accept_word("return")) return finish();
      if (auto status = statement(); !status) return tl::unexpected<Error>(status.error());
    }
    return scan_.error("the graph has no 'return'");
  }

 private:
  Result<TensorType> type() {
    ISOMER_TRY(const std::string name, scan_.identifier());
    const auto dtype = dtype_from_name(name);
    if (!dtype && name != "undefined") return scan_.error("unknown element type '" + name + "'");
    ISOMER_CHECK(scan_.expect("["));
    TensorType type;
    type.dtype = dtype.value_or(DType::Undefined);
    if (scan_.accept("?]")) return type;
    Shape shape;
    while (!scan_.accept("]")) {
      if (!shape.empty()) ISOMER_CHECK(scan_.expect(","));
      const std::string extent = scan_.raw_until(",]");
      // The type would be printed like one of unknown shape.
      if (extent == "?") return scan_.error("an unknown extent needs a name");
      ISOMER_TRY(Dim dim, parse_dim(extent));
      shape.push_back(std::move(dim));
      if (scan_.at_end()) return scan_.error("unfinished type");
    }
    type.shape = std::move(shape);
    return type;
  }

  template <class T>
  Status elements(Tensor& tensor) {
    for (T& out : tensor.mutable_data<T>()) {
      scan_.accept(",");
      bool is_float = false;
      if constexpr (std::is_integral_v<T>) {
        ISOMER_TRY(const int64_t value, scan_.integer());
        if (!std::in_range<T>(value)) return scan_.error(fmt::format("{} is out of the elements' range", value));
        out = static_cast<T>(value);
      } else {
        ISOMER_TRY(const double value, scan_.number(is_float));
        out = to_float<T>(value);
      }
    }
    return {};
  }

  /// Rounds as the hardware does: numbers that are too large become infinite.
  template <class T>
  static T to_float(double value) {
    constexpr double kMaxFinite = std::numeric_limits<T>::max();
    const bool finite = std::isfinite(value);
    if (finite && std::abs(value) > kMaxFinite) return static_cast<T>(std::copysign(HUGE_VAL, value));
    return static_cast<T>(value);
  }

  template <class T>
  Status fill(Tensor& tensor, const std::function<double()>& next) {
    for (T& out : tensor.mutable_data<T>()) {
      const double value = next();
      if constexpr (std::is_integral_v<T>) {
        constexpr auto kMin = static_cast<double>(std::numeric_limits<T>::min());
        if (!(value >= kMin && value < -kMin))
          return scan_.error(fmt::format("{} is out of the elements' range", value));
        out = static_cast<T>(value);
      } else {
        out = to_float<T>(value);
      }
    }
    return {};
  }

  Status generated(Tensor& tensor, const std::function<double()>& next) {
    switch (tensor.dtype()) {
      case DType::Float:
        return fill<float>(tensor, next);
      case DType::Double:
        return fill<double>(tensor, next);
      case DType::Int64:
        return fill<int64_t>(tensor, next);
      case DType::Int32:
        return fill<int32_t>(tensor, next);
      default:
        return scan_.error("only f32, f64, i32 and i64 constants can be generated");
    }
  }

  /// Fails if the constants become too large in total, so that a short text cannot allocate unlimited memory.
  Status take_memory(DType dtype, const std::vector<int64_t>& dims) {
    const size_t width = dtype == DType::String ? sizeof(std::string) : (dtype_bits(dtype) + 7) / 8;
    size_t bytes = width;
    for (const int64_t dim : dims) {
      // Extents of 0 count as 1, because the other extents must be valid too.
      if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(std::max<int64_t>(dim, 1)), &bytes))
        return scan_.error("a constant of that many elements");
    }
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return {};
    if (bytes > memory_left_) return scan_.error("the constants of the text are too large");
    memory_left_ -= bytes;
    return {};
  }

  Result<Tensor> tensor(const TensorType& type) {
    const auto dims = type.shape ? concrete(*type.shape) : std::nullopt;
    if (!dims) return scan_.error("a constant needs concrete extents");
    ISOMER_CHECK(scan_.expect("{"));
    ISOMER_CHECK(take_memory(type.dtype, *dims));
    Tensor out = Tensor::zeros(type.dtype, *dims);
    if (scan_.accept_word("seed")) {
      ISOMER_TRY(const int64_t seed, scan_.integer());
      Rng rng(static_cast<uint64_t>(seed));
      const bool real = is_real(type.dtype);
      ISOMER_CHECK(
          generated(out, [&] { return real ? 2 * rng.uniform() - 1 : static_cast<double>(rng.between(0, 7)); }));
    } else if (scan_.accept_word("fill")) {
      bool is_float = false;
      ISOMER_TRY(const double value, scan_.number(is_float));
      ISOMER_CHECK(generated(out, [&] { return value; }));
    } else {
      ISOMER_CHECK(listed(out));
    }
    ISOMER_CHECK(scan_.expect("}"));
    return out;
  }

  Status listed(Tensor& out) {
    switch (out.dtype()) {
      case DType::Float:
        return elements<float>(out);
      case DType::Double:
        return elements<double>(out);
      case DType::Int64:
        return elements<int64_t>(out);
      case DType::Int32:
        return elements<int32_t>(out);
      case DType::Bool:
      case DType::Uint8:
        return elements<uint8_t>(out);
      case DType::String:
        for (std::string& s : out.mutable_strings()) {
          scan_.accept(",");
          ISOMER_TRY(s, scan_.quoted_string());
        }
        return {};
      default: {
        if (!scan_.accept_word("bytes")) return scan_.error("elements of this type are written as bytes \"...\"");
        ISOMER_TRY(const std::string bytes, scan_.quoted_string());
        const auto to = out.mutable_bytes();
        if (bytes.size() != to.size()) return scan_.error("wrong number of bytes");
        for (size_t i = 0; i < bytes.size(); ++i) to[i] = static_cast<std::byte>(bytes[i]);
        return {};
      }
    }
  }

  Result<AttrValue> list() {
    ISOMER_CHECK(scan_.expect("["));
    Ints ints;
    Floats floats;
    Strings strings;
    bool any_float = false;
    while (!scan_.accept("]")) {
      if (!ints.empty() || !strings.empty()) ISOMER_CHECK(scan_.expect(","));
      if (scan_.peek() == '"') {
        ISOMER_TRY(std::string text, scan_.quoted_string());
        strings.push_back(std::move(text));
        continue;
      }
      const size_t at = scan_.position();
      const int line = scan_.line();
      bool is_float = false;
      ISOMER_TRY(const double value, scan_.number(is_float));
      if (!is_float) {
        scan_.rewind(at, line);
        ISOMER_TRY(const int64_t exact, scan_.integer());
        ints.push_back(exact);
      } else {
        ints.push_back(0);
      }
      floats.push_back(static_cast<float>(value));
      any_float = any_float || is_float;
    }
    if (!strings.empty()) return AttrValue(std::move(strings));
    if (any_float) return AttrValue(std::move(floats));
    return AttrValue(std::move(ints));
  }

  Result<AttrValue> attr_value(const AttrDef* def) {
    const char c = scan_.peek();
    if (c == '[') {
      ISOMER_TRY(AttrValue value, list());
      const auto* ints = std::get_if<Ints>(&value);
      if (ints != nullptr && ints->empty() && def != nullptr && def->kind == AttrKind::Floats)
        return AttrValue(Floats());
      if (ints != nullptr && ints->empty() && def != nullptr && def->kind == AttrKind::Strings)
        return AttrValue(Strings());
      return value;
    }
    if (c == '"') {
      ISOMER_TRY(std::string text, scan_.quoted_string());
      return AttrValue(std::move(text));
    }
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 && !scan_.looking_at("inf") && !scan_.looking_at("nan")) {
      ISOMER_TRY(const TensorType tensor_type, type());
      ISOMER_TRY(Tensor value, tensor(tensor_type));
      return AttrValue(std::move(value));
    }
    const size_t at = scan_.position();
    const int line = scan_.line();
    bool is_float = false;
    ISOMER_TRY(const double value, scan_.number(is_float));
    if (is_float || (def != nullptr && def->kind == AttrKind::Float)) return AttrValue(static_cast<float>(value));
    scan_.rewind(at, line);
    ISOMER_TRY(const int64_t exact, scan_.integer());
    return AttrValue(exact);
  }

  Result<Attrs> attrs(const OpDef& op) {
    std::vector<Attrs::Entry> entries;
    if (!scan_.accept("{")) return Attrs();
    while (!scan_.accept("}")) {
      if (!entries.empty()) ISOMER_CHECK(scan_.expect(","));
      ISOMER_TRY(std::string name, scan_.identifier("_@"));
      ISOMER_CHECK(scan_.expect("="));
      ISOMER_TRY(AttrValue value, attr_value(op.find_attr(name)));
      entries.emplace_back(std::move(name), std::move(value));
    }
    return Attrs(std::move(entries));
  }

  Result<ValueId> value(const std::string& name) {
    if (name == "_") return kNoValue;
    const auto found = values_.find(name);
    if (found == values_.end()) return scan_.error("value '" + name + "' is not defined");
    return found->second;
  }

  Status define(const std::string& name, ValueId id) {
    if (!values_.emplace(name, id).second) return scan_.error("value '" + name + "' is defined twice");
    builder_.name(id, name);
    return {};
  }

  Status statement() {
    const bool parameter = scan_.accept_word("parameter");
    if (parameter || scan_.accept_word("input")) {
      ISOMER_TRY(const std::string name, scan_.identifier(kNameCharacters));
      ISOMER_CHECK(scan_.expect(":"));
      ISOMER_TRY(TensorType input_type, type());
      return define(name,
                    parameter ? builder_.parameter(std::move(input_type)) : builder_.input(std::move(input_type)));
    }
    std::vector<std::string> results;
    do {
      ISOMER_TRY(std::string name, scan_.identifier(kNameCharacters));
      results.push_back(std::move(name));
    } while (scan_.accept(","));
    ISOMER_CHECK(scan_.expect("="));
    const size_t at = scan_.position();
    const int line = scan_.line();
    ISOMER_TRY(const std::string op_name, scan_.identifier());
    if (scan_.peek() == '[') {
      scan_.rewind(at, line);
      ISOMER_TRY(const TensorType tensor_type, type());
      ISOMER_TRY(Tensor data, tensor(tensor_type));
      return define(results[0], builder_.constant(std::move(data)));
    }
    return call(op_name, results);
  }

  Status call(const std::string& op_name, const std::vector<std::string>& results) {
    const OpDef* op = op_name == opaque_op().name ? &opaque_op() : find_op_(op_name, "");
    if (op == nullptr) return scan_.error("unknown operator '" + op_name + "'");
    ISOMER_CHECK(scan_.expect("("));
    std::vector<ValueId> operands;
    while (!scan_.accept(")")) {
      if (!operands.empty()) ISOMER_CHECK(scan_.expect(","));
      ISOMER_TRY(const std::string name, scan_.identifier(kNameCharacters));
      ISOMER_TRY(const ValueId operand, value(name));
      operands.push_back(operand);
    }
    ISOMER_TRY(const Attrs given, attrs(*op));
    NodeId id = 0;
    if (op == &opaque_op()) {
      std::vector<TensorType> types;
      ISOMER_CHECK(scan_.expect(":"));
      do {
        ISOMER_TRY(TensorType result, type());
        types.push_back(std::move(result));
      } while (scan_.accept(","));
      id = builder_.opaque(given, operands, std::move(types));
    } else {
      auto made = builder_.node(*op, given, operands, results.size());
      if (!made) return scan_.error(made.error().message);
      id = *made;
    }
    if (builder_.at(id).num_results < results.size()) return scan_.error(op_name + " has fewer results");
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i] != "_") ISOMER_CHECK(define(results[i], builder_.at(id).result(static_cast<uint32_t>(i))));
    return {};
  }

  Result<Graph> finish() {
    std::vector<ValueId> outputs;
    do {
      ISOMER_TRY(const std::string name, scan_.identifier(kNameCharacters));
      ISOMER_TRY(const ValueId output, value(name));
      if (output == kNoValue) return scan_.error("'_' stands for no value, so it cannot be returned");
      outputs.push_back(output);
    } while (scan_.accept(","));
    if (!scan_.at_end()) return scan_.error("there is text after 'return'");
    return builder_.finish(outputs);
  }

  Scanner scan_;
  FindOp find_op_;
  GraphBuilder builder_;
  std::map<std::string, ValueId> values_;
  size_t memory_left_ = size_t{1} << 30;  // bytes that are left for constants
};

/// Returns the number that digits stand for; Dim::kHuge if it is larger.
Dim number(const std::string& digits) {
  int64_t value = Dim::kHuge;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);  // keeps the value if it is out of range
  return std::min(value, Dim::kHuge);
}

/// Whether the text is a valid name of an unknown extent: a symbol, or a function of symbols such as floor((N-1)/2).
/// Other names could not be parsed again after printing.
bool is_symbol(const std::string& text) {
  int depth = 0;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("_?.,()+-*/").find(c) == std::string::npos)
      return false;
    if (depth == 0 && std::string_view("+-*").find(c) != std::string_view::npos) return false;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

}  // namespace

Result<Dim> parse_dim(const std::string& text) {
  const auto split_at = [&](std::string_view operators) -> size_t {
    int depth = 0;
    for (size_t i = text.size(); i-- > 1;) {
      if (text[i] == ')') ++depth;
      if (text[i] == '(') --depth;
      if (depth == 0 && operators.find(text[i]) != std::string_view::npos) return i;
    }
    return std::string::npos;
  };
  if (text.empty()) return fail("empty dimension");
  if (const size_t at = split_at("+-"); at != std::string::npos) {
    ISOMER_TRY(const Dim left, parse_dim(text.substr(0, at)));
    ISOMER_TRY(const Dim right, parse_dim(text.substr(at + 1)));
    return text[at] == '+' ? left + right : left - right;
  }
  if (text[0] == '-') {
    ISOMER_TRY(const Dim rest, parse_dim(text.substr(1)));
    return Dim(0) - rest;
  }
  if (const size_t at = split_at("*"); at != std::string::npos) {
    ISOMER_TRY(const Dim left, parse_dim(text.substr(0, at)));
    ISOMER_TRY(const Dim right, parse_dim(text.substr(at + 1)));
    return left * right;
  }
  if (text.find_first_not_of("0123456789") == std::string::npos) return number(text);
  if (!is_symbol(text)) return fail("'{}' is not a dimension", text);
  return Dim::symbol(text);
}

Result<Graph> parse_graph(std::string_view text, FindOp find_op) { return GraphParser(text, find_op).parse(); }

}  // namespace isomer
