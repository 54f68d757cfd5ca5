#include "bench/ort/test_data.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/ort/ort_session.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

OrtTensor Floats(const std::vector<float>& values) {
  OrtTensor tensor;
  tensor.data_type = 1;
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()),
                      values.size() * sizeof(float));
  return tensor;
}

double ErrorOf(const std::vector<float>& y, const std::vector<float>& r) {
  absl::StatusOr<double> error = Error({Floats(y)}, {Floats(r)});
  EXPECT_TRUE(error.ok()) << error.status();
  return error.ok() ? *error : -1;
}

TEST(ErrorTest, IsRelativeToTheLargestReference) {
  EXPECT_DOUBLE_EQ(ErrorOf({1, 2.5f, -8}, {1, 2, -8}), 0.5 / 8);
}

TEST(ErrorTest, ZeroOutputsNeverPass) {
  EXPECT_DOUBLE_EQ(ErrorOf({0, 0}, {3, -4}), 1);
}

TEST(ErrorTest, AnythingAgainstAnAllZeroReferenceIsInfinite) {
  EXPECT_TRUE(std::isinf(ErrorOf({1e-30f, 0}, {0, 0})));
  EXPECT_EQ(ErrorOf({0, 0}, {0, 0}), 0);
}

TEST(ErrorTest, NanEqualsOnlyNan) {
  EXPECT_EQ(ErrorOf({kNan, 1}, {kNan, 1}), 0);
  EXPECT_TRUE(std::isinf(ErrorOf({kNan, 1}, {2, 1})));
  EXPECT_TRUE(std::isinf(ErrorOf({2, 1}, {kNan, 1})));
  // Also when a finite error follows.
  EXPECT_TRUE(std::isinf(ErrorOf({kNan, 1}, {2, 1.5f})));
}

TEST(ErrorTest, WorstOutputCounts) {
  absl::StatusOr<double> error =
      Error({Floats({1}), Floats({3})}, {Floats({1}), Floats({4})});
  ASSERT_TRUE(error.ok());
  EXPECT_DOUBLE_EQ(*error, 0.25);
}

TEST(ErrorTest, OtherShapesOrCountsAreRefused) {
  EXPECT_FALSE(Error({Floats({1})}, {Floats({1, 2})}).ok());
  EXPECT_FALSE(Error({}, {Floats({1})}).ok());
}

TEST(ErrorLimitTest, IsFourTimesThePeerButAtLeastTwoMillionths) {
  EXPECT_DOUBLE_EQ(ErrorLimit(1e-7), 2e-6);
  EXPECT_DOUBLE_EQ(ErrorLimit(1e-6), 4e-6);
}

TEST(ReadTestDataTest, PrefersTheFloat64Reference) {
  absl::StatusOr<TestData> data =
      ReadTestData("testdata/tiny/gemm_relu/test_data_set_0");
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->inputs.size(), 1u);
  EXPECT_EQ(data->inputs[0].name, "A");
  EXPECT_EQ(data->inputs[0].dims, (std::vector<int64_t>{64, 32}));
  ASSERT_EQ(data->references.size(), 1u);
  EXPECT_EQ(data->references[0].data_type, 11);  // double
  // output_0.pb is the same, rounded.
  absl::StatusOr<OrtTensor> rounded =
      ReadTensor("testdata/tiny/gemm_relu/test_data_set_0/output_0.pb");
  ASSERT_TRUE(rounded.ok()) << rounded.status();
  absl::StatusOr<double> error = Error({*rounded}, data->references);
  ASSERT_TRUE(error.ok()) << error.status();
  EXPECT_GT(*error, 0);
  EXPECT_LT(*error, 6e-8);
}

TEST(ReadTestDataTest, MissingFolderIsNotFound) {
  EXPECT_EQ(ReadTestData("testdata/none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadTensor("testdata/none.pb").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ReadTensorTest, ModelIsNotATensor) {
  EXPECT_FALSE(ReadTensor("testdata/tiny/gemm_relu/model.onnx").ok());
}

}  // namespace
}  // namespace tilewright::bench
