#include "compiler/verified_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "compiler/rewrite_model.h"
#include "compiler/test_model.h"
#include "frontends/onnx/testing/random_network.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

VerifiedNetwork Network(uint64_t seed) {
  absl::StatusOr<ImportedModel> model = ImportModelProto(RandomNetwork(seed));
  EXPECT_TRUE(model.ok()) << model.status();
  absl::StatusOr<VerifiedNetwork> network =
      VerifiedNetwork::Create(*std::move(model), seed);
  EXPECT_TRUE(network.ok()) << network.status();
  return *std::move(network);
}

// An output that is all zero, or an element off by a thousandth of the largest,
// is wrong by any limit.
TEST(VerifiedNetworkTest, LimitsAreSmall) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const VerifiedNetwork network = Network(seed);
    const std::vector<double> fp32 = network.Limits({}),
                              bf16 = network.Limits({kAllowBf16});
    std::vector<HostTensor> zeros;
    for (const Port& port : network.model().outputs)
      zeros.emplace_back(port.dtype, port.shape);
    const std::vector<double> errors = network.Errors(zeros);
    for (size_t o = 0; o < fp32.size(); ++o) {
      EXPECT_EQ(errors[o], 1) << "seed " << seed;
      EXPECT_LE(fp32[o], 1e-3) << "seed " << seed;
      EXPECT_GE(bf16[o], fp32[o]) << "seed " << seed;
    }
  }
}

TEST(VerifiedNetworkTest, ErrorsAreRelativeToTheLargestElement) {
  TW_ASSERT_OK_AND_ASSIGN(TensorGraph graph, ParseText(R"(
      X: f32[3] = placeholder
      Y: f32[3] = compute (i: 3) { X[i] * 2.0 }
      return Y)"));
  TW_ASSERT_OK_AND_ASSIGN(
      const VerifiedNetwork network,
      VerifiedNetwork::Create(ModelOf(std::move(graph)), 1));
  HostTensor output(DType::kFloat32, {3});
  double largest = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const double value = 2 * network.inputs()[0].Get(i).f;
    output.Set(i, {value, 0});
    largest = std::max(largest, std::abs(value));
  }
  EXPECT_EQ(network.Errors({output})[0], 0);
  EXPECT_EQ(network.Limits({})[0], LeastLimit(1));
  EXPECT_NEAR(LeastLimit(1), 2.1e-6, 1e-7);
  output.Set(1, {output.Get(1).f + 0.25 * largest, 0});
  EXPECT_NEAR(network.Errors({output})[0], 0.25, 1e-6);
  output.Set(0, {std::nan(""), 0});
  EXPECT_EQ(network.Errors({output})[0],
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tilewright
