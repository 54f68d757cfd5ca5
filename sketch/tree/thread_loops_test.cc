#include "sketch/tree/thread_loops.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

struct NestLoop {
  LoopKind kind;
  int64_t extent;
};

// Loops inside each other, around nothing.
std::vector<Loop> Loops(const std::vector<NestLoop>& of) {
  std::vector<Loop> loops(of.size());
  for (size_t i = 0; i < of.size(); ++i) {
    loops[i].var = static_cast<int>(i);
    loops[i].name = "l" + std::to_string(i);
    loops[i].extent = of[i].extent;
    loops[i].kind = of[i].kind;
  }
  return loops;
}

// Which threads do which iterations, as ThreadPlaces says.
std::map<std::vector<int64_t>, std::set<int64_t>> ThreadsByIteration(
    const std::vector<Loop>& loops) {
  std::vector<const Loop*> nest;
  for (const Loop& loop : loops) nest.push_back(&loop);
  const std::map<int, ThreadPlace> places = ThreadPlaces(nest);
  std::map<std::vector<int64_t>, std::set<int64_t>> threads;
  for (int64_t n = 0; n < ThreadsOf(nest); ++n) {
    std::vector<int64_t> iteration;
    for (const Loop& loop : loops) {
      const ThreadPlace& place = places.at(loop.var);
      int64_t i = n / place.stride;
      if (place.wraps > 0) i %= place.wraps;
      if (i < loop.extent) iteration.push_back(i);
    }
    if (iteration.size() == loops.size()) threads[iteration].insert(n);
  }
  return threads;
}

TEST(ThreadLoopsTest, EveryIterationHasOneThreadOfItsOwn) {
  constexpr auto kThread = LoopKind::kThread, kWarp = LoopKind::kWarp,
                 kLane = LoopKind::kLane;
  const std::vector<std::vector<NestLoop>> nests = {
      {{kThread, 7}},
      {{kThread, 3}, {kThread, 5}, {kThread, 2}},
      {{kLane, 8}},
      {{kLane, 4}, {kLane, 3}},
      {{kWarp, 3}, {kLane, 32}},
      {{kWarp, 2}, {kWarp, 3}, {kLane, 5}},
      {{kWarp, 2}, {kLane, 4}, {kLane, 8}},
      {{kWarp, 4}, {kLane, 1}}};
  for (const std::vector<NestLoop>& nest : nests) {
    const std::vector<Loop> loops = Loops(nest);
    int64_t iterations = 1;
    for (const NestLoop& loop : nest) iterations *= loop.extent;
    const auto threads = ThreadsByIteration(loops);
    EXPECT_EQ(static_cast<int64_t>(threads.size()), iterations);
    for (const auto& [iteration, of] : threads) {
      EXPECT_EQ(of.size(), 1u);
      if (nest.back().kind != kLane) continue;
      // Lanes of a warp alone, warps in order.
      int64_t warp = 0;
      for (size_t i = 0; i < nest.size(); ++i) {
        if (nest[i].kind == kWarp) warp = warp * nest[i].extent + iteration[i];
      }
      EXPECT_EQ(*of.begin() / kWarpLanes, warp);
    }
  }
}

// T's loops m and n in two parts each, ordered m.0 n.0 m.1 n.1 k.
struct Tiled {
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> m = w.Split(w.Loop(t, "m"), {4, 4});
  std::vector<Handle> n = w.Split(w.Loop(t, "n"), {2, 8});
  Handle k = w.Loop(t, "k");
  Tiled() { w.Reorder({m[0], n[0], m[1], n[1], k}); }
  absl::StatusOr<BlockTree> Tree() && {
    return Replay(GemmRelu(16, 16, 64), std::move(w).Finish());
  }
};

void ExpectRefused(Tiled tiled, const std::string& message) {
  EXPECT_THAT(std::move(tiled).Tree(),
              StatusIs(StatusCode::kInvalidArgument, message));
}

