#include "sketch/rules/shared/find_edges.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/testing/test_workloads.h"

namespace tilewright::sketch {
namespace {

std::vector<Edge> EdgesOf(const Workload& workload) {
  const Tensor& reduction = workload.graph.tensor(*workload.graph.Find("C"));
  return FindEdges(workload, reduction,
                   InlinedBody(workload.graph, reduction.id));
}

// A window along one dimension of an image.
struct Window {
  int64_t size, kernel, stride, dilation, before, after;

  int64_t outputs() const {
    return (size + before + after - (kernel - 1) * dilation - 1) / stride + 1;
  }
  bool ReadsZero(int64_t position, int64_t tap) const {
    const int64_t index = position * stride + tap * dilation;
    return index < before || index >= before + size;
  }
  std::vector<bool> TapsAt(int64_t position) const {
    std::vector<bool> taps;
    for (int64_t tap = 0; tap < kernel; ++tap)
      taps.push_back(!ReadsZero(position, tap));
    return taps;
  }
};

TEST(FindEdgesTest, AtrousTapsAtTheRate) {
  const std::vector<Edge> edges =
      EdgesOf(HaloConvRelu(2, 3, 20, 20, 3, 1, 12, 12, 12));
  ASSERT_EQ(edges.size(), 2u);
  for (const Edge& edge : edges) {
    ASSERT_EQ(edge.taps.size(), 3u);
    EXPECT_EQ(edge.taps[0].first, 12);  // the other taps read zeros before
    EXPECT_EQ(edge.taps[0].end, 20);
    EXPECT_EQ(edge.taps[2].end, 8);
    EXPECT_TRUE(edge.SameTapsIn(4));
    EXPECT_FALSE(edge.SameTapsIn(5));
    EXPECT_EQ(edge.MostTaps(), 2);
  }
  EXPECT_FALSE(edges[0].column);
  EXPECT_TRUE(edges[1].column);
  EXPECT_EQ(MostTermsOf(edges, 2 * 9), 2 * 4);
}

// Every small window, counted one position after the other.
TEST(FindEdgesTest, AgreesWithTheDefinition) {
  int windows = 0;
  for (int64_t n = 0; n < 6 * 3 * 2 * 4 * 4 * 4; ++n) {
    const Window w{n % 6 + 2,      n / 6 % 3 + 1, n / 18 % 2 + 1,
                   n / 36 % 4 + 1, n / 144 % 4,   n / 576};
    if (w.size + w.before + w.after <= (w.kernel - 1) * w.dilation) continue;
    SCOPED_TRACE(absl::StrCat("size ", w.size, ", kernel ", w.kernel,
                              ", stride ", w.stride, ", dilation ", w.dilation,
                              ", pads ", w.before, " and ", w.after));
    bool reads_zeros = false;
    int64_t most_taps = 0;
    for (int64_t p = 0; p < w.outputs(); ++p) {
      const std::vector<bool> taps = w.TapsAt(p);
      const int64_t count = std::count(taps.begin(), taps.end(), true);
      reads_zeros |= count < w.kernel;
      most_taps = std::max(most_taps, count);
    }
    const std::vector<Edge> edges =
        EdgesOf(HaloConvRelu(2, 3, w.size, w.size, w.kernel, w.stride,
                             w.dilation, w.before, w.after));
    ASSERT_EQ(edges.size(), reads_zeros ? 2u : 0u);
    if (edges.empty()) continue;
    if (edges[1].taps.empty()) continue;  // one position, or one tap
    ++windows;
    EXPECT_EQ(MostTermsOf(edges, 2 * w.kernel * w.kernel),
              2 * most_taps * most_taps);
    for (int64_t tile = 1; tile <= w.outputs(); ++tile) {
      bool same = true;
      for (int64_t p = 1; p < w.outputs(); ++p)
        same &= p % tile == 0 || w.TapsAt(p) == w.TapsAt(p - 1);
      EXPECT_EQ(edges[1].SameTapsIn(tile), same) << "tiles of " << tile;
    }
  }
  EXPECT_GT(windows, 500);
}

}  // namespace
}  // namespace tilewright::sketch
