#include "isomer/discover/pass_log.h"

#include <cstring>
#include <fstream>

#include "isomer/base/file.h"
#include "isomer/base/hash.h"

namespace isomer {
namespace {

constexpr uint64_t kFormat = 1;

std::vector<uint64_t> words_of(const PassResult& pass) {
  std::vector<uint64_t> out{pass.terms, pass.values, pass.equal.size()};
  for (const EqualTerms& each : pass.equal) {
    out.push_back(each.term.bits());
    out.push_back(each.least.bits());
  }
  return out;
}

uint64_t checksum(std::span<const uint64_t> words) {
  return hash_bytes(words.data(), words.size() * sizeof(uint64_t), kFormat);
}

/// Returns the pass at the start of `words`, with its length; nothing if it is incomplete.
std::optional<std::pair<PassResult, size_t>> read_pass(std::span<const uint64_t> words) {
  if (words.size() < 4 || words[2] > (words.size() - 4) / 2) return std::nullopt;
  const size_t size = 3 + 2 * words[2];
  if (checksum(words.first(size)) != words[size]) return std::nullopt;
  PassResult out{words[0], words[1], {}};
  for (size_t i = 3; i < size; i += 2)
    out.equal.push_back({TermCode::from_bits(words[i]), TermCode::from_bits(words[i + 1])});
  return std::pair(std::move(out), size + 1);
}

}  // namespace

uint64_t enumeration_key(const Universe& universe, size_t max_nodes, size_t passes) {
  uint64_t key = hash_mix(hash_mix(kFormat, max_nodes), passes);
  for (const UniverseInput& input : universe.inputs) {
    key = hash_mix(hash_text(input.constant ? print_term(*input.constant) : input.name, key), input.group);
    for (const int64_t dim : input.dims) key = hash_mix(key, static_cast<uint64_t>(dim));
  }
  for (const UniverseOp& op : universe.ops) {
    for (const Term& result : op.results) key = hash_text(print_term(result), key);
    for (const Expr& condition : op.conditions) key = hash_text(print_expr(condition), key);
  }
  return key;
}

Result<PassLog> PassLog::open(std::filesystem::path path, uint64_t key) {
  PassLog log(std::move(path), key);
  if (!std::filesystem::exists(log.path_)) return log;
  if (!std::filesystem::is_regular_file(log.path_)) return fail("{}: is not a regular file", log.path_.string());
  ISOMER_TRY(const std::string bytes, read_file(log.path_));
  std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint64_t));
  if (bytes.empty()) return log;
  if (words.empty() || words[0] != key)
    return fail("{} was made by an enumeration of another universe, size or number of passes", log.path_.string());
  size_t at = 1;
  while (auto pass = read_pass(std::span(words).subspan(at))) {
    log.passes_.push_back(std::move(pass->first));
    at += pass->second;
  }
  log.valid_bytes_ = at * sizeof(uint64_t);
  return log;
}

PassResult PassLog::run(size_t pass, const std::function<PassResult()>& work) {
  if (pass < passes_.size()) return std::move(passes_[pass]);
  PassResult result = work();
  if (status_) status_ = append(result);
  passes_.emplace_back();
  return result;
}

Status PassLog::append(const PassResult& pass) {
  std::vector<uint64_t> words = words_of(pass);
  words.push_back(checksum(words));
  std::error_code error;
  if (valid_bytes_ == 0) {
    words.insert(words.begin(), key_);
    std::ofstream(path_, std::ios::binary | std::ios::trunc).flush();
  } else {
    std::filesystem::resize_file(path_, valid_bytes_, error);  // removes an incomplete pass
  }
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  const size_t bytes = words.size() * sizeof(uint64_t);
  out.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(bytes));
  out.flush();
  if (!out || error) return fail("{} cannot be written", path_.string());
  valid_bytes_ += bytes;
  return {};
}

}  // namespace isomer
