#include "isomer/models/attention.h"

#include <cmath>
#include <limits>

namespace isomer {

ValueId split_heads(Net& net, ValueId x, int64_t heads, bool transposed) {
  Ints dims = net.extents(x);
  const int64_t width = dims.back() / heads;
  dims.back() = heads;
  dims.push_back(width);
  x = net.reshape(x, dims);
  if (dims.size() == 3) return net.transpose(x, transposed ? Ints{1, 2, 0} : Ints{1, 0, 2});
  return net.transpose(x, transposed ? Ints{0, 2, 3, 1} : Ints{0, 2, 1, 3});
}

ValueId join_heads(Net& net, ValueId x) {
  x = net.transpose(x, net.extents(x).size() == 3 ? Ints{1, 0, 2} : Ints{0, 2, 1, 3});
  Ints dims = net.extents(x);
  const int64_t width = dims.back();
  dims.pop_back();
  dims.back() *= width;
  return net.reshape(x, dims);
}

Ints sequence_dims(const Net& net, int64_t length, int64_t width) {
  return net.batch() == 1 ? Ints{length, width} : Ints{net.batch(), length, width};
}

ValueId attention(Net& net, ValueId q, ValueId k, ValueId v, int64_t heads, ValueId mask) {
  const int64_t width = net.extents(q).back() / heads;
  ValueId scores = net.matmul(split_heads(net, q, heads), split_heads(net, k, heads, true));
  scores = net.add("Div", {}, {scores, net.scalar(std::sqrt(static_cast<float>(width)))});
  if (mask != kNoValue) scores = net.add("Where", {}, {mask, scores, net.scalar(std::numeric_limits<float>::lowest())});
  return join_heads(net, net.matmul(net.softmax(scores), split_heads(net, v, heads)));
}

}  // namespace isomer
