// Sums that other threads of a block read are kept in registers until they are
// done and stored in shared memory once: the same bits as where every term
// loads and stores them there, with fewer turns of the banks.
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "backends/emulator/kernel_jobs.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/testing/simt_case.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/simt/block_tile.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::emulator {
namespace {

using kernel_ir::ScalarBuffer;
using kernel_ir::ScalarKernel;
using lowering::TileOf;
using sketch::BlockTile;
using sketch::Workload;

struct FusedSums {
  std::string name;
  Workload workload;
  BlockTile tile;
  std::string sums;  // that other threads read
};

std::vector<FusedSums> AllFusedSums() {
  std::vector<FusedSums> all;
  all.push_back({"product_product", sketch::TwoGemms(48, 40, 56, 64),
                 TileOf({16, 64}, {4, 16}, 4, 8), "T1"});
  // Tiles, steps and vectors that divide nothing.
  all.push_back({"odd_products", sketch::TwoGemms(19, 23, 17, 13),
                 TileOf({7, 13}, {4, 8}, 1, 5), "T1"});
  all.push_back({"convolution_convolution", *sketch::ParseWorkload(R"(
X: f32[1, 6, 12, 12] = placeholder
V: f32[8, 6, 3, 3] = placeholder
W: f32[16, 8, 3, 3] = placeholder
C: f32[1, 8, 10, 10] = compute (n: 1, o: 8, h: 10, w: 10) reduce (c: 6, y: 3, x: 3) sum:f32 {
  X[n, c, h + y, w + x] * V[o, c, y, x] }
D: f32[1, 16, 8, 8] = compute (n: 1, o: 16, h: 8, w: 8) reduce (c: 8, y: 3, x: 3) sum:f32 {
  C[n, c, h + y, w + x] * W[o, c, y, x] }
return D
)"),
                 TileOf({1, 16, 4, 8}, {1, 4, 2, 4}, 2, 2), "C"});
  all.push_back({"convolution_norm", *sketch::ParseWorkload(R"(
X: f32[1, 6, 9, 9] = placeholder
V: f32[8, 6, 3, 3] = placeholder
C: f32[1, 8, 7, 7] = compute (n: 1, o: 8, h: 7, w: 7) reduce (c: 6, y: 3, x: 3) sum:f32 {
  X[n, c, h + y, w + x] * V[o, c, y, x] }
S: f32[1, 8] = compute (n: 1, o: 8) reduce (h: 7, w: 7) sum:f32 { C[n, o, h, w] }
Y: f32[1, 8, 7, 7] = compute (n: 1, o: 8, h: 7, w: 7) { C[n, o, h, w] - S[n, o] / 49.0 }
return Y
)"),
                 TileOf({1, 4, 7, 7}, {1, 4, 4, 4}, 1, 3), "C"});
  return all;
}

struct Made {
  lowering::RandomCase drawn;
  Job job;
};

absl::StatusOr<Made> Make(const FusedSums& fused, bool in_place) {
  Answers answers;
  if (in_place) answers[absl::StrCat("block.sums.", fused.sums)] = "in_place";
  Made made;
  TW_ASSIGN_OR_RETURN(
      made.drawn, lowering::SimtCase(fused.workload, fused.tile, 1, answers));
  TW_ASSIGN_OR_RETURN(made.job.kernel,
                      lowering::LegalizeForGpuThread(made.drawn.kernel));
  made.job.kernel.name =
      absl::StrCat(fused.name, in_place ? "_in_place" : "_kept");
  made.job.args = made.drawn.args;
  return made;
}

bool StoresTo(absl::string_view line, absl::string_view buffer) {
  return absl::StrContains(line, absl::StrCat("tw_store(", buffer, ",")) ||
         absl::StrContains(line,
                           absl::StrCat("tw_store_aligned(", buffer, ",")) ||
         (absl::StrContains(line, absl::StrCat(" ", buffer, "[")) &&
          absl::StrContains(line.substr(line.find(buffer)), "] = "));
}

// Lines that store to the buffer in any loop of the text that multiplies and
// adds.
int StoresBesideTerms(const std::string& text, const std::string& buffer) {
  struct Open {
    bool is_loop;
    size_t first;
  };
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  std::vector<Open> open;
  std::vector<bool> beside(lines.size(), false);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (absl::StrContains(lines[i], "}") && !open.empty()) {
      bool adds = false;
      for (size_t j = open.back().first; j < i; ++j)
        adds = adds || absl::StrContains(lines[j], "tw_fma");
      for (size_t j = open.back().first; adds && open.back().is_loop && j < i;
           ++j)
        beside[j] = true;
      open.pop_back();
    }
    if (absl::EndsWith(lines[i], "{"))
      open.push_back({absl::StrContains(lines[i], "for ("), i + 1});
  }
  int stores = 0;
  for (size_t i = 0; i < lines.size(); ++i)
    stores += beside[i] && StoresTo(lines[i], buffer) ? 1 : 0;
  return stores;
}

int Stores(const std::string& text, const std::string& buffer) {
  int stores = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n'))
    stores += StoresTo(line, buffer) ? 1 : 0;
  return stores;
}

