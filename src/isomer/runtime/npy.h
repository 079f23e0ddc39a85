#pragma once
// NumPy's .npy files: one tensor each.

#include <filesystem>
#include <string>
#include <string_view>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// Reads a .npy file of format 1 to 3: booleans, integers, floats, complex numbers and text, of either byte order, in C
/// or Fortran order. Raw elements of two bytes (`|V2`, as ml_dtypes writes them) are bfloat16. An Error names the file.
Result<Tensor> read_npy(const std::filesystem::path& path);
/// As read_npy, from bytes.
Result<Tensor> parse_npy(std::string_view bytes);

/// Writes a .npy file, through a temporary name. bfloat16 becomes `|V2`, text UTF-32 (`<U`). Fails on element types
/// that NumPy has no name for.
Status write_npy(const std::filesystem::path& path, const Tensor& tensor);
/// As write_npy, to bytes.
Result<std::string> npy_bytes(const Tensor& tensor);

}  // namespace isomer
