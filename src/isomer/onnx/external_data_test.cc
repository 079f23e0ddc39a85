#include "isomer/onnx/external_data.h"

#include <sys/stat.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

using test::ProtoModel;
using testing::HasSubstr;

/// A model with one tensor of 4 floats at `location`.
ProtoModel model_at(const std::string& location, const std::string& offset = "", const std::string& length = "") {
  ProtoModel model;
  model.input("x", {"2"});
  auto* tensor = model.floats("w", {4}, {});
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    tensor->add_external_data()->set_key(key);
    tensor->mutable_external_data(tensor->external_data_size() - 1)->set_value(value);
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
  model.import("com.example", 1);
  model.node("Mystery", {"x", "w"}, {"y"}, "com.example");
  model.output("y");
  return model;
}

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "inside");
    std::filesystem::create_directory(folder_ / "inside/sub");
    ASSERT_TRUE(write_file(folder_ / "secret", std::string(64, 's')).has_value());
    ASSERT_TRUE(write_file(folder_ / "inside/data", std::string(64, '\0')).has_value());
    ASSERT_TRUE(write_file(folder_ / "inside/sub/data", std::string(64, '\0')).has_value());
  }
  std::string error(const ProtoModel& model) const { return test::error_of(model, folder_ / "inside"); }

  const TempDir temporary_ = TempDir::make().value();
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(ExternalDataTest, IsReadWithAndWithoutOffsetAndLength) {
  EXPECT_EQ(error(model_at("data")), "");
  EXPECT_EQ(error(model_at("sub/data", "48", "16")), "");
  EXPECT_EQ(error(model_at("./data", "3")), "");  // misaligned
  test::round_trip(model_at("data"), folder_ / "inside");
}

TEST_F(ExternalDataTest, MustLieInTheFolderOfTheModel) {
  EXPECT_THAT(error(model_at("../secret")), HasSubstr("'..'"));
  EXPECT_THAT(error(model_at("sub/../../secret")), HasSubstr("'..'"));
  EXPECT_THAT(error(model_at((folder_ / "secret").string())), HasSubstr("absolute"));
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "inside/link");
  EXPECT_THAT(error(model_at("link")), HasSubstr("leaves the model's folder"));
  std::filesystem::create_directory_symlink(folder_, folder_ / "inside/out");
  EXPECT_THAT(error(model_at("out/secret")), HasSubstr("leaves the model's folder"));
  std::filesystem::create_symlink("data", folder_ / "inside/fine");
  EXPECT_EQ(error(model_at("fine")), "");
  std::filesystem::create_hard_link(folder_ / "secret", folder_ / "inside/hard");
  EXPECT_THAT(error(model_at("hard")), HasSubstr("hard links"));
}

TEST_F(ExternalDataTest, MustBeAFileOfEnoughBytes) {
  EXPECT_THAT(error(model_at("absent")), HasSubstr("No such file"));
  EXPECT_THAT(error(model_at("sub")), HasSubstr("is a directory"));
  EXPECT_THAT(error(model_at("")), HasSubstr("no location"));
  EXPECT_THAT(error(model_at("data", "49")), HasSubstr("ends at byte 64"));
  EXPECT_THAT(error(model_at("data", "18446744073709551615")), HasSubstr("ends at byte 64"));
  EXPECT_THAT(error(model_at("data", "-1")), HasSubstr("is not a count"));
  EXPECT_THAT(error(model_at("data", "0", "17")), HasSubstr("has 17 bytes, but its type needs 16"));
  mkfifo((folder_ / "inside/pipe").c_str(), 0600);
  EXPECT_THAT(error(model_at("pipe")), HasSubstr("not a regular file"));
  EXPECT_THAT(test::error_of(model_at("data")), HasSubstr("the model has no folder"));
}

TEST_F(ExternalDataTest, InsideOfOpaqueNodesIsEmbedded) {
  auto model = model_at("data");
  auto* attr = model.graph().mutable_node(0)->add_attribute();
  attr->set_name("table");
  attr->set_type(onnx::AttributeProto::TENSOR);
  *attr->mutable_t() = model.graph().initializer(0);
  const auto out = test::round_trip(model, folder_ / "inside");
  const auto& table = out.graph().node(0).attribute(0).t();
  EXPECT_EQ(table.raw_data().size(), 16U);
  EXPECT_EQ(table.external_data_size(), 0);
}

TEST_F(ExternalDataTest, ASmallModelCannotAskForAnyAmountOfMemory) {
  std::filesystem::resize_file(folder_ / "inside/data", 1 << 20);
  auto model = model_at("data");
  model.graph().mutable_initializer(0)->set_dims(0, 200000);
  auto* attr = model.graph().mutable_node(0)->add_attribute();
  attr->set_name("tables");
  attr->set_type(onnx::AttributeProto::TENSORS);
  for (int i = 0; i < 50; ++i) *attr->add_tensors() = model.graph().initializer(0);
  EXPECT_THAT(error(model), HasSubstr("too often"));
}

}  // namespace
}  // namespace isomer
