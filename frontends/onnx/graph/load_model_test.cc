#include "frontends/onnx/graph/load_model.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/external_data.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Two floats in another file.
onnx::TensorProto External(const std::string& location, int64_t offset = 0) {
  onnx::TensorProto tensor;
  tensor.set_name("W");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", location);
  add("offset", absl::StrCat(offset));
  add("length", "8");
  return tensor;
}

// With openat2, and without it, as on kernels before 5.6.
class ExternalDataTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/external_" + absl::StrCat(GetParam());
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/model/sub");
    Write(folder_ + "/secret", "SSSSSSSSSSSSSSSS");
    Write(folder_ + "/model/weights", "0123456789abcdef");
    Write(folder_ + "/model/sub/weights", "ABCDEFGHIJKLMNOP");
    fs::create_symlink("../secret", folder_ + "/model/link");
    fs::create_symlink("sub", folder_ + "/model/linked");
    fs::create_directory_symlink("..", folder_ + "/model/up");
  }

  absl::Status Resolve(onnx::TensorProto& tensor, int64_t budget = 1000) {
    absl::StatusOr<ExternalData> files =
        ExternalData::Open(folder_ + "/model/model.onnx", budget, GetParam());
    return files.ok() ? files->Resolve(tensor) : files.status();
  }

  std::string folder_;
};

INSTANTIATE_TEST_SUITE_P(Openat2, ExternalDataTest, testing::Bool());

TEST_P(ExternalDataTest, ReadsTheRangeInsideTheFolder) {
  onnx::TensorProto tensor = External("weights", 4);
  ASSERT_TRUE(Resolve(tensor).ok());
  EXPECT_EQ(tensor.raw_data(), "456789ab");
  EXPECT_EQ(tensor.data_location(), onnx::TensorProto::DEFAULT);

  tensor = External("./sub//weights");
  ASSERT_TRUE(Resolve(tensor).ok());
  EXPECT_EQ(tensor.raw_data(), "ABCDEFGH");
}

TEST_P(ExternalDataTest, PacksNarrowIntegers) {
  onnx::TensorProto tensor = External("weights");
  tensor.set_data_type(22);  // INT4
  tensor.set_dims(0, 16);
  ASSERT_TRUE(Resolve(tensor).ok());
  EXPECT_EQ(tensor.raw_data(), "01234567");
  tensor = External("weights");
  tensor.set_data_type(22);
  EXPECT_FALSE(Resolve(tensor).ok()) << "two values are one byte";
}

TEST_P(ExternalDataTest, RefusesEveryWayOut) {
  for (const std::string& location :
       {folder_ + "/secret", std::string("../secret"),
        std::string("sub/../../secret"), std::string("link"),
        std::string("up/secret"), std::string("linked/weights"),
        std::string("sub"), std::string("."), std::string("/"),
        std::string("weights\0x", 9)}) {
    onnx::TensorProto tensor = External(location);
    const absl::Status status = Resolve(tensor);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << location << ": " << status;
    EXPECT_TRUE(absl::StrContains(
        status.message(), "only files inside the model's folder are read"))
        << status;
    EXPECT_TRUE(tensor.raw_data().empty()) << location;
  }
}

TEST_P(ExternalDataTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(mkfifo((folder_ + "/model/pipe").c_str(), 0600), 0);
  onnx::TensorProto tensor = External("pipe");
  EXPECT_EQ(Resolve(tensor).message(),
            "tensor 'W': external data 'pipe' is no regular file; only files "
            "inside the model's folder are read, move it there");
}

TEST_P(ExternalDataTest, RefusesRangesOutsideTheFile) {
  for (const int64_t offset : {int64_t{9}, int64_t{17}, INT64_MAX - 3}) {
    onnx::TensorProto tensor = External("weights", offset);
    EXPECT_EQ(
        Resolve(tensor).message(),
        absl::StrCat("tensor 'W' needs 8 bytes at offset ", offset,
                     " of 'weights', which has 16 bytes; the file is truncated "
                     "or belongs to another model"));
  }
}

TEST_P(ExternalDataTest, KeepsTheMemoryLimit) {
  onnx::TensorProto tensor = External("weights");
  const absl::Status status = Resolve(tensor, 7);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "tensor 'W' needs 8 bytes but only 7 of the memory limit for "
            "weights are left; raise the limit");
}

TEST_P(ExternalDataTest, CountsAllTensorsTogether) {
  absl::StatusOr<ExternalData> files =
      ExternalData::Open(folder_ + "/model/model.onnx", 12, GetParam());
  onnx::TensorProto first = External("weights");
  onnx::TensorProto second = External("weights");
  EXPECT_TRUE(files->Resolve(first).ok());
  EXPECT_EQ(files->Resolve(second).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(LoadModelTest, ResolvesExternalDataOfAttributesAndNestedGraphs) {
  const std::string folder = testing::TempDir() + "/nested";
  fs::create_directories(folder);
  Write(folder + "/weights", "0123456789abcdef");
  onnx::ModelProto model;
  *model.mutable_graph()->add_initializer() = External("weights");
  auto* attribute = model.mutable_graph()->add_node()->add_attribute();
  *attribute->mutable_t() = External("weights", 2);
  *attribute->mutable_g()->add_initializer() = External("weights", 8);
  Write(folder + "/model.onnx", model.SerializeAsString());
  const absl::StatusOr<onnx::ModelProto> loaded =
      LoadModel(folder + "/model.onnx");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->graph().initializer(0).raw_data(), "01234567");
  EXPECT_EQ(loaded->graph().node(0).attribute(0).t().raw_data(), "23456789");
  EXPECT_EQ(loaded->graph().node(0).attribute(0).g().initializer(0).raw_data(),
            "89abcdef");
}

TEST(LoadModelTest, EveryPrefixOfAModelIsRefusedOrParsed) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("graph");
  model.mutable_graph()->add_node()->set_op_type("Relu");
  const std::string bytes = model.SerializeAsString();
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    if (!ParseModel(bytes.substr(0, size), "prefix").ok()) ++refused;
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()) / 2);
  EXPECT_TRUE(ParseModel(bytes, "whole").ok());
}

TEST(LoadModelTest, KeepsTheSizeLimit) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name(std::string(1000, 'x'));
  LoadLimits limits;
  limits.max_model_bytes = 500;
  const absl::Status status =
      ParseModel(model.SerializeAsString(), "big.onnx", limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "model 'big.onnx' has 1006 bytes, more than the limit of 500; "
            "export its weights as external data");
}

TEST(LoadModelTest, NamesTheMissingFile) {
  const absl::Status status = LoadModel("/nowhere/model.onnx").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "cannot open model '/nowhere/model.onnx': No such file or "
            "directory; check the path");
}

TEST(LoadModelTest, RefusesAFolder) {
  EXPECT_FALSE(LoadModel(testing::TempDir()).ok());
}

}  // namespace
}  // namespace tilewright
