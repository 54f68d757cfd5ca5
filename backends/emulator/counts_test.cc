// What a GPU's memory would do in a kernel, as the emulator counts it: known
// numbers for accesses by hand, and those of warp_access.h for drawn ones.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/emulator/codegen/host_compiler.h"
#include "backends/emulator/device/access_counts.h"
#include "backends/emulator/kernel_jobs.h"
#include "backends/gpu_text/prelude.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/gpu/hardware/warp_access.h"

namespace tilewright::emulator {
namespace {

using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

constexpr int kThreads = 64, kElements = 4096, kRounds = 3;

// Of the accesses to one argument, or to all of scratch (-1).
PlaceCount Of(const KernelCounts& counts, int64_t argument) {
  KernelCounts part;
  for (const CountedPlace& place : counts.places)
    if (place.count.argument == argument) part.places.push_back(place);
  return part.Total();
}

// One block of two warps reads x, or a copy of it in scratch, where `index`
// says.
struct ByHand {
  std::string name;
  std::function<Reg(ScalarBuilder&, Reg thread)> index;
  bool shared = false;
  int lanes = 1;
  int threads_that_read = kThreads;
  int64_t least = 2, expected = 2;  // turns or sectors
};

Job JobOf(const ByHand& test) {
  ScalarBuilder b(test.name);
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, kElements);
  const int y =
      b.AddArgument("y", DType::kFloat32, Role::kOutput, kThreads * test.lanes);
  const Reg thread = b.AddThreads(kThreads, 32);
  int from = x;
  if (test.shared) {
    from = b.AddScratch("s", DType::kFloat32, kElements);
    const Reg i = b.BeginForRegs(thread, b.Int(kElements), kThreads);
    b.Store(from, i, 0, b.Float(1));
    b.EndFor();
    b.Barrier();
  }
  b.BeginIf(b.Emit(Op::kLt, {thread, b.Int(test.threads_that_read)}));
  b.Store(y, b.Mul(thread, b.Int(test.lanes)), 0,
          b.Load(from, test.index(b, thread), 0, test.lanes));
  b.EndIf();
  return {std::move(b).Finish(),
          {std::string(4 * kElements, 0),
           std::string(4 * kThreads * test.lanes, 0)}};
}

std::function<Reg(ScalarBuilder&, Reg)> Times(int64_t factor) {
  return [factor](ScalarBuilder& b, Reg thread) {
    return b.Mul(thread, b.Int(factor));
  };
}

// Row thread % 32 of a tile of 32 x 32, its column 5, chunks of one element
// exchanged.
Reg Swizzled(ScalarBuilder& b, Reg thread) {
  const Reg row = b.Emit(Op::kFloorMod, {thread, b.Int(32)});
  return b.Add(b.Mul(row, b.Int(32)), b.Emit(Op::kXor, {row, b.Int(5)}));
}
Reg Nowhere(ScalarBuilder& b, Reg) { return b.Int(7); }

// Vectors of 16 bytes from x into scratch, of which each thread reads one
// element.
TEST(CountsTest, AsynchronousCopiesAreAccessesOfBothSides) {
  ScalarBuilder b("copied");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, 4 * kThreads);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kThreads);
  const int s = b.AddScratch("s", DType::kFloat32, 4 * kThreads);
  const Reg thread = b.AddThreads(kThreads, 32);
  kernel_ir::AsyncCopyInst copy;
  copy.from = x;
  copy.to = s;
  copy.from_offset = copy.to_offset = b.Mul(thread, b.Int(4));
  copy.lanes = 4;
  b.AsyncCopy(copy);
  b.Commit();
  b.Wait(0);
  b.Barrier();
  b.Store(y, thread, 0, b.Load(s, thread, 0));
  const std::vector<KernelCounts> counts =
      Count({{std::move(b).Finish(),
              {std::string(16 * kThreads, 1), std::string(4 * kThreads, 0)}}},
            Options(gpu_text::Dialect::kCuda, false));
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(Of(counts[0], 0).sectors, 32);
  EXPECT_EQ(Of(counts[0], 1).sectors, 8);
  EXPECT_EQ(Of(counts[0], -1).turns, 8 + 2);
}

