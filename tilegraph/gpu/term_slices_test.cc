#include "tilegraph/gpu/term_slices.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

int64_t SlicesOf(const std::string& spec_name, const std::string& text) {
  const absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_THAT(graph, IsOk());
  const absl::StatusOr<DeviceSpec> spec = LoadSpec(spec_name);
  EXPECT_THAT(spec, IsOk());
  GpuTilingOptions options;
  options.use = kThreadsOnly;
  const std::vector<int64_t> slices = TermSlices(*graph, *spec, options, 1);
  EXPECT_EQ(TermSlices(*graph, *spec, options, 3), slices);
  return slices[static_cast<size_t>(graph->outputs()[0])];
}

std::string Product(int64_t rows, int64_t terms, int64_t columns) {
  return absl::StrCat("A: f32[", rows, ", ", terms, "] = placeholder\n",
                      "B: f32[", terms, ", ", columns, "] = placeholder\n",
                      "C: f32[", rows, ", ", columns, "] = compute (m: ", rows,
                      ", n: ", columns, ") reduce (k: ", terms,
                      ") sum:f32 { A[m, k] * B[k, n] }\nreturn C\n");
}

// 25,088 sums of 4,608 terms leave most of 132 cores without a tile that loads
// its operands often enough.
TEST(TermSlicesTest, FewLongSumsAreCut) {
  EXPECT_GT(SlicesOf("h100", Product(512, 4608, 49)), 1);
  EXPECT_GT(SlicesOf("h100",
                     "X: f32[1, 512, 9, 9] = placeholder\n"
                     "W: f32[512, 512, 3, 3] = placeholder\n"
                     "Y: f32[1, 512, 7, 7] = compute (n: 1, o: 512, h: 7, w: "
                     "7) reduce (c: 512, r: 3, s: 3) sum:f32 "
                     "{ X[n, c, h + r, w + s] * W[o, c, r, s] }\nreturn Y\n"),
            1);
}

TEST(TermSlicesTest, ManySumsAndShortOnesStayWhole) {
  EXPECT_EQ(SlicesOf("h100", Product(2048, 2048, 2048)), 1);
  EXPECT_EQ(SlicesOf("h100", Product(512, 64, 49)), 1);
  EXPECT_EQ(SlicesOf("h100",
                     "A: f32[512, 4608] = placeholder\n"
                     "S: f32[512] = compute (m: 512) reduce (k: 4608) sum:f32 "
                     "{ A[m, k] }\nreturn S\n"),
            1);
}

// Of 64 global averages a warp each would wait long; those of a row norm are
// fused with what they sum.
TEST(TermSlicesTest, FewSumsOfMillionsAreCut) {
  const std::string averages =
      "X: f32[64, 256, 256] = placeholder\n"
      "S: f32[64] = compute (c: 64) reduce (h: 256, w: 256) sum:f32 "
      "{ X[c, h, w] }\nreturn S\n";
  EXPECT_GE(SlicesOf("h100", averages), 16);
  EXPECT_LE(SlicesOf("h100", averages), 64);
  EXPECT_EQ(SlicesOf("h100",
                     "X: f32[128, 768] = placeholder\n"
                     "S: f32[128] = compute (m: 128) reduce (k: 768) sum:f32 "
                     "{ X[m, k] }\nreturn S\n"),
            1);
}

}  // namespace
}  // namespace tilewright
