#include "tools/profile/profile.h"

#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tools/page/json.h"
#include "tools/profile/print.h"
#include "tools/profile/short_names.h"

namespace tilewright::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kThreads = 2;

// A model of testdata/tiny, profiled once for all tests.
class ProfileTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, HostSpec());
    TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec));
    TW_ASSERT_OK_AND_ASSIGN(
        const ImportedModel imported,
        ImportModel("testdata/tiny/conv_batchnorm_relu/model.onnx"));
    TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                            Compile(imported, *codegen, {}));
    cpu::CpuDeviceOptions options;
    options.num_threads = kThreads;
    options.task_log = &log_;
    TW_ASSERT_OK_AND_ASSIGN(std::unique_ptr<backends::Device> device,
                            cpu::CreateCpuDevice(options));
    TW_ASSERT_OK_AND_ASSIGN(
        model_,
        Model::FromBytes(compiled.Serialize(),
                         std::shared_ptr<backends::Device>(std::move(device))));
    TW_ASSERT_OK_AND_ASSIGN(const auto session, Session::Create(model_));
    std::vector<std::vector<float>> memory;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const ProgramBuffer& buffer : model_->program().buffers()) {
      if (buffer.kind() != ProgramBuffer::INPUT &&
          buffer.kind() != ProgramBuffer::OUTPUT)
        continue;
      memory.emplace_back(static_cast<size_t>(buffer.size_bytes()), 1.0F);
      if (buffer.kind() == ProgramBuffer::INPUT)
        inputs.push_back(memory.back().data());
      else
        outputs.push_back(memory.back().data());
    }
    LimitSampler sampler(spec, kThreads);
    TW_ASSERT_OK_AND_ASSIGN(profile_, MeasureProfile(*session, inputs, outputs,
                                                     log_, sampler, 0.01));
  }

  static cpu::TaskLog log_;
  static std::shared_ptr<const Model> model_;
  static Profile profile_;
};

cpu::TaskLog ProfileTest::log_;
std::shared_ptr<const Model> ProfileTest::model_;
Profile ProfileTest::profile_;

TEST_F(ProfileTest, EveryTaskIsTracedOnceWithinItsLaunch) {
  ASSERT_FALSE(profile_.trace.empty());
  const Program& program = model_->program();
  for (const TracedLaunch& launch : profile_.trace) {
    if (!program.steps(launch.step).has_launch()) {
      EXPECT_TRUE(launch.pieces.empty());
      continue;
    }
    std::map<int64_t, int> times;
    for (const cpu::TaskRecord& piece : launch.pieces) {
      EXPECT_GE(piece.start_ns, launch.start_ns);
      EXPECT_LE(piece.end_ns, launch.end_ns);
      EXPECT_GE(piece.worker, 0);
      EXPECT_LT(piece.worker, kThreads);
      for (int64_t t = piece.task_begin; t < piece.task_end; ++t) ++times[t];
    }
    const KernelInfo& kernel =
        program.kernels(program.steps(launch.step).launch().kernel());
    EXPECT_EQ(static_cast<int64_t>(times.size()), kernel.num_tasks());
    for (const auto& [task, count] : times) EXPECT_EQ(count, 1) << task;
  }
}

TEST_F(ProfileTest, KernelsAddUpToTheProgram) {
  int launches = 0, steps = 0;
  double flops = 0;
  for (const KernelProfile& kernel : profile_.kernels) {
    launches += kernel.launches;
    flops += kernel.work.flops;
    EXPECT_GT(kernel.wall_us.min, 0) << kernel.name;
    EXPECT_GE(kernel.wall_us.median, kernel.wall_us.min) << kernel.name;
    EXPECT_GT(kernel.bound.us, 0) << kernel.name;
  }
  for (const Step& step : model_->program().steps()) steps += !step.has_zero();
  EXPECT_EQ(launches, steps);
  EXPECT_EQ(flops, profile_.work.flops);
  EXPECT_GE(profile_.runs, 3);
  EXPECT_GT(profile_.limits.gflops, 0);
  for (const Limits::Level& level : profile_.limits.levels)
    EXPECT_GT(level.gbytes_per_s, 0) << level.name;
}