TEST(CountsTest, AccessesByHandTakeWhatTheyAreKnownToTake) {
  const std::vector<ByHand> tests = {
      {"coalesced", Times(1), false, 1, kThreads, 8, 8},
      {"by_two", Times(2), false, 1, kThreads, 8, 16},
      {"by_rows", Times(32), false, 1, kThreads, 8, 64},
      {"all_one", Nowhere, false, 1, kThreads, 2, 2},
      {"forty_threads", Times(1), false, 1, 40, 5, 5},
      {"vectors", Times(4), false, 4, kThreads, 32, 32},
      {"banks", Times(1), true, 1, kThreads, 2, 2},
      {"banks_by_two", Times(2), true, 1, kThreads, 2, 4},
      {"transposed", Times(32), true, 1, kThreads, 2, 64},
      {"padded", Times(33), true, 1, kThreads, 2, 2},
      {"swizzled", Swizzled, true, 1, kThreads, 2, 2},
      {"broadcast", Nowhere, true, 1, kThreads, 2, 2},
      {"quarter_warps", Times(4), true, 4, kThreads, 8, 8},
      {"vectors_by_rows", Times(32), true, 4, kThreads, 8, 64},
      {"half_warps", Times(2), true, 2, kThreads, 4, 4},
      {"forty_in_banks", Times(2), true, 1, 40, 2, 3},
  };
  std::vector<Job> jobs;
  for (const ByHand& test : tests) jobs.push_back(JobOf(test));
  const std::vector<KernelCounts> counts =
      Count(jobs, Options(gpu_text::Dialect::kCuda, false));
  ASSERT_EQ(counts.size(), tests.size());
  for (size_t i = 0; i < tests.size(); ++i) {
    SCOPED_TRACE(tests[i].name);
    if (!tests[i].shared) {
      const PlaceCount count = Of(counts[i], 0);
      EXPECT_EQ(count.accesses, 2);
      EXPECT_EQ(count.sectors, tests[i].expected);
      EXPECT_EQ(count.least_sectors, tests[i].least);
      continue;
    }
    // The copy is written without conflicts.
    const PlaceCount count = Of(counts[i], -1);
    const int64_t copies = kElements / 32;
    EXPECT_EQ(count.accesses - copies, 2);
    EXPECT_EQ(count.turns - copies, tests[i].expected);
    EXPECT_EQ(count.least_turns - copies, tests[i].least);
  }
}

// Lanes that leave out the first of two accesses in a line do not take part in
// it with their second.
TEST(CountsTest, AccessesOfOneLineAreToldApart) {
  ScalarBuilder b("both");
  const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, kElements);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, kThreads);
  const Reg thread = b.AddThreads(kThreads, 32);
  const Reg odd =
      b.Emit(Op::kEq, {b.Emit(Op::kFloorMod, {thread, b.Int(2)}), b.Int(1)});
  const Reg some = b.Load(x, thread, 0, 1, 0, odd);
  const Reg all = b.Load(x, b.Mul(thread, b.Int(2)), 0);
  b.Store(y, thread, 0, b.Add(some, all));
  const Job job{std::move(b).Finish(),
                {std::string(4 * kElements, 0), std::string(4 * kThreads, 0)}};
  for (const char* compiler : {"g++", "clang++"}) {
    EmulatorCodegenOptions options = Options(gpu_text::Dialect::kCuda, false);
    options.compiler.programs = {compiler, "c++"};
    const std::vector<KernelCounts> counts = Count({job}, options);
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(Of(counts[0], 0).accesses, 4);
    EXPECT_EQ(Of(counts[0], 0).sectors, 2 * 4 + 2 * 8);
    EXPECT_EQ(Of(counts[0], 0).least_sectors, 2 * 2 + 2 * 4);
    // 64 elements, then 64 of 128.
    EXPECT_EQ(Of(counts[0], 0).block_sectors, 16);
  }
}

TEST(CountsTest, ReportsNameTheLinesThatWaste) {
  const std::vector<KernelCounts> counts =
      Count({JobOf(ByHand{"rows", Times(32)})},
            Options(gpu_text::Dialect::kCuda, true));
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(ToString(counts[0]),
            "kernel rows_0: 4 accesses, 72 sectors of 16\n"
            "  line 8: 4 accesses, 72 sectors of 16: "
            "y[thread * 1] = x[thread * 32];\n");
}

// Each lane at an index of its own, or at none, in every round: x[at[...]].
struct Drawn {
  DType dtype;
  int lanes;
  std::vector<int32_t> at;  // round, thread; below 0: it takes no part
};

Drawn Draw(Random& random) {
  Drawn drawn;
  drawn.dtype =
      std::vector<DType>{DType::kFloat32, DType::kFloat16, DType::kFloat64,
                         DType::kInt8}[random.Index(4)];
  drawn.lanes = 1 << random.Index(4);
  const double idle = random.Bernoulli(0.5) ? 0.3 : 0;
  const int64_t spread = int64_t{1} << random.UniformInt(0, 8);
  for (int i = 0; i < kRounds * kThreads; ++i) {
    const int64_t chunk = random.Bernoulli(0.5)
                              ? random.UniformInt(0, spread - 1)
                              : i % kThreads * random.UniformInt(1, 2);
    drawn.at.push_back(random.Bernoulli(idle)
                           ? -1
                           : static_cast<int32_t>(chunk * drawn.lanes));
  }
  return drawn;
}

