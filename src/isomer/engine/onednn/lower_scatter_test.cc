#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

int references_of(const std::string& text, const std::vector<Tensor>& inputs) {
  const Graph graph = graph_of(text);
  expect_as_reference(graph, inputs, {.threads = 3, .tune = false});
  return references(expect_as_reference(graph, inputs));
}

TEST(Scatter, IsThatOfTheReference) {
  const Tensor x = random_tensor(DType::Float, {6, 5, 37}, 1);
  for (const char* const reduction : {"none", "add"}) {
    SCOPED_TRACE(reduction);
    const std::string attrs = fmt::format(" {{reduction=\"{}\"}}\nreturn y", reduction);
    // Rows are written twice, and counted from the back.
    EXPECT_EQ(
        references_of("input x: f32[6,5,37]\ninput i: i64[4,1]\ninput u: f32[4,5,37]\ny = ScatterND(x, i, u)" + attrs,
                      {x, Tensor::ints({4, 1}, {2, -1, 2, 5}), random_tensor(DType::Float, {4, 5, 37}, 2)}),
        0);
    EXPECT_EQ(
        references_of("input x: f32[6,5,37]\ninput i: i64[3,2]\ninput u: f32[3,37]\ny = ScatterND(x, i, u)" + attrs,
                      {x, Tensor::ints({3, 2}, {0, 1, -6, -4, 5, 4}), random_tensor(DType::Float, {3, 37}, 2)}),
        0);
    EXPECT_EQ(references_of("input x: f32[6,5,37]\ninput i: i64[2,3]\ninput u: f32[2]\ny = ScatterND(x, i, u)" + attrs,
                            {x, Tensor::ints({2, 3}, {0, 1, 36, 5, 4, 0}), random_tensor(DType::Float, {2}, 2)}),
              0);
    // Into zeros, over a value that nothing else reads, and over one that is an output.
    const std::string onto_zeros = fmt::format(
        "input i: i64[2,1]\ninput u: f32[2,3]\nz = f32[4,3]{{0,0,0,0,0,0,0,0,0,0,0,0}}\ny = ScatterND(z, i, u){}",
        attrs);
    const std::string onto_value = fmt::format(
        "input x: f32[4,3]\ninput i: i64[2,1]\ninput u: f32[2,3]\nt = Tanh(x)\ny = ScatterND(t, i, u){}", attrs);
    const Tensor old = random_tensor(DType::Float, {4, 3}, 1), rows = random_tensor(DType::Float, {2, 3}, 2);
    const Tensor places = Tensor::ints({2, 1}, {3, 1});
    EXPECT_EQ(references_of(onto_zeros, {places, rows}), 0);
    EXPECT_EQ(references_of(onto_value, {old, places, rows}), 0);
    EXPECT_EQ(references_of(onto_value + ", t", {old, places, rows}), 0);
    // A row that was written is read as an update later.
    EXPECT_EQ(references_of("input x: f32[4,3]\ninput i: i64[4,1]\nt = Tanh(x)\ny = ScatterND(t, i, t)" + attrs,
                            {random_tensor(DType::Float, {4, 3}, 1), Tensor::ints({4, 1}, {1, 2, 3, 0})}),
              0);
    // Rows of which several threads write parts.
    EXPECT_EQ(references_of(
                  "input i: i64[40,1]\ninput u: f32[40,3001]\nz = ConstantOfShape() {shape=[50,3001], "
                  "value=f32[1]{0}}\ny = ScatterND(z, i, u)" +
                      attrs,
                  {Tensor::ints({40, 1}, std::vector<int64_t>(40, 33)), random_tensor(DType::Float, {40, 3001}, 1)}),
              0);
  }
  const std::string text = "input x: f32[2,3]\ninput i: i64[1,1]\ninput u: f32[1,3]\ny = ScatterND(x, i, u)";
  EXPECT_EQ(references_of(text + " {reduction=\"max\"}\nreturn y",
                          {random_tensor(DType::Float, {2, 3}, 1), Tensor::ints({1, 1}, {1}),
                           random_tensor(DType::Float, {1, 3}, 2)}),
            1);
}

TEST(Scatter, RefusesPlacesOutside) {
  const Graph graph =
      graph_of("input x: f32[2,3]\ninput i: i64[1,1]\ninput u: f32[1,3]\ny = ScatterND(x, i, u)\nreturn y");
  for (const int64_t at : {-3, 2}) {
    const std::vector<Tensor> inputs = {random_tensor(DType::Float, {2, 3}, 1), Tensor::ints({1, 1}, {at}),
                                        random_tensor(DType::Float, {1, 3}, 2)};
    EXPECT_FALSE(plan_of(graph, inputs, {.tune = false}).run(inputs).has_value()) << at;
  }
}

TEST(OneHot, IsThatOfTheReference) {
  for (const int64_t axis : {0, 1, 2}) {
    // Some are counted from the back, some mark nothing.
    const std::string text =
        fmt::format("input i: i64[2,3]\nv = f32[2]{{seed 1}}\ny = OneHot(i, v) {{depth=5, axis={}}}\nreturn y", axis);
    EXPECT_EQ(references_of(text, {Tensor::ints({2, 3}, {0, 4, -1, -5, 5, -6})}), 0) << axis;
    EXPECT_EQ(references_of("input i: i64[2,3]\nj = Cast(i) {to=6}\nv = f32[2]{seed 1}\n" +
                                fmt::format("y = OneHot(j, v) {{depth=5, axis={}}}\nreturn y", axis),
                            {Tensor::ints({2, 3}, {0, 4, -1, -5, 5, -6})}),
              1)
        << axis;  // the cast
  }
}

}  // namespace
}  // namespace isomer::onednn
