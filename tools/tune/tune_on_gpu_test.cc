// A search on a GPU, from the model to records that compile it: on the fake
// driver, which runs the emulator's modules. Results are real, times are the
// fake's.
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cuda/device/cuda_device.h"
#include "base/cancellation.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/records/record_source.h"
#include "compiler/test_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "measure/worker/cuda/fake_cuda_worker.h"
#include "measure/worker/run_worker.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/text/text_form.h"
#include "tools/tune/tune_model.h"
#include "tools/tune/tuned_device.h"

namespace tilewright::tools {
namespace {

using measure::Measurement;
using measure::Method;
using measure::Record;
using ::testing::HasSubstr;

constexpr char kGemm[] = R"(A: f32[40, 33] = placeholder
B: f32[33, 48] = placeholder
T: f32[40, 48] = compute (m: 40, n: 48) reduce (k: 33) sum:f32 { A[m, k] * B[k, n] }
Y: f32[40, 48] = compute (m: 40, n: 48) { max(T[m, n], 0.0) }
return Y
)";

std::vector<Record> All(measure::Store& store) {
  std::vector<Record> records;
  TW_EXPECT_OK(store.ForEach({}, [&](const Record& record) {
    records.push_back(record);
    return absl::OkStatus();
  }));
  return records;
}

// The instructions alone.
std::string TraceOf(sketch::Schedule schedule) {
  schedule.decisions.clear();
  return schedule.ToString();
}

// As if the schedule had been compared with the rules' and took half the time.
Record Compared(Record record, double ns) {
  Measurement& measurement = *record.mutable_measurement();
  measurement.set_outcome(Measurement::OK);
  measurement.mutable_verification()->set_verified(true);
  measurement.mutable_verification()->set_reference("float64 loops");
  measurement.clear_rounds_ns();
  for (int i = 0; i < 20; ++i) measurement.add_rounds_ns(ns + i);
  measurement.mutable_method()->set_turns("made by hand");
  return record;
}

TEST(TuneOnGpuTest, RecordsLandInTheStoreAndCompileTheModel) {
  TW_ASSERT_OK_AND_ASSIGN(std::shared_ptr<cuda::CudaDevice> device,
                          cuda::CreateFakeCudaDevice());
  const DeviceSpec spec = device->spec();
  const auto codegen = cuda::FakeCudaCodegen(spec);
  TW_ASSERT_OK_AND_ASSIGN(TensorGraph graph, ParseText(kGemm));
  const ImportedModel model = ModelOf(std::move(graph));
  const std::string path =
      absl::StrCat(std::getenv("TEST_TMPDIR"), "/records.db");
  TW_ASSERT_OK_AND_ASSIGN(const auto store, measure::Store::Open(path));
  const Cancellation cancellation;
  const CompileOptions options;
  TuneJob job = {model,        *codegen,       options,
                 *store,       cancellation,   "gemm",
                 path,
                 /*trace=*/"", /*json=*/false, TunedGpu(device, spec)};
  TuneOptions how;
  how.trials = 8;
  how.seconds = 40;
  TW_ASSERT_OK_AND_ASSIGN(const std::string summary, TuneModel(job, how));
  EXPECT_THAT(summary, HasSubstr("k0: T Y"));

  const std::vector<Record> records = All(*store);
  int ok = 0;
  std::map<std::string, Record> by_schedule;
  for (const Record& record : records) {
    const Measurement& measurement = record.measurement();
    EXPECT_EQ(record.device().spec(), spec.name());
    if (measurement.outcome() != Measurement::OK) {
      ADD_FAILURE() << measurement.message();
      continue;
    }
    ++ok;
    EXPECT_EQ(measurement.method().threads(), 1);
    EXPECT_EQ(measurement.method().timer(), measurement.method().model().empty()
                                                ? Method::PROFILER_ACTIVITY
                                                : Method::WALL_CLOCK);
    TW_ASSERT_OK_AND_ASSIGN(sketch::Schedule schedule,
                            sketch::Schedule::FromProto(record.schedule()));
    by_schedule.emplace(TraceOf(std::move(schedule)), record);
  }
  EXPECT_GE(ok, 8);
  ASSERT_GE(by_schedule.size(), 2u);

  // One of them is said to be twice as fast as the rules' own.
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel by_rule,
                          Compile(model, *codegen, options));
  ASSERT_EQ(by_rule.kernels.size(), 1u);
  const std::string rules = TraceOf(by_rule.kernels[0].schedule);
  TW_ASSERT_OK_AND_ASSIGN(const auto second,
                          measure::Store::Open(absl::StrCat(
                              std::getenv("TEST_TMPDIR"), "/compared.db")));
  std::string winner;
  for (const auto& [schedule, record] : by_schedule) {
    if (schedule == rules) {
      TW_ASSERT_OK(second->Append(Compared(record, 2000)));
    } else if (winner.empty()) {
      winner = schedule;
      TW_ASSERT_OK(second->Append(Compared(record, 1000)));
    }
  }
  ASSERT_EQ(by_schedule.count(rules), 1u);
  RecordSource source(*second, "compared.db");
  CompileOptions with_records;
  with_records.schedules = &source;
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel tuned,
                          Compile(model, *codegen, with_records));
  EXPECT_THAT(tuned.kernels[0].source, HasSubstr("record, "));
  EXPECT_NE(tuned.kernels[0].schedule.ToString(),
            by_rule.kernels[0].schedule.ToString());
  std::vector<HostTensor> inputs;
  for (const Port& port : model.inputs) {
    inputs.emplace_back(port.dtype, port.shape);
    for (int64_t i = 0; i < inputs.back().num_elements(); ++i)
      inputs.back().Set(i, {static_cast<double>(i % 7) - 3, 0});
  }
  TW_ASSERT_OK_AND_ASSIGN(const auto want,
                          RunCompiled(by_rule, device, model, inputs));
  TW_ASSERT_OK_AND_ASSIGN(const auto got,
                          RunCompiled(tuned, device, model, inputs));
  for (int64_t i = 0; i < want[0].num_elements(); ++i)
    ASSERT_EQ(got[0].Get(i).f, want[0].Get(i).f) << i;
}

}  // namespace
}  // namespace tilewright::tools

int main(int argc, char** argv) {
  tilewright::measure::RunWorkerIfAsked(argc, argv,
                                        {tilewright::cuda::FakeCudaWorker()});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
