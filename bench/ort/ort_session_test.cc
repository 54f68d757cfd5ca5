#include "bench/ort/ort_session.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/ort/test_data.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

constexpr char kModel[] = "testdata/resnet18_small/model.onnx";

TEST(OrtSessionTest, MissingLibraryIsNamedAndTheRemedyToo) {
  const absl::Status status =
      OrtSession::Open("/nowhere/libonnxruntime.so.1", kModel, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/nowhere/libonnxruntime.so.1"),
            std::string::npos);
  EXPECT_NE(status.message().find("onnxruntime-node"), std::string::npos);
}

TEST(OrtSessionTest, OtherLibraryIsRefused) {
  EXPECT_EQ(OrtSession::Open("libm.so.6", kModel, {}).status().code(),
            absl::StatusCode::kNotFound);
}

// The tests below need the library itself.
class OrtLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* path = std::getenv("TILEWRIGHT_ORT");
    if (path == nullptr) GTEST_SKIP() << "TILEWRIGHT_ORT is not set";
    path_ = path;
  }
  std::string path_;
};

TEST_F(OrtLibraryTest, ReproducesTheReferenceAtOneAndTwoThreads) {
  absl::StatusOr<TestData> data =
      ReadTestData("testdata/resnet18_small/test_data_set_0");
  ASSERT_TRUE(data.ok()) << data.status();
  for (int threads : {1, 2}) {
    absl::StatusOr<std::unique_ptr<OrtSession>> session =
        OrtSession::Open(path_, kModel, {threads});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->input_names(), std::vector<std::string>{"x"});
    EXPECT_EQ((*session)->output_names(), std::vector<std::string>{"y"});
    absl::StatusOr<std::vector<OrtTensor>> outputs =
        (*session)->Run(data->inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    absl::StatusOr<double> error = Error(*outputs, data->references);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LT(*error, 2e-6);
    EXPECT_GT(*error, 0) << "a float32 run never meets float64 exactly";
  }
}

TEST_F(OrtLibraryTest, RefusalsCarryItsMessage) {
  EXPECT_EQ(OrtSession::Open(path_, "testdata/none.onnx", {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  absl::StatusOr<std::unique_ptr<OrtSession>> session =
      OrtSession::Open(path_, kModel, {});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->RunBound().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ((*session)->Bind({}).code(), absl::StatusCode::kInvalidArgument);
  OrtTensor wrong;
  wrong.name = "z";
  EXPECT_NE((*session)->Bind({wrong}).message().find("'z'"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::bench
