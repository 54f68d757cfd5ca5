// Records, all the way to a .tw: a record made by hand changes a kernel and no
// bit of the results, twice to the same file; records of older versions are
// read, named and passed over.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/cpu_features.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/kernels/version.h"
#include "compiler/records/record_source.h"
#include "compiler/records/record_testing.h"
#include "compiler/test_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/record.pb.h"
#include "measure/record/workload_key.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

using measure::Record;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RecordedKernelsTest : public RecordsTest {
 protected:
  RecordedKernelsTest()
      : model_(ModelOf(workload_.graph)),
        codegen_(*cpu::CreateCpuCodegen(spec_)),
        rules_(*Compile(model_, *codegen_, {})) {}

  // A record of the one kernel of the model.
  Record OfTheKernel(const sketch::Schedule& schedule, double ns) const {
    Record record = RecordOf(schedule, ns);
    *record.mutable_workload() =
        measure::MakeWorkloadKey(rules_.kernels[0].workload.workload);
    return record;
  }

  // For the kernel as the compiler names its tensors: OtherTile's decisions.
  sketch::Schedule Other() const {
    const sketch::Workload& workload = rules_.kernels[0].workload.workload;
    return *sketch::GenerateWith(sketch::Generators(workload).front(), workload,
                                 spec_, sketch::AnswersOf(OtherTile()));
  }

  // With what the store holds now.
  CompiledModel CompileByRecords(std::vector<std::string>* notes) {
    RecordSource source(*store_, "DB");
    CompileOptions options;
    options.schedules = &source;
    absl::StatusOr<CompiledModel> compiled =
        Compile(model_, *codegen_, options);
    EXPECT_THAT(compiled.status(), IsOk());
    *notes = source.Notes();
    return compiled.ok() ? *std::move(compiled) : CompiledModel();
  }

  const ImportedModel model_;
  const std::unique_ptr<backends::Codegen> codegen_;
  const CompiledModel rules_;
};

TEST_F(RecordedKernelsTest, ARecordMadeByHandChangesTheKernelTwiceTheSame) {
  ASSERT_EQ(rules_.kernels.size(), 1u);
  Keep(OfTheKernel(rules_.kernels[0].schedule, 1000));
  Keep(OfTheKernel(Other(), 700));
  std::vector<std::string> notes;
  const CompiledModel first = CompileByRecords(&notes);
  EXPECT_THAT(notes, IsEmpty());
  ASSERT_EQ(first.kernels.size(), 1u);
  EXPECT_THAT(first.kernels[0].source, StartsWith("record, "));
  EXPECT_TRUE(first.kernels[0].schedule == Other());
  EXPECT_TRUE(first.module != rules_.module);
  EXPECT_TRUE(CompileByRecords(&notes).Serialize() == first.Serialize());

  TW_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> missing,
                          MissingCpuFeatures("x86-64-v4", HostCpuFeatures()));
  if (!missing.empty()) GTEST_SKIP() << "this CPU cannot run x86-64-v4";
  Random random(1);
  std::vector<HostTensor> inputs;
  for (const Port& port : model_.inputs) {
    HostTensor& tensor = inputs.emplace_back(port.dtype, port.shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.Set(i, {random.Normal(), 0});
  }
  TW_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<backends::Device> device,
                          cpu::CreateCpuDevice({2}));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> ours,
                          RunCompiled(first, device, model_, inputs));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> want,
                          RunCompiled(rules_, device, model_, inputs));
  ASSERT_EQ(ours.size(), 1u);
  EXPECT_EQ(std::memcmp(ours[0].data(), want[0].data(),
                        static_cast<size_t>(want[0].size_bytes())),
            0);
}

TEST_F(RecordedKernelsTest, RecordsOfOlderVersionsArePassedOverWithANote) {
  Keep(OfTheKernel(rules_.kernels[0].schedule, 1000));
  Record older = OfTheKernel(Other(), 500);
  older.mutable_versions()->set_code_generation(kCodeGeneration - 1);
  Keep(older);
  // From before records said what made the code.
  Record oldest = OfTheKernel(Other(), 400);
  oldest.clear_versions();
  Keep(oldest);
  std::vector<std::string> notes;
  const CompiledModel compiled = CompileByRecords(&notes);
  EXPECT_TRUE(compiled.Serialize() == rules_.Serialize());
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("2 records of another version's code")));
}

}  // namespace
}  // namespace tilewright
