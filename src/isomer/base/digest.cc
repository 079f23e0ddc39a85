#include "isomer/base/digest.h"

#include <cstdio>
#include <memory>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace isomer {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

std::string digest_str(XXH128_hash_t hash) { return fmt::format("xxh128:{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string text_digest(std::string_view text) { return digest_str(XXH3_128bits(text.data(), text.size())); }

Result<FileDigest> file_digest(const std::filesystem::path& path) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  if (error) return fail("{}: {}", path.string(), error.message());
  if (!regular) return fail("{}: it is not a regular file", path.string());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return fail("{}: it cannot be read", path.string());
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  FileDigest out;
  std::vector<char> piece(kPiece);
  for (size_t size = piece.size(); size == piece.size();) {
    size = std::fread(piece.data(), 1, piece.size(), file.get());
    XXH3_128bits_update(state.get(), piece.data(), size);
    out.bytes += size;
  }
  if (std::ferror(file.get()) != 0) return fail("{}: it cannot be read", path.string());
  out.digest = digest_str(XXH3_128bits_digest(state.get()));
  return out;
}

}  // namespace isomer