TEST(ThreadLoopsTest, BoundLoopsAreInTheTreeAndItsText) {
  Tiled tiled;
  tiled.w.Bind(tiled.m[0], "thread");
  tiled.w.Bind(tiled.n[0], "thread");
  tiled.w.Bind(tiled.n[1], "vthread");
  const Schedule schedule = tiled.w.written();
  EXPECT_THAT(schedule.ToString(), HasSubstr("bind %3 \"thread\"\n"));
  TW_ASSERT_OK_AND_ASSIGN(const Schedule read,
                          Schedule::FromProto(schedule.ToProto()));
  EXPECT_EQ(read, schedule);
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, std::move(tiled).Tree());
  EXPECT_THAT(tree.ToString(), HasSubstr("thread m.0#"));
  EXPECT_THAT(tree.ToString(), HasSubstr("vthread n.1#"));
}

TEST(ThreadLoopsTest, NestsThatAreNoneAreRefused) {
  Tiled apart;
  apart.w.Bind(apart.m[0], "thread");
  apart.w.Bind(apart.m[1], "thread");
  ExpectRefused(std::move(apart), "stands inside loop m.0, but not directly");

  Tiled mixed;
  mixed.w.Bind(mixed.m[0], "thread");
  mixed.w.Bind(mixed.n[0], "lane");
  ExpectRefused(std::move(mixed), "lanes stand in warps, threads apart");

  Tiled laneless;
  laneless.w.Bind(laneless.m[0], "warp");
  ExpectRefused(std::move(laneless), "holds no lanes of its warps");

  Tiled wide;
  wide.w.Bind(wide.w.Fuse({wide.m[0], wide.n[0], wide.m[1]}), "thread");
  wide.w.Bind(wide.w.Split(wide.n[1], {8})[0], "thread");
  EXPECT_THAT(std::move(wide).Tree(), IsOk());

  Tiled unknown;
  unknown.w.Bind(unknown.m[0], "cluster");
  ExpectRefused(std::move(unknown), "unknown binding 'cluster'");
}

TEST(ThreadLoopsTest, ReductionsOfThreadsAreThoseOfLanes) {
  Tiled threads;
  threads.w.Reorder({threads.k, threads.m[0]});
  threads.w.Bind(threads.k, "thread");
  ExpectRefused(std::move(threads), "loop k carries a reduction of T");

  // 64 terms are more than lanes.
  Tiled many;
  many.w.Bind(many.k, "lane");
  ExpectRefused(std::move(many), "more than");

  // Partial sums of a lane, then their sum.
  Tiled factored;
  const std::vector<Handle> k = factored.w.Split(factored.k, {8, 8});
  factored.w.RFactor(factored.t, k[1]);
  factored.w.Bind(factored.w.Loop(factored.t, "k.1"), "lane");
  EXPECT_THAT(std::move(factored).Tree(), IsOk());

  Tiled odd;
  const std::vector<Handle> thirds = odd.w.Split(odd.k, {22, 3});
  odd.w.RFactor(odd.t, thirds[1]);
  odd.w.Bind(odd.w.Loop(odd.t, "k.1"), "lane");
  ExpectRefused(std::move(odd), "no power of two");
}

TEST(ThreadLoopsTest, TilesAndTasksAreNotBound) {
  Tiled bound;
  bound.w.Reorder({bound.k, bound.n[1]});
  bound.w.Bind(bound.n[1], "thread");
  bound.w.Annotate(bound.n[1], "tile");
  ExpectRefused(std::move(bound), "is bound to threads: no part of a tile");

  Tiled tile;
  tile.w.Reorder({tile.k, tile.n[1]});
  tile.w.Annotate(tile.n[1], "tile");
  tile.w.Bind(tile.n[1], "thread");
  ExpectRefused(std::move(tile), "is part of a tile");

  ScheduleWriter w;
  const Handle y = w.Block("Y");
  const std::vector<Handle> tasks = w.GroupTile({y}, {{4, 4}, {1, 16}});
  w.ComputeAt(w.Block("T"), tasks[1]);
  w.Bind(tasks[0], "thread");
  EXPECT_THAT(Replay(GemmRelu(16, 16, 64), std::move(w).Finish()),
              StatusIs(StatusCode::kInvalidArgument, "is a task loop"));
}

}  // namespace
}  // namespace tilewright::sketch
