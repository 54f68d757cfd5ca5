#include "tools/profile/roofline.h"

#include <limits>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

Limits SmallMachine() {
  Limits limits;
  limits.gflops = 100;
  limits.levels = {{"l2", 1e6, 50}, {"dram", kUnlimited, 10}};
  return limits;
}

TEST(RooflineTest, TheSlowerOfComputeAndMemoryBinds) {
  const Bound compute = BoundOf({1e6, 1e3, 0}, 1e3, SmallMachine());
  EXPECT_EQ(compute.by, "compute");
  EXPECT_DOUBLE_EQ(compute.us, 10);
  const Bound cached = BoundOf({1e3, 1e5, 0}, 1e5, SmallMachine());
  EXPECT_EQ(cached.by, "l2");
  EXPECT_DOUBLE_EQ(cached.us, 2);
  const Bound far = BoundOf({1e3, 2e6, 0}, 2e6, SmallMachine());
  EXPECT_EQ(far.by, "dram");
  EXPECT_DOUBLE_EQ(far.us, 200);
}

TEST(RooflineTest, ConstantsComeFromWhereTheWholeModelFits) {
  const Work work = {0, 1e5, 0.5e5};
  EXPECT_DOUBLE_EQ(BoundOf(work, 1e5, SmallMachine()).us, 2);
  const Bound far = BoundOf(work, 1e8, SmallMachine());
  EXPECT_DOUBLE_EQ(far.us, 1 + 5);
  EXPECT_EQ(far.by, "dram");
}

TEST(RooflineTest, NoWorkTakesNoTime) {
  EXPECT_EQ(BoundOf({}, 0, SmallMachine()).us, 0);
}

TEST(RooflineTest, WorkOfAProgram) {
  Program program;
  const auto add = [&](ProgramBuffer::Kind kind, int64_t bytes) {
    ProgramBuffer* buffer = program.add_buffers();
    buffer->set_kind(kind);
    buffer->set_size_bytes(bytes);
  };
  add(ProgramBuffer::INPUT, 400);
  add(ProgramBuffer::CONSTANT, 256);
  add(ProgramBuffer::ARENA, 800);
  add(ProgramBuffer::OUTPUT, 40);
  KernelInfo* kernel = program.add_kernels();
  kernel->set_flops(1000);
  kernel->set_compulsory_bytes(1400);
  Launch* launch = program.add_steps()->mutable_launch();
  for (const int buffer : {0, 1, 1, 2}) launch->add_args()->set_buffer(buffer);
  program.add_steps()->mutable_copy()->set_size_bytes(40);
  program.set_arena_bytes(1000);

  const Work step = WorkOfStep(program, 0);
  EXPECT_EQ(step.flops, 1000);
  EXPECT_EQ(step.bytes, 1400);
  EXPECT_EQ(step.constant_bytes, 256);
  EXPECT_EQ(WorkOfStep(program, 1).bytes, 80);
  const Work model = WorkOfModel(program);
  EXPECT_EQ(model.flops, 1000);
  EXPECT_EQ(model.bytes, 400 + 256 + 40);
  EXPECT_EQ(ResidentBytes(program), 400 + 256 + 40 + 1000);
}

TEST(LimitsTest, ASpecsFiguresForSomeThreads) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  const Limits one = LimitsOfSpec(spec, 1), two = LimitsOfSpec(spec, 2);
  EXPECT_DOUBLE_EQ(two.gflops, 2 * one.gflops);
  ASSERT_FALSE(one.levels.empty());
  EXPECT_EQ(one.levels.back().name, "dram");
  EXPECT_EQ(one.levels.back().capacity_bytes, kUnlimited);
  for (size_t i = 1; i < one.levels.size(); ++i)
    EXPECT_GT(one.levels[i].capacity_bytes, one.levels[i - 1].capacity_bytes);
  EXPECT_EQ(one.LevelFor(1e12).name, "dram");
  // Each core brings its own second level.
  const double l2_bytes =
      static_cast<double>(FindLevel(spec, "l2")->capacity_bytes());
  EXPECT_EQ(one.LevelFor(1.5 * l2_bytes).name, "l3");
  EXPECT_EQ(two.LevelFor(1.5 * l2_bytes).name, "l2");
}

}  // namespace
}  // namespace tilewright::tools