// Of the block's whole scratch, or of one buffer in it.
int64_t Turns(const ScalarKernel& kernel, const KernelCounts& counts,
              const std::string& buffer = "") {
  int64_t turns = 0;
  for (const CountedPlace& place : counts.places) {
    if (place.count.argument >= 0) continue;
    for (const ScalarBuffer& b : kernel.buffers)
      if (b.scratch_offset_bytes == place.count.scratch_bytes &&
          (buffer.empty() || b.name == buffer))
        turns += place.count.turns;
  }
  return turns;
}

TEST(KeptSumsTest, SumsAreStoredOnceWithTheSameBits) {
  std::vector<FusedSums> all = AllFusedSums();
  std::vector<Job> jobs;
  for (const FusedSums& fused : all) {
    SCOPED_TRACE(fused.name);
    Result results[2];
    for (const bool in_place : {false, true}) {
      TW_ASSERT_OK_AND_ASSIGN(const Made made, Make(fused, in_place));
      TW_ASSERT_OK_AND_ASSIGN(const std::string text,
                              gpu_text::KernelText(made.job.kernel));
      EXPECT_GT(Stores(text, fused.sums), 0) << text;
      if (in_place) {
        EXPECT_GT(StoresBesideTerms(text, fused.sums), 0) << text;
      } else {
        EXPECT_EQ(StoresBesideTerms(text, fused.sums), 0) << text;
      }
      results[in_place] = Interpret(made.job);
      TW_ASSERT_OK(results[in_place].status());
      TW_EXPECT_OK(lowering::CheckResults(made.drawn, *results[in_place]));
      jobs.push_back(made.job);
    }
    EXPECT_EQ(Difference(jobs.back().kernel, results[0], results[1]), "");
  }
  for (const auto dialect :
       {gpu_text::Dialect::kCuda, gpu_text::Dialect::kHip}) {
    const std::vector<Result> results =
        Emulate(jobs, Options(dialect, /*checked=*/true));
    for (size_t i = 0; i < jobs.size(); ++i)
      EXPECT_EQ(Difference(jobs[i].kernel, results[i], Interpret(jobs[i])), "")
          << jobs[i].kernel.name;
  }
  const std::vector<KernelCounts> counts =
      Count(jobs, Options(gpu_text::Dialect::kCuda, /*checked=*/false));
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t kept = Turns(jobs[2 * i].kernel, counts[2 * i]),
                  in_place = Turns(jobs[2 * i + 1].kernel, counts[2 * i + 1]);
    std::cout << all[i].name << ": " << in_place << " turns in place, " << kept
              << " kept in registers\n";
    EXPECT_LT(kept * 10, in_place * 8) << all[i].name;
    EXPECT_LT(Turns(jobs[2 * i].kernel, counts[2 * i], all[i].sums) * 3,
              Turns(jobs[2 * i + 1].kernel, counts[2 * i + 1], all[i].sums) * 2)
        << all[i].name;
  }
}

// What lanes sum is stored once, an output and what other threads read: no zero
// before, and nothing is loaded.
TEST(KeptSumsTest, SumsOfLanesAreStoredOnce) {
  BlockTile tile = TileOf({4, 40}, {4, 8}, 1, 0);
  tile.lanes = 8;
  const Workload norm = *sketch::ParseWorkload(R"(
X: f32[12, 40] = placeholder
S: f32[12] = compute (m: 12) reduce (k: 40) sum:f32 { X[m, k] }
M: f32[12] = compute (m: 12) reduce (k: 40) max:f32 { X[m, k] }
Y: f32[12, 40] = compute (m: 12, k: 40) { (X[m, k] - S[m]) * M[m] }
return Y
)");
  BlockTile rows = TileOf({4}, {4}, 1, 0);
  rows.lanes = 8;
  const Workload sum = *sketch::ParseWorkload(R"(
X: f32[12, 40] = placeholder
S: f32[12] = compute (m: 12) reduce (k: 40) sum:f32 { X[m, k] }
return S
)");
  std::vector<Job> jobs;
  const auto check = [&](const Workload& workload, const BlockTile& of_block,
                         const std::vector<std::string>& sums) {
    TW_ASSERT_OK_AND_ASSIGN(const Made made,
                            Make({sums[0], workload, of_block, sums[0]},
                                 /*in_place=*/false));
    TW_ASSERT_OK_AND_ASSIGN(const std::string text,
                            gpu_text::KernelText(made.job.kernel));
    for (const std::string& buffer : sums)
      EXPECT_EQ(Stores(text, buffer), 1) << text;
    const Result result = Interpret(made.job);
    TW_ASSERT_OK(result.status());
    TW_EXPECT_OK(lowering::CheckResults(made.drawn, *result));
    jobs.push_back(made.job);
  };
  check(norm, tile, {"S", "M"});
  check(sum, rows, {"S"});
  jobs.back().kernel.name = "rows";
  const std::vector<Result> results =
      Emulate(jobs, Options(gpu_text::Dialect::kCuda, /*checked=*/true));
  for (size_t i = 0; i < jobs.size(); ++i)
    EXPECT_EQ(Difference(jobs[i].kernel, results[i], Interpret(jobs[i])), "")
        << jobs[i].kernel.name;
}

}  // namespace
}  // namespace tilewright::emulator