TEST_F(ProfileTest, PrintsNameEveryKernel) {
  Json json;
  AppendProfile(profile_, json);
  const std::string page = ProfilePage(profile_, "a </script> b");
  for (const std::string& text : {ProfileTable(profile_), json.text(),
                                  ProfileTrace(profile_, "model"), page}) {
    for (const KernelProfile& kernel : profile_.kernels)
      EXPECT_THAT(text, HasSubstr(kernel.name));
    EXPECT_THAT(text, HasSubstr("conv"));
  }
  EXPECT_THAT(page, HasSubstr("a <\\/script> b"));
  EXPECT_THAT(page, Not(HasSubstr("@PROFILE@")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

// 30 kernels, the later the longer, of names that are longer than a line.
Profile LongProfile() {
  Profile profile;
  profile.runs = 3;
  profile.threads = 2;
  profile.wall_us = {1e6, 2e6};
  profile.limits.source = "measured in this run";
  profile.limits.levels = {{"dram", 1e300, 123.4},
                           {"l3", 1e8, 1234.5},
                           {"l2", 1e7, 1234.5},
                           {"l1", 1e6, 12345.6}};
  profile.bound = {1e6, "compute"};
  for (int i = 0; i < 30; ++i) {
    KernelProfile kernel;
    kernel.name = absl::StrCat("k", i);
    kernel.short_name =
        absl::StrCat(std::string(150, 'x'), "/layer", i, "/Relu");
    kernel.operators = "conv+bias+relu";
    kernel.shape_and_schedule = "[1, 64, 56, 56], reduces 64·3·3";
    kernel.wall_us = {100.0 + i, 200.0 + i};
    kernel.bound = {1, "compute"};
    if (i % 2 == 0) kernel.short_name = absl::StrCat("layer", i, "/Relu");
    profile.kernels.push_back(kernel);
  }
  return profile;
}

TEST(ProfileTableTest, TheLongestKernelsStandInLinesOf120Columns) {
  const Profile profile = LongProfile();
  const std::string table = ProfileTable(profile, 20);
  EXPECT_THAT(table, HasSubstr("\nk29 "));
  EXPECT_THAT(table, HasSubstr("\nk10 "));
  EXPECT_THAT(table, Not(HasSubstr("\nk9 ")));
  EXPECT_LT(table.find("\nk29 "), table.find("\nk28 "));
  EXPECT_THAT(table, HasSubstr("\nand 10 more: --profile=all\n"));
  // Its end tells a name apart; what fits is added.
  EXPECT_THAT(table, HasSubstr("xxx/layer29/Relu\n"));
  EXPECT_THAT(table, HasSubstr("  layer28/Relu  conv+bias+relu\n"));
  const std::string all = ProfileTable(profile);
  EXPECT_THAT(all, HasSubstr("\nk0 "));
  EXPECT_THAT(all, Not(HasSubstr("more")));
  Profile bounds = profile;
  bounds.runs = 0;
  for (const std::string& text : {table, all, ProfileTable(bounds)}) {
    for (const absl::string_view line : absl::StrSplit(text, '\n'))
      EXPECT_LE(Columns(line), 120) << line;
  }
}

TEST_F(ProfileTest, BoundsNeedNoRun) {
  Limits limits;
  limits.gflops = 1;
  limits.levels = {{"dram", 1e300, 1}};
  const Profile bounds = DescribeBounds(model_->program(), limits, 1);
  EXPECT_EQ(bounds.runs, 0);
  EXPECT_EQ(bounds.kernels.size(), profile_.kernels.size());
  EXPECT_GT(bounds.kernels_bound_us, 0);
  EXPECT_THAT(ProfileTable(bounds), HasSubstr("us at least"));
  EXPECT_THAT(ProfileTable(bounds), Not(HasSubstr("nan")));
}

TEST(SpreadTest, MinimumAndMedian) {
  EXPECT_EQ(SpreadOf({}).min, 0);
  EXPECT_EQ(SpreadOf({3, 1, 2}).min, 1);
  EXPECT_EQ(SpreadOf({3, 1, 2}).median, 2);
}

}  // namespace
}  // namespace tilewright::tools
