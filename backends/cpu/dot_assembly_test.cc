// Reads what is emitted for contractions of narrow numbers under their default
// schedules.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/lowering/tile/lower.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/dot_workloads.h"

namespace tilewright::cpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  const char* spec;
  DType dtype;
  const char* instruction;
  const char* vector_register;
};

class DotAssemblyTest : public testing::TestWithParam<Case> {};

int64_t ThreadNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{1000000000} * t.tv_sec + t.tv_nsec;
}

// The lines of the loops that hold the instruction and no other loop.
std::vector<std::vector<std::string>> InnerLoops(
    const std::string& text, const std::string& instruction) {
  std::vector<std::string> lines;
  std::map<std::string, size_t> labels;
  std::vector<std::vector<std::string>> loops;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line); lines.push_back(line)) {
    if (line.rfind(".LBB", 0) == 0)
      labels[line.substr(0, line.find(':'))] = lines.size();
    const size_t target = line.find(".LBB");
    if (line.rfind("\tj", 0) != 0 || target == std::string::npos) continue;
    const auto label = labels.find(line.substr(target));
    if (label == labels.end()) continue;
    const std::vector<std::string> body(
        lines.begin() + static_cast<std::ptrdiff_t>(label->second) + 1,
        lines.end());
    bool innermost = true, holds = false;
    for (const std::string& one : body) {
      innermost &= one.rfind(".LBB", 0) != 0;
      holds |= one.find(instruction) != std::string::npos;
    }
    if (innermost && holds) loops.push_back(body);
  }
  return loops;
}

TEST_P(DotAssemblyTest, InnerLoopsHoldNoSpillNoHalfVectorAndNoGather) {
  const Case& c = GetParam();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(c.spec));
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(spec));
  const sketch::Workload workload = sketch::NarrowGemm(c.dtype, 96, 192, 256);
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Schedule schedule,
                          sketch::DefaultSchedule(workload, spec));
  EXPECT_THAT(schedule.ToString(), HasSubstr("tensorize"));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::BlockTree tree,
                          sketch::Replay(workload, schedule));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::Kernel tile,
                          lowering::Lower(tree, "k"));
  TW_ASSERT_OK_AND_ASSIGN(const kernel_ir::ScalarKernel kernel,
                          codegen->Legalize(tile));
  TW_ASSERT_OK_AND_ASSIGN(const std::string text, codegen->Source(kernel));
  const auto loops = InnerLoops(text, c.instruction);
  EXPECT_FALSE(loops.empty()) << text;
  for (const std::vector<std::string>& loop : loops) {
    for (const std::string& line : loop) {
      EXPECT_THAT(line, Not(HasSubstr("rsp")));
      EXPECT_THAT(line, Not(HasSubstr("gather")));
      EXPECT_THAT(line, Not(HasSubstr("call")));
      EXPECT_THAT(line, Not(HasSubstr("pinsr")));
      if (line.find(c.instruction) == std::string::npos) continue;
      EXPECT_THAT(line, HasSubstr(c.vector_register));
    }
  }
  int64_t best = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const int64_t start = ThreadNs();
    ASSERT_THAT(codegen->Emit({kernel}), IsOk());
    best = std::min(best, ThreadNs() - start);
  }
  EXPECT_LT(best, int64_t{60} * 1000 * 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Classes, DotAssemblyTest,
    testing::Values(
        Case{"cpu_x86_64_v4_amx", DType::kUInt8, "vpdpbusd", "%zmm"},
        Case{"cpu_x86_64_v4_amx", DType::kBFloat16, "vdpbf16ps", "%zmm"},
        Case{"cpu_x86_64_v4_bf16", DType::kUInt8, "vpdpbusd", "%zmm"},
        Case{"cpu_x86_64_v4_bf16", DType::kBFloat16, "vdpbf16ps", "%zmm"},
        Case{"cpu_x86_64_v4_vnni", DType::kUInt8, "vpdpbusd", "%zmm"},
        Case{"cpu_x86_64_v4", DType::kUInt8, "vpmaddwd", "%zmm"},
        Case{"cpu_x86_64_v3", DType::kUInt8, "vpmaddwd", "%ymm"},
        Case{"cpu_x86_64_v2", DType::kUInt8, "pmaddwd", "%xmm"}));

}  // namespace
}  // namespace tilewright::cpu
