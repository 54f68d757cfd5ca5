// Counts of what blocks do, beside running their loops step by step.

#include "costmodel/features/statements.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "costmodel/features/buffer_reuse.h"
#include "costmodel/features/testing/traced_tree.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/random_schedule.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::costmodel {
namespace {

// How many counts were compared, and how many were exact.
struct Tally {
  int64_t steps = 0, exact_steps = 0, touched = 0, exact_touched = 0, below = 0,
          reuses = 0, exact_reuses = 0, between = 0, exact_between = 0,
          between_below = 0, trees = 0;

  void Print(const std::string& what) const {
    std::cout << what << ": " << trees << " trees; steps exact " << exact_steps
              << " of " << steps << ", touched " << exact_touched << " of "
              << touched << " (below " << below << "), reuse " << exact_reuses
              << " of " << reuses << ", bytes between " << exact_between
              << " of " << between << " (below " << between_below << ")\n";
  }
};

bool Near(double a, double b) { return std::fabs(a - b) < 1e-6 * (1 + b); }

// Whether the first place that a block touches is touched again after so many
// steps, no sooner.
bool IsReusedAfter(const TracedAccess& access, double distance) {
  const auto later = static_cast<size_t>(distance);
  if (access.places.empty() || access.places[0].empty()) return false;
  const int64_t place = access.places[0][0];
  for (size_t step = 1; step <= later && step < access.places.size(); ++step) {
    for (const int64_t other : access.places[step]) {
      if (other == place) return step == later;
    }
  }
  return false;
}

// Distinct bytes that a block touches in its first `steps` steps.
double BytesOfFirst(const sketch::BlockTree& tree, const TracedBlock& block,
                    double steps) {
  double bytes = 0;
  for (const auto& [buffer, access] : block.accesses) {
    std::set<int64_t> places;
    for (size_t i = 0; i < static_cast<size_t>(steps); ++i) {
      if (i < access.places.size())
        places.insert(access.places[i].begin(), access.places[i].end());
    }
    bytes += static_cast<double>(places.size()) *
             static_cast<double>(SizeBytes(tree.buffers[buffer].dtype));
  }
  return bytes;
}

// Whether the loops whose steps are so many hold no other statement: those
// inside of the loop that reuses, and that one.
bool IsAlone(const std::vector<Statement>& statements, size_t index,
             double distance) {
  const Statement& statement = statements[index];
  size_t depth = statement.loops.size();
  double steps = 1;
  while (depth > 0 && steps < distance)
    steps *= static_cast<double>(statement.loops[--depth]->extent);
  // Loops of one step may stand between.
  while (depth > 0 && statement.loops[depth - 1]->extent == 1) --depth;
  if (depth == 0) return false;
  const sketch::Loop* const reuses = statement.loops[depth - 1];
  for (size_t other = 0; other < statements.size(); ++other) {
    const auto& loops = statements[other].loops;
    if (other != index &&
        std::find(loops.begin(), loops.end(), reuses) != loops.end())
      return false;
  }
  return true;
}

void Compare(const sketch::BlockTree& tree, Tally& tally) {
  const std::vector<Statement> statements = StatementsOf(tree);
  const std::vector<TracedBlock> traced = Trace(tree);
  ASSERT_EQ(statements.size(), traced.size());
  const BufferReuse reuse(tree, statements);
  ++tally.trees;
  for (size_t s = 0; s < traced.size(); ++s) {
    const Statement& statement = statements[s];
    ++tally.steps;
    // Where no step runs, there is nothing to compare further.
    if (traced[s].steps == 0) {
      if (statement.steps == 0) ++tally.exact_steps;
      continue;
    }
    if (Near(statement.steps, traced[s].steps)) ++tally.exact_steps;
    ASSERT_EQ(statement.accesses.size(), traced[s].accesses.size());
    for (const BufferAccess& access : statement.accesses) {
      const TracedAccess& by_steps = traced[s].accesses.at(access.buffer);
      ASSERT_EQ(access.touched.size(), by_steps.distinct.size());
      for (size_t i = 0; i < access.touched.size(); ++i) {
        ++tally.touched;
        const auto exact = static_cast<double>(by_steps.distinct[i]);
        if (Near(access.touched[i], exact)) ++tally.exact_touched;
        if (access.touched[i] < exact - 1e-6) ++tally.below;
      }
      const Reuse found = reuse.Of(statement, access);
      if (found.kind != Reuse::Kind::kLoop) continue;
      ++tally.reuses;
      if (IsReusedAfter(by_steps, found.distance_steps)) ++tally.exact_reuses;
      // Where other blocks share its loops, or steps are left out, there is
      // more between two touches than the first steps of this one.
      if (!IsAlone(statements, s, found.distance_steps) ||
          !Near(statement.loop_steps, traced[s].steps))
        continue;
      const double between =
          BytesOfFirst(tree, traced[s], found.distance_steps);
      ++tally.between;
      if (Near(found.distance_bytes, between)) ++tally.exact_between;
      if (found.distance_bytes < between - 1e-6) ++tally.between_below;
    }
  }
}

sketch::Workload Parse(const char* text) {
  auto workload = sketch::ParseWorkload(text);
  EXPECT_THAT(workload.status(), IsOk());
  return *std::move(workload);
}

// Every table of the workload's first generator.
Tally OverAllDecisions(const char* text) {
  const sketch::Workload workload = Parse(text);
  const auto spec = LoadSpec("cpu_x86_64_v3");
  EXPECT_THAT(spec.status(), IsOk());
  const sketch::Generator generator = sketch::Generators(workload).front();
  Tally tally;
  EnumeratingPolicy all;
  do {
    Decider decider(all);
    const auto schedule = Generate(generator, workload, *spec, decider);
    if (!schedule.ok()) continue;
    const auto tree = sketch::Replay(workload, *schedule);
    if (tree.ok()) Compare(*tree, tally);
  } while (all.Next());
  tally.Print(generator.name);
  return tally;
}

TEST(StatementsTest, OverAllDecisionsOfAProductEveryCountIsExact) {
  const Tally tally = OverAllDecisions(R"(
i0: f32[2, 3] = placeholder
c0: f32[3, 4] = placeholder
t0: f32[2, 4] = compute (m: 2, n: 4) reduce (k: 3) sum:f32 { i0[m, k] * c0[k, n] }
t1: f32[2, 4] = compute (m: 2, n: 4) { max(t0[m, n], 0.0) }
return t1
#constant c0
)");
  EXPECT_GT(tally.trees, 300);
  EXPECT_EQ(tally.exact_steps, tally.steps);
  EXPECT_EQ(tally.exact_touched, tally.touched);
  EXPECT_GT(tally.exact_reuses, 0.95 * tally.reuses);
  EXPECT_GT(tally.between, 100);
  EXPECT_EQ(tally.exact_between, tally.between);
}

TEST(StatementsTest, OverAllDecisionsOfABatchOfProducts) {
  const Tally tally = OverAllDecisions(R"(
i0: f32[2, 2, 3] = placeholder
i1: f32[2, 3, 2] = placeholder
t0: f32[2, 2, 2] = compute (b: 2, m: 2, n: 2) reduce (k: 3) sum:f32 { i0[b, m, k] * i1[b, k, n] }
return t0
)");
  EXPECT_GT(tally.trees, 100);
  EXPECT_EQ(tally.exact_steps, tally.steps);
  EXPECT_EQ(tally.exact_touched, tally.touched);
  EXPECT_EQ(tally.exact_between, tally.between);
}

// Over all decisions, with tails, windows and fused loops: steps are exact, and
// what is touched is at least counted.
void ExpectStepsExactAndTouchedAtLeast(const Tally& tally, double exact) {
  EXPECT_EQ(tally.exact_steps, tally.steps);
  EXPECT_EQ(tally.below, 0);
  EXPECT_GT(tally.exact_touched, exact * tally.touched);
  EXPECT_EQ(tally.between_below, 0);
  EXPECT_GE(tally.exact_between, exact * tally.between);
}

TEST(StatementsTest, OverAllDecisionsOfAnElementwiseKernel) {
  ExpectStepsExactAndTouchedAtLeast(OverAllDecisions(R"(
i0: f32[7, 9] = placeholder
t1: f32[7, 9] = compute (m: 7, n: 9) { max(i0[m, n], 0.0) }
return t1
)"),
                                    0.85);
}

TEST(StatementsTest, OverAllDecisionsOfAStridedWindow) {
  ExpectStepsExactAndTouchedAtLeast(OverAllDecisions(R"(
i0: f32[1, 4, 10, 10] = placeholder
c0: f32[4, 1, 3, 3] = placeholder
t0: f32[1, 4, 4, 4] = compute (n: 1, c: 4, h: 4, w: 4) reduce (kh: 3, kw: 3) sum:f32 { i0[n, c, h * 2 + kh, w * 2 + kw] * c0[c, 0, kh, kw] }
return t0
#constant c0
)"),
                                    0.9);
}

TEST(StatementsTest, OverAllDecisionsOfASoftmax) {
  ExpectStepsExactAndTouchedAtLeast(OverAllDecisions(R"(
i0: f32[5, 12] = placeholder
t0: f32[5] = compute (r: 5) reduce (k: 12) max:f32 { i0[r, k] }
t1: f32[5, 12] = compute (r: 5, c: 12) { exp(i0[r, c] - t0[r]) }
t2: f32[5] = compute (r: 5) reduce (k: 12) sum:f32 { t1[r, k] }
t3: f32[5, 12] = compute (r: 5, c: 12) { t1[r, c] / t2[r] }
return t3
)"),
                                    0.9);
}

// Every primitive there is, in groups of every family.
TEST(StatementsTest, OfRandomSchedulesNearlyAllCountsAreExact) {
  Tally tally;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const sketch::SampleGroup group = sketch::DrawSampleGroup(seed);
    const auto schedule = sketch::RandomSchedule(group.workload, seed);
    if (!schedule.ok()) continue;
    const auto tree = sketch::Replay(group.workload, *schedule);
    if (tree.ok()) Compare(*tree, tally);
  }
  tally.Print("random schedules");
  EXPECT_GT(tally.trees, 100);
  EXPECT_GT(tally.exact_steps, 0.97 * tally.steps);
  EXPECT_EQ(tally.below, 0);
  EXPECT_GT(tally.exact_touched, 0.9 * tally.touched);
}

}  // namespace
}  // namespace tilewright::costmodel
