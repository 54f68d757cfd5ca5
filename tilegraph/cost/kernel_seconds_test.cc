#include "tilegraph/cost/kernel_seconds.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// A million evaluations of one operation, from memory that holds nothing.
class KernelSecondsTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("unit"));
    compute_.operations.simple = 1;
    compute_.points = 1e6;
    Put();
  }
  void Put(double memory_bytes = 0) {
    kernel_.stages = {{{compute_}, {{memory_bytes, 0, 0}, {0, 0, 0}}}};
  }
  KernelSeconds Seconds() const { return KernelTimer(spec_).Of(kernel_); }
  double peak() const { return CorePeak(spec_, "f32", PeakRate::VECTOR); }

  DeviceSpec spec_;
  ComputeFeatures compute_;
  KernelFeatures kernel_;
};

TEST_F(KernelSecondsTest, ArithmeticRunsAtTheShareOfItsKind) {
  spec_.mutable_cost_model()->set_elementwise_peak_share(0.5);
  spec_.mutable_cost_model()->set_fused_elementwise_peak_share(0.25);
  EXPECT_DOUBLE_EQ(Seconds().work, 2e6 / peak());
  compute_.is_fused = true;
  Put();
  EXPECT_DOUBLE_EQ(Seconds().work, 4e6 / peak());
}

TEST_F(KernelSecondsTest, FunctionsCountAsManyOperations) {
  spec_.mutable_cost_model()->set_elementwise_peak_share(1);
  spec_.mutable_cost_model()->set_erf_operations(20);
  compute_.operations.erfs = 1;
  Put();
  EXPECT_DOUBLE_EQ(Seconds().work, 21e6 / peak());
}

TEST_F(KernelSecondsTest, TransfersOverlapWithArithmetic) {
  CostModel& model = *spec_.mutable_cost_model();
  model.set_elementwise_peak_share(1);
  const double work = 1e6 / peak(), rate = spec_.levels(0).read_bytes_per_s();
  const auto added = [&](double exponent, double transfer) {
    model.set_overlap_exponent(exponent);
    Put(transfer * rate);
    return Seconds().transfer;
  };
  // Nothing is hidden.
  EXPECT_NEAR(added(1, work / 2), work / 2, 0.01 * work);
  // Pythagoras.
  EXPECT_NEAR(added(2, work * 3 / 4), work / 4, 0.01 * work);
  // Nearly all that is shorter is hidden.
  EXPECT_LT(added(16, work / 2), 0.01 * work);
  EXPECT_NEAR(added(16, work * 10), 9 * work, 0.1 * work);
}

TEST_F(KernelSecondsTest, TasksAndTheirStagesHaveToBeStarted) {
  spec_.mutable_cost_model()->set_task_ns(100);
  spec_.mutable_cost_model()->set_stage_ns(30);
  kernel_.tasks = 10;
  EXPECT_DOUBLE_EQ(Seconds().tasks, 1e-6);
  kernel_.has_stages = true;
  kernel_.tiles = 20;
  kernel_.stages.push_back(kernel_.stages[0]);
  EXPECT_DOUBLE_EQ(Seconds().tasks, 2.2e-6);
}

TEST_F(KernelSecondsTest, WinogradPaysForItsTransforms) {
  compute_.kind = ArithmeticKind::kWinograd;
  compute_.winograd_m = 2;
  Put();
  const double products = Seconds().work;
  compute_.input_tiles = compute_.output_tiles = 1000;
  Put();
  const CostModel& model = spec_.cost_model();
  EXPECT_NEAR(Seconds().work - products,
              2000 *
                  (model.winograd2_input_operations() +
                   model.winograd2_output_operations()) /
                  peak(),
              1e-12);
}

}  // namespace
}  // namespace tilewright
