#include "backends/cuda/nvrtc/ptxas_log.h"

#include <string>

#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

// NVRTC 13.0 for sm_80, and a warning of the front end.
constexpr char kLog[] =
    R"(kernels(3): warning #177-D: variable "four bytes spill stores" is unused

ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'many' for 'sm_80'
ptxas info    : Function properties for many
ptxas         .     864 bytes stack frame, 1228 bytes spill stores, 1428 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 864 bytes cumulative stack size, 1024 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 78.338 ms
ptxas info    : Compiling entry function 'twice' for 'sm_80'
ptxas info    : Function properties for twice
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 1.186 ms
)";

TEST(PtxasLogTest, TellsRegistersSpillsAndSharedMemoryOfEachKernel) {
  const auto kernels = ReadPtxasLog(kLog);
  ASSERT_EQ(kernels.size(), 2u);
  const KernelResources& many = kernels.at("many");
  EXPECT_EQ(many.registers, 64);
  EXPECT_EQ(many.stack_bytes, 864);
  EXPECT_EQ(many.spill_store_bytes, 1228);
  EXPECT_EQ(many.spill_load_bytes, 1428);
  EXPECT_EQ(many.shared_bytes, 1024);
  const KernelResources& twice = kernels.at("twice");
  EXPECT_EQ(twice.registers, 8);
  EXPECT_EQ(twice.stack_bytes + twice.spill_store_bytes +
                twice.spill_load_bytes + twice.shared_bytes,
            0);
}

TEST(PtxasLogTest, AKernelThatTheLogDoesNotTellAllOfIsLeftOut) {
  const std::string log = kLog;
  EXPECT_TRUE(ReadPtxasLog("").empty());
  EXPECT_EQ(ReadPtxasLog(log.substr(0, log.find("Used 8"))).count("twice"), 0u);
  std::string unknown = log;
  unknown.replace(unknown.find("spill stores, 0"), 5, "spelt");
  EXPECT_EQ(ReadPtxasLog(unknown).count("twice"), 0u);
  EXPECT_EQ(ReadPtxasLog(unknown).count("many"), 1u);
}

}  // namespace
}  // namespace tilewright::cuda
