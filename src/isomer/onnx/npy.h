#pragma once
// NumPy's .npy files: one tensor each.

#include <filesystem>
#include <string>
#include <string_view>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// Reads a .npy file of version 1 to 3: booleans, integers, floats, complex numbers and text, in either byte order, in
/// C or Fortran order. Raw elements of two bytes (`|V2`, as written by ml_dtypes) are bfloat16. An Error names the
/// file.
Result<Tensor> read_npy(const std::filesystem::path& path);
/// As read_npy, from bytes.
Result<Tensor> parse_npy(std::string_view bytes);

/// Writes a .npy file under a temporary name and then renames it. bfloat16 becomes `|V2`, text becomes UTF-32 (`<U`).
/// Fails for element types that NumPy does not have.
Status write_npy(const std::filesystem::path& path, const Tensor& tensor);
/// As write_npy, to bytes.
Result<std::string> npy_bytes(const Tensor& tensor);

}  // namespace isomer
