#include "tools/block_report.h"

#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

Program TwoKernels(const char* target) {
  Program program;
  program.set_target(target);
  KernelInfo* tiled = program.add_kernels();
  tiled->set_name("k0");
  tiled->set_label("conv1 relu1");
  tiled->set_num_tasks(6);
  tiled->set_threads(128);
  tiled->set_scratch_bytes(8192);
  KernelInfo* plain = program.add_kernels();
  plain->set_name("k1");
  plain->set_label("sum");
  plain->set_num_tasks(1);
  return program;
}

TEST(BlockReportTest, EveryKernelOfAGpuHasItsBlocks) {
  EXPECT_EQ(BlocksText(TwoKernels("cuda:sm_90a")),
            "k0 (conv1 relu1): 6 blocks of 128 threads, 8192 bytes shared\n"
            "k1 (sum): 1 block of 1 thread, 0 bytes shared\n");
  Json json;
  AppendBlocks(TwoKernels("emulator:hip"), json);
  EXPECT_EQ(json.text(),
            "[{\"kernel\": \"k0\", \"computes\": \"conv1 relu1\", \"blocks\": "
            "6, \"threads\": 128, \"shared_bytes\": 8192}, {\"kernel\": "
            "\"k1\", \"computes\": \"sum\", \"blocks\": 1, \"threads\": 1, "
            "\"shared_bytes\": 0}]");
}

TEST(BlockReportTest, ACpuHasNone) {
  EXPECT_EQ(BlocksText(TwoKernels("cpu:x86-64-v4")), "");
  Json json;
  AppendBlocks(TwoKernels("cpu:x86-64-v4"), json);
  EXPECT_EQ(json.text(), "[]");
}

}  // namespace
}  // namespace tilewright::tools
