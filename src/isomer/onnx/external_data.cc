#include "isomer/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace isomer {
namespace {

struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<uint64_t> parse_count(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail("the {} '{}' of its external data is not a count of bytes", key, text);
  return value;
}

Result<Place> read_place(const onnx::TensorProto& tensor) {
  Place place;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") {
      ISOMER_TRY(place.offset, parse_count("offset", entry.value()));
    }
    if (entry.key() == "length") {
      ISOMER_TRY(place.length, parse_count("length", entry.value()));
    }
  }
  if (place.location.empty()) return fail("its external data has no location");
  return place;
}

/// Checks the location as text; links are checked later.
Status check_location(const std::string& location) {
  if (location.find('\0') != std::string::npos) return fail("its name contains a null character");
  const std::filesystem::path path(location);
  if (path.is_absolute()) return fail("its path is absolute");
  if (std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; }))
    return fail("its path contains '..'");
  return {};
}

/// The file after following all symbolic links. It must be inside `folder`.
Result<std::filesystem::path> resolve(const std::filesystem::path& folder, const std::string& location) {
  std::error_code error;
  const auto root = std::filesystem::canonical(folder, error);
  if (error) return fail("the model's folder cannot be read: {}", error.message());
  auto path = std::filesystem::canonical(root / location, error);
  if (error) return fail("{}", error.message());
  const auto [root_end, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (root_end != root.end()) return fail("it is a link that leaves the model's folder");
  return path;
}

}  // namespace

Result<std::shared_ptr<const InputFile>> ExternalData::file(const std::string& location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  if (folder_.empty()) return fail("the model has no folder");
  ISOMER_CHECK(check_location(location));
  ISOMER_TRY(const auto path, resolve(folder_, location));
  ISOMER_TRY(auto opened, InputFile::open(path, {.single_link = true}));
  files_.emplace(location, opened);
  return opened;
}

Result<FileBytes> ExternalData::read(const std::string& location, uint64_t offset, size_t size) {
  const InputFile& opened = *files_.at(location);
  if (!opened.copies()) return opened.bytes(offset, size);
  const auto place = std::tuple(location, offset, size);
  if (const auto known = copies_.find(place); known != copies_.end()) return known->second;
  ISOMER_CHECK(allow_copy(size));
  ISOMER_TRY(FileBytes copy, opened.bytes(offset, size));
  return copies_.emplace(place, std::move(copy)).first->second;
}

Result<FileBytes> ExternalData::find(const onnx::TensorProto& tensor, size_t size) {
  ISOMER_TRY(const Place place, read_place(tensor));
  const std::string where = fmt::format("external data '{}'", place.location);
  ISOMER_TRY(const auto opened, in_context(where, file(place.location)));
  const uint64_t end = opened->size();
  if (place.length && *place.length != size)
    return fail("its external data has {} bytes, but its type needs {}", *place.length, size);
  if (place.offset > end || end - place.offset < size)
    return fail("external data '{}' ends at byte {}, but the tensor needs {} bytes from {}", place.location, end, size,
                place.offset);
  return in_context(where, read(place.location, place.offset, size));
}

std::vector<std::string> ExternalData::used() const {
  std::vector<std::string> out;
  for (const auto& [name, file] : files_) out.push_back(name);
  return out;
}

Status ExternalData::allow_copy(size_t size) {
  size_t limit = size_t{1} << 20;
  for (const auto& [name, opened] : files_) limit += 2 * opened->size();
  if (limit - copied_ < size) return fail("the model uses the same external data too often");
  copied_ += size;
  return {};
}

}  // namespace isomer
