#include "backends/lowering/passes/stream_stores.h"

#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;

constexpr int64_t kElements = 4096;
constexpr int64_t kBytes = 4 * kElements;

// How many stores of y = x, `stride` elements a row and `start` from the
// beginning, are streamed when the cache has so many bytes.
int Streamed(int64_t cache_bytes, int64_t stride = 64, int64_t start = 0,
             bool reads_output = false, int active = 0) {
  ScalarBuilder b("f");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, kElements);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kElements);
  const Reg row = b.BeginFor(0, 8, 1);
  const Reg column = b.BeginFor(0, 32, 16);
  const Reg at = b.Add(b.Mul(row, b.Int(stride)), column);
  b.Store(y, at, start,
          b.Load(reads_output ? y : x, at, reads_output ? start : 0, 16),
          active);
  b.EndFor();
  b.EndFor();
  ScalarKernel kernel = std::move(b).Finish();
  StreamStores(kernel, {cache_bytes, 64});
  int count = 0;
  const std::string text = kernel.ToString();
  for (size_t at_text = 0;
       (at_text = text.find("streaming", at_text)) != std::string::npos;
       ++at_text)
    ++count;
  return count;
}

TEST(StreamStoresTest, OfOutputsThatTheCacheCannotHold) {
  EXPECT_EQ(Streamed(kBytes), 1);
  EXPECT_EQ(Streamed(2 * kBytes), 0);  // both fit
  EXPECT_EQ(Streamed(0), 0);           // nobody knows
}

TEST(StreamStoresTest, OnlyWholeVectorsAtMultiplesOfTheirSize) {
  EXPECT_EQ(Streamed(kBytes, 48), 1);
  EXPECT_EQ(Streamed(kBytes, 50), 0);
  EXPECT_EQ(Streamed(kBytes, 64, 16), 1);
  EXPECT_EQ(Streamed(kBytes, 64, 8), 0);
  EXPECT_EQ(Streamed(kBytes, 64, 0, false, 13), 0);
}

TEST(StreamStoresTest, NotWhatTheKernelReadsAgain) {
  EXPECT_EQ(Streamed(kBytes, 64, 0, true), 0);
}

}  // namespace
}  // namespace tilewright::lowering
