#include "tilegraph/fuse/plan_cache.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/measured_times.h"
#include "tilegraph/fuse/plan_profiler.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/canonical_group.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/testing/connect_testing.h"
#include "tilegraph/testing/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// By signature. Of groups interleaved, by all of theirs.
using Known = std::map<std::string, absl::StatusOr<double>>;
using KnownInterleaved = std::map<std::string, std::vector<double>>;

class MemoryCache : public PlanCache {
 public:
  MemoryCache(const TensorGraph& graph, Known& known,
              KnownInterleaved& interleaved)
      : graph_(graph), known_(known), interleaved_(interleaved) {}

  std::optional<absl::StatusOr<double>> Find(
      const GroupOfPlan& group) override {
    const auto found = known_.find(Signature(group));
    if (found == known_.end()) return std::nullopt;
    return found->second;
  }
  std::optional<std::vector<double>> FindInterleaved(
      absl::Span<const GroupOfPlan> groups) override {
    const auto found = interleaved_.find(Signature(groups));
    if (found == interleaved_.end()) return std::nullopt;
    return found->second;
  }
  void Keep(const GroupOfPlan& group,
            const absl::StatusOr<double>& seconds) override {
    known_.insert_or_assign(Signature(group), seconds);
  }
  void KeepInterleaved(absl::Span<const GroupOfPlan> groups,
                       const std::vector<double>& seconds) override {
    interleaved_[Signature(groups)] = seconds;
  }

 private:
  // "fused" or "apart", tiles, and what is computed.
  std::string Signature(const GroupOfPlan& one) const {
    return absl::StrCat(one.group->stages.empty() ? "apart " : "fused ",
                        absl::StrJoin(one.group->tile_plan.tile, "x"), "\n",
                        KernelKeyOf(graph_, *one.plan, *one.group).text());
  }
  std::string Signature(absl::Span<const GroupOfPlan> groups) const {
    std::string all;
    for (const GroupOfPlan& one : groups) all += Signature(one);
    return all;
  }

  const TensorGraph& graph_;
  Known& known_;
  KnownInterleaved& interleaved_;
};

// A group apart takes 10 ms, a fused one `fused`, interleaved `interleaved`.
// After `most` answers the time is over.
class FakeProfiler : public PlanProfiler {
 public:
  explicit FakeProfiler(double fused, double interleaved = 1, int most = 1000)
      : fused_(fused), interleaved_(interleaved), most_(most) {}

  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan&, absl::Span<const Group> variants) override {
    std::vector<absl::StatusOr<double>> result;
    for (const Group& variant : variants) {
      if (static_cast<int>(asked.size()) == most_) {
        result.push_back(absl::ResourceExhaustedError("time is over"));
        continue;
      }
      asked.push_back(variant);
      result.push_back(variant.stages.empty() ? 0.010 : fused_);
    }
    return result;
  }
  absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const GroupOfPlan> groups) override {
    ++compared;
    std::vector<double> result;
    for (const GroupOfPlan& one : groups)
      result.push_back(one.group->stages.empty() ? 0.010 : interleaved_);
    return result;
  }

  std::vector<Group> asked;
  int compared = 0;

 private:
  const double fused_, interleaved_;
  const int most_;
};

class NobodyMeasures : public PlanProfiler {
 public:
  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan&, absl::Span<const Group> variants) override {
    return std::vector<absl::StatusOr<double>>(variants.size(),
                                               absl::NotFoundError("nobody"));
  }
  absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const GroupOfPlan>) override {
    return absl::NotFoundError("nobody");
  }
};

class PlanCacheTest : public ConnectTest {
 protected:
  std::string PlanOf(const TensorGraph& graph, PlanProfiler& profiler,
                     MeasuringOptions measuring = {}) {
    MemoryCache cache(graph, known_, interleaved_);
    ConnectPlanOptions options;
    options.evaluate.measuring = measuring;
    options.evaluate.measuring.profiler = &profiler;
    options.evaluate.measuring.cache = &cache;
    return ToString(Connect(graph, options), graph);
  }

  Known known_;
  KnownInterleaved interleaved_;
  // The cost model fuses its two products.
  const TensorGraph chain_ = Products(65536, 64, {"T = A B", "Y = T B"}, "Y");
};

