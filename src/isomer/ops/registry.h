#pragma once
// The list of all operators. To add a family, write a file that defines `std::vector<OpDef> NAME_ops()`, and add one
// line here and one in registry.cc.

#include <string_view>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// All declared operators, sorted by name. Addresses are valid for the life of the program.
const std::vector<const OpDef*>& all_ops();

/// The operator `name`, or nullptr.
const OpDef* find_op(std::string_view name, std::string_view domain = "");

/// The operator `name` of the standard domain. It must be declared.
const OpDef& op(std::string_view name);

// The families, each in the file of the same name.
std::vector<OpDef> activation_ops();      // relu, sigmoid, gelu, swish, prelu, dropout, ...
std::vector<OpDef> clip_ops();            // clip
std::vector<OpDef> softmax_ops();         // softmax, log-softmax, hardmax
std::vector<OpDef> arithmetic_ops();      // add, mul, pow, min, max, sum, mod, ...
std::vector<OpDef> compare_ops();         // equal, less, and, or, not, where, bitwise, ...
std::vector<OpDef> unary_ops();           // exp, sqrt, neg, floor, trigonometry, identity, ...
std::vector<OpDef> cast_ops();            // cast, cast-like, bit-cast
std::vector<OpDef> conv_ops();            // convolution
std::vector<OpDef> conv_transpose_ops();  // transposed convolution
std::vector<OpDef> deform_conv_ops();     // deformable convolution
std::vector<OpDef> pool_ops();            // max, average, lp, global pooling
std::vector<OpDef> roi_ops();             // pooling over regions of interest, max unpooling
std::vector<OpDef> norm_ops();            // batch, instance, group normalization, lrn
std::vector<OpDef> layer_norm_ops();      // layer, rms, lp, mean-variance normalization
std::vector<OpDef> matmul_ops();          // matmul, gemm, determinant
std::vector<OpDef> einsum_ops();          // einsum
std::vector<OpDef> reduce_ops();          // reductions
std::vector<OpDef> order_ops();           // arg-max, arg-min, top-k
std::vector<OpDef> cumulative_ops();      // running sums and products
std::vector<OpDef> attention_ops();       // attention
std::vector<OpDef> rotary_ops();          // rotary embedding
std::vector<OpDef> loss_ops();            // classification losses
std::vector<OpDef> reshape_ops();   // reshape, flatten, squeeze, unsqueeze, transpose, expand, tile, identity, ...
std::vector<OpDef> concat_ops();    // concat, split
std::vector<OpDef> gather_ops();    // gather, reverse-sequence
std::vector<OpDef> resize_ops();    // resize
std::vector<OpDef> generate_ops();  // constant of shape, range, eye-like, shape, size, trilu
std::vector<OpDef> window_function_ops();  // the windows of signal processing
std::vector<OpDef> recurrent_ops();        // rnn, gru, lstm
std::vector<OpDef> slice_ops();            // slice
std::vector<OpDef> pad_ops();              // pad, center-crop-pad
std::vector<OpDef> scatter_ops();          // scatter-elements, scatter-nd, tensor-scatter
std::vector<OpDef> select_ops();     // one-hot, and operators with data-dependent result sizes: non-zero, unique, ...
std::vector<OpDef> suppress_ops();   // non-max suppression
std::vector<OpDef> rearrange_ops();  // depth to space, space to depth, columns to images
std::vector<OpDef> sample_ops();     // grid sample, affine grid
std::vector<OpDef> text_ops();       // strings
std::vector<OpDef> signal_ops();     // dft, stft, mel weights

}  // namespace isomer