Job JobOf(const Drawn& drawn, bool shared) {
  ScalarBuilder b("drawn");
  const auto places = static_cast<int64_t>(drawn.at.size());
  const int x = b.AddArgument("x", drawn.dtype, Role::kInput, kElements);
  const int at = b.AddArgument("at", DType::kInt32, Role::kInput, places);
  const int y =
      b.AddArgument("y", drawn.dtype, Role::kOutput, places * drawn.lanes);
  const Reg thread = b.AddThreads(kThreads, 32);
  int from = x;
  if (shared) {
    from = b.AddScratch("s", drawn.dtype, kElements);
    const Reg i = b.BeginForRegs(thread, b.Int(kElements), kThreads);
    b.Store(from, i, 0, b.Load(x, i, 0));
    b.EndFor();
    b.Barrier();
  }
  const Reg round = b.BeginFor(0, kRounds);
  const Reg place = b.Add(b.Mul(round, b.Int(kThreads)), thread);
  const Reg index = b.Cast(DType::kInt64, b.Load(at, place, 0));
  b.BeginIf(b.Emit(Op::kGe, {index, b.Int(0)}));
  // What the printer can prove a multiple.
  const Reg chunk = b.Emit(Op::kFloorDiv, {index, b.Int(drawn.lanes)});
  b.Store(y, b.Mul(place, b.Int(drawn.lanes)), 0,
          b.Load(from, b.Mul(chunk, b.Int(drawn.lanes)), 0, drawn.lanes));
  b.EndIf();
  b.EndFor();
  Job job{std::move(b).Finish(), {}};
  const size_t element = static_cast<size_t>(SizeBytes(drawn.dtype));
  job.args = {std::string(kElements * element, 0),
              std::string(4 * drawn.at.size(), 0),
              std::string(drawn.at.size() * drawn.lanes * element, 0)};
  std::memcpy(&job.args[1][0], drawn.at.data(), 4 * drawn.at.size());
  return job;
}

// The accesses of warps: a vector of more than 16 bytes is several.
std::vector<WarpAccess> AccessesOf(const Drawn& drawn) {
  const int64_t element = SizeBytes(drawn.dtype), all = element * drawn.lanes;
  std::vector<WarpAccess> accesses;
  for (size_t warp = 0; warp < drawn.at.size(); warp += 32) {
    for (int64_t piece = 0; piece < all; piece += 16) {
      WarpAccess access;
      access.bytes = std::min<int64_t>(16, all);
      bool any = false;
      for (size_t lane = warp; lane < warp + 32; ++lane) {
        any = any || drawn.at[lane] >= 0;
        access.offset_bytes.push_back(drawn.at[lane] < 0
                                          ? WarpAccess::kIdle
                                          : drawn.at[lane] * element + piece);
      }
      if (any) accesses.push_back(std::move(access));
    }
  }
  return accesses;
}

TEST(CountsTest, DrawnAccessesTakeWhatWarpAccessSays) {
  constexpr int kCases = 60;
  Random random(7);
  std::vector<Drawn> drawn;
  std::vector<Job> jobs;
  for (int i = 0; i < kCases; ++i) {
    drawn.push_back(Draw(random));
    jobs.push_back(JobOf(drawn.back(), i % 2 == 1));
  }
  const std::vector<KernelCounts> counts =
      Count(jobs, Options(gpu_text::Dialect::kHip, false));
  ASSERT_EQ(counts.size(), jobs.size());
  int64_t uncoalesced = 0, conflicts = 0;
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(ToString(counts[i]));
    int64_t sectors = 0, turns = 0, least_turns = 0;
    const std::vector<WarpAccess> accesses = AccessesOf(drawn[i]);
    for (const WarpAccess& access : accesses) {
      sectors += Sectors(access, 32);
      turns += BankPasses(access, {});
      least_turns += LeastBankPasses(access, {});
    }
    if (i % 2 == 0) {
      EXPECT_EQ(Of(counts[i], 0).accesses, accesses.size());
      EXPECT_EQ(Of(counts[i], 0).sectors, sectors);
      uncoalesced += sectors - Of(counts[i], 0).least_sectors;
    } else {
      const int64_t copies =
          kElements / 32 * std::max<int64_t>(1, SizeBytes(drawn[i].dtype) / 4);
      EXPECT_EQ(Of(counts[i], -1).turns - copies, turns);
      EXPECT_EQ(Of(counts[i], -1).least_turns - copies, least_turns);
      conflicts += turns - least_turns;
    }
  }
  EXPECT_GT(uncoalesced, 0);
  EXPECT_GT(conflicts, 0);
}

}  // namespace
}  // namespace tilewright::emulator
