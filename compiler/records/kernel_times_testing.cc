#include "compiler/records/kernel_times_testing.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "compiler/kernels/group_workload.h"
#include "measure/record/test_records.h"
#include "sketch/trace/workload.h"

namespace tilewright {

measure::Measurement Took(double ns) {
  measure::Measurement measurement = measure::TestRecord("", ns).measurement();
  measurement.clear_verification();
  measurement.mutable_latency()->set_low_ns(ns);
  measurement.mutable_method()->set_cache(measure::Method::WARM);
  return measurement;
}

measure::Measurement Verified(double ns) {
  measure::Measurement measurement = Took(ns);
  measurement.mutable_verification()->set_verified(true);
  measurement.mutable_verification()->set_reference("the test");
  return measurement;
}

measure::Measurement Wrong(const std::string& message) {
  measure::Measurement measurement;
  measurement.set_outcome(measure::Measurement::WRONG_ANSWER);
  measurement.set_fault(measure::Measurement::CANDIDATE);
  measurement.set_message(message);
  return measurement;
}

measure::Measurement Failed(measure::Measurement::Fault fault,
                            const std::string& message) {
  measure::Measurement measurement;
  measurement.set_outcome(measure::Measurement::RUN_ERROR);
  measurement.set_fault(fault);
  measurement.set_message(message);
  return measurement;
}

void KernelTimesTest::SetUp() {
  path_ = absl::StrCat(testing::TempDir(), "/kernel_times", getpid(), ".db");
  for (const char* suffix : {"", "-wal", "-shm"})
    unlink((path_ + suffix).c_str());
  TW_ASSERT_OK_AND_ASSIGN(spec_, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec_));
  KernelMaker maker(*codegen);
  for (const int size : {16, 32}) {
    GroupWorkload group;
    TW_ASSERT_OK_AND_ASSIGN(
        group.workload,
        sketch::ParseWorkload(absl::StrCat(
            "A: f32[", size, "] = placeholder\nY: f32[", size,
            "] = compute (i: ", size, ") { tanh(A[i]) }\nreturn Y\n")));
    TW_ASSERT_OK_AND_ASSIGN(const CompiledKernel kernel, maker.Make(group));
    kernels_.push_back(kernel);
  }
  // The first one, scheduled in another way.
  kernels_.push_back(kernels_[0]);
  kernels_.back().schedule.decisions.push_back({"another", "1"});
}

}  // namespace tilewright
