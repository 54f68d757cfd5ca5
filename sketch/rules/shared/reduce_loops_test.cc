#include "sketch/rules/shared/reduce_loops.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "sketch/rules/shared/group_chain.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::sketch {
namespace {

// "k.0 k.1": the parts in their order, each with its extent.
std::string Order(const std::string& graph_text, bool* blocked = nullptr,
                  int64_t layout_block = 0, int lanes = 0) {
  absl::StatusOr<TensorGraph> graph = ParseText(graph_text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return "";
  Workload workload{*std::move(graph), {}};
  const TensorId x = *workload.graph.Find("X");
  if (layout_block > 0)
    workload.layouts[x] = Layout::BlockedLast(
        workload.graph.tensor(x).static_shape(), 1, layout_block);
  const Tensor& reduction = workload.graph.tensor(*workload.graph.Find("T"));
  PreferredPolicy policy;
  Decider decider(policy);
  const ReduceLoops loops =
      DecideReduceLoops(decider, workload, reduction,
                        InlinedBody(workload.graph, reduction.id), lanes);
  if (blocked != nullptr) *blocked = loops.blocked;
  std::string text;
  for (const ReduceLoops::Part& part : loops.order) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    reduction.compute.reduce_axes[part.axis].name, ":",
                    loops.extent(part), "*", loops.divisor(part));
  }
  return text;
}

std::string Product(int64_t k) {
  return absl::StrCat(
      "X: f32[4, ", k, "] = placeholder\nB: f32[", k,
      ", 5] = placeholder\nT: f32[4, 5] = compute (m: 4, n: 5) reduce (k: ", k,
      ") sum:f32 { X[m, k] * B[k, n] }\nreturn T\n");
}

std::string Convolution(int64_t channels, bool last) {
  const std::string shape = last ? absl::StrCat("1, 9, 9, ", channels)
                                 : absl::StrCat("1, ", channels, ", 9, 9");
  return absl::StrCat("X: f32[", shape, "] = placeholder\nW: f32[5, ", channels,
                      ", 3, 3] = placeholder\nT: f32[5, 7, 7] = compute "
                      "(o: 5, h: 7, w: 7) reduce (c: ",
                      channels, ", i: 3, j: 3) sum:f32 { X[",
                      last ? "0, h + i, w + j, c" : "0, c, h + i, w + j",
                      "] * W[o, c, i, j] }\nreturn T\n");
}

TEST(ReduceLoopsTest, BlocksOfAboutOneSizeAndDivisorsFirst) {
  bool blocked = true;
  EXPECT_EQ(Order(Product(768), &blocked), "k:768*1");
  EXPECT_FALSE(blocked);
  EXPECT_EQ(Order(Product(1024), &blocked), "k:2*512 k:512*1");
  EXPECT_TRUE(blocked);
  EXPECT_EQ(Order(Product(3072)), "k:6*512 k:512*1");
  EXPECT_EQ(Order(Product(1009)), "k:3*337 k:337*1");
}

TEST(ReduceLoopsTest, WindowsAroundChannels) {
  EXPECT_EQ(Order(Convolution(16, true)), "i:3*1 j:3*1 c:16*1");
  EXPECT_EQ(Order(Convolution(16, false)), "i:3*1 j:3*1 c:16*1");
  EXPECT_EQ(Order(Convolution(32, false), nullptr, 16),
            "c:2*16 i:3*1 j:3*1 c:16*1");
  EXPECT_EQ(Order(Convolution(128, false), nullptr, 16),
            "c:2*64 c:4*16 i:3*1 j:3*1 c:16*1");
}

TEST(ReduceLoopsTest, ChannelsAroundWindowsWhereLanesGather) {
  constexpr int kAcross = 0, kAlongRow = 2;
  EXPECT_EQ(Order(Convolution(32, false), nullptr, 16, kAlongRow),
            "c:2*16 c:16*1 j:3*1 i:3*1");
  EXPECT_EQ(Order(Convolution(32, false), nullptr, 16, kAcross),
            "c:2*16 i:3*1 j:3*1 c:16*1");
  EXPECT_EQ(Order(Convolution(16, false), nullptr, 0, kAlongRow),
            "i:3*1 j:3*1 c:16*1");
}

// The average of an image that may be one plain surface.
TEST(ReduceLoopsTest, WhatOneTensorHoldsIsSummedInShorterBlocks) {
  const auto pool = [](int side, const char* combiner) {
    return absl::Substitute(
        "X: f32[1, 16, $0, $0] = placeholder\nT: f32[1, 16] = compute (n: 1, "
        "c: 16) reduce (i: $0, j: $0) $1:f32 { X[n, c, i, j] }\nreturn T\n",
        side, combiner);
  };
  EXPECT_EQ(Order(pool(12, "sum")), "i:12*1 j:12*1");
  EXPECT_EQ(Order(pool(20, "sum")), "i:20*1 i:1*1 j:20*1");
  EXPECT_EQ(Order(pool(112, "sum")), "i:112*1 i:1*1 j:112*1");
  EXPECT_EQ(Order(pool(20, "max")), "i:20*1 j:20*1");
}

TEST(ReduceLoopsTest, OnlySumsOfFloatsAreBlocked) {
  bool blocked = true;
  EXPECT_EQ(Order("X: f32[4, 4096] = placeholder\nT: f32[4] = compute (m: 4) "
                  "reduce (k: 4096) max:f32 { X[m, k] }\nreturn T\n",
                  &blocked),
            "k:4096*1");
  EXPECT_FALSE(blocked);
}

}  // namespace
}  // namespace tilewright::sketch