TEST_F(PlanCacheTest, WhatIsAskedTwiceIsMeasuredOnce) {
  FakeProfiler first(0.015), second(0.015);
  const std::string plan = PlanOf(chain_, first);
  // Both products are one kernel.
  EXPECT_THAT(first.asked, SizeIs(7));
  EXPECT_EQ(PlanOf(chain_, second), plan);
  EXPECT_THAT(second.asked, IsEmpty());
  // Nor does it need anybody who measures.
  NobodyMeasures nobody;
  EXPECT_EQ(PlanOf(chain_, nobody), plan);
}

TEST_F(PlanCacheTest, WhatIsCloseIsComparedInterleavedOnce) {
  FakeProfiler first(0.0190, 0.0199), second(0.0190, 0.0001);
  const std::string plan = PlanOf(chain_, first);
  EXPECT_EQ(first.compared, 1);
  EXPECT_EQ(PlanOf(chain_, second), plan);
  EXPECT_EQ(second.compared, 0);
}

TEST_F(PlanCacheTest, ModelsShareWhatTheyHaveInCommon) {
  const TensorGraph both = Products(
      65536, 64, {"P = A B", "Q = P B", "R = C D", "S = R + C"}, "Q, S");
  FakeProfiler alone(0.015), after(0.015), chain(0.015);
  const std::string plan = PlanOf(both, alone);
  known_.clear();
  PlanOf(chain_, chain);
  EXPECT_EQ(PlanOf(both, after), plan);
  EXPECT_EQ(after.asked.size() + 7, alone.asked.size());
  for (const Group& group : after.asked) {
    for (const TensorId member : group.members)
      EXPECT_THAT(both.tensor(member).name, testing::AnyOf("R", "S"));
  }
}

TEST_F(PlanCacheTest, ARecordOfOneSideAloneIsIgnored) {
  const std::string by_estimate = ToString(Connect(chain_, {}), chain_);
  FakeProfiler slow(0.025);
  const std::string by_time = PlanOf(chain_, slow);
  ASSERT_NE(by_time, by_estimate);
  const Known all = known_;
  NobodyMeasures nobody;
  EXPECT_EQ(PlanOf(chain_, nobody), by_time);
  for (const char* const kept : {"fused", "apart"}) {
    known_.clear();
    for (const auto& [signature, seconds] : all) {
      if (signature.rfind(kept, 0) == 0) known_.insert({signature, seconds});
    }
    ASSERT_THAT(known_, Not(IsEmpty()));
    EXPECT_EQ(PlanOf(chain_, nobody), by_estimate) << kept;
  }
}

TEST_F(PlanCacheTest, WhatWasMeasuredBeforeTheTimeWasOverIsKept) {
  FakeProfiler whole(0.025);
  const std::string plan = PlanOf(chain_, whole);
  known_.clear();
  FakeProfiler first(0.025, 1, 3), second(0.025);
  PlanOf(chain_, first);
  EXPECT_THAT(known_, SizeIs(3));
  EXPECT_EQ(PlanOf(chain_, second), plan);
  EXPECT_EQ(first.asked.size() + second.asked.size(), whole.asked.size());
}

TEST_F(PlanCacheTest, WhatHasMostAtStakeIsMeasuredFirstWhatHasLittleNever) {
  // The second chain takes 32 times as long.
  const TensorGraph graph = Products(
      131072, 64,
      {"T: f32[4096, 64] = compute (m: 4096, n: 64) reduce (k: 64) sum:f32 { "
       "A[m, k] * B[k, n] }",
       "Y: f32[4096, 64] = compute (m: 4096, n: 64) reduce (k: 64) sum:f32 { "
       "T[m, k] * B[n, k] }",
       "U = A B", "Z = U B"},
      "Y, Z");
  const auto is_second = [&](const Group& group) {
    return graph.tensor(group.output).name == "U" ||
           graph.tensor(group.output).name == "Z";
  };
  FakeProfiler all(0.015);
  PlanOf(graph, all);
  bool first = false;
  int of_first = 0;
  for (const Group& group : all.asked) {
    EXPECT_FALSE(first && is_second(group));
    first = !is_second(group);
    of_first += first;
  }
  EXPECT_GT(of_first, 6);
  known_.clear();
  MeasuringOptions measuring;
  measuring.least_stake = 0.015;
  FakeProfiler most(0.015);
  PlanOf(graph, most, measuring);
  EXPECT_THAT(most.asked, Not(IsEmpty()));
  for (const Group& group : most.asked) EXPECT_TRUE(is_second(group));
}

}  // namespace
}  // namespace tilewright
