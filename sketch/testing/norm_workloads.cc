#include "sketch/testing/norm_workloads.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"

namespace tilewright::sketch {
namespace {

constexpr char kLayerNorm[] = R"(
    X: f32[$r, $k] = placeholder
    g: f32[$k] = placeholder
    b: f32[$k] = placeholder
    S: f32[$r, 1] = compute (r: $r, o: 1) reduce (k: $k) sum:f32 { X[r, k] }
    A: f32[$r, 1] = compute (r: $r, o: 1) { S[r, 0] / $k.0 }
    Q: f32[$r, 1] = compute (r: $r, o: 1) reduce (k: $k) sum:f32 { (X[r, k] - A[r, 0]) * (X[r, k] - A[r, 0]) }
    V: f32[$r, 1] = compute (r: $r, o: 1) { 1.0 / sqrt(Q[r, 0] / $k.0 + 0.00001) }
    Y: f32[$r, $k] = compute (r: $r, k: $k) { (X[r, k] - A[r, 0]) * V[r, 0] * g[k] + b[k] }
    return Y
)";
constexpr char kInstanceNorm[] = R"(
    X: $t[2, $c, $h, $w] = placeholder
    g: f32[$c] = placeholder
    S: f32[2, $c, 1, 1] = compute (n: 2, c: $c, o: 1, p: 1) reduce (h: $h, w: $w) sum:f32 { $x }
    A: f32[2, $c, 1, 1] = compute (n: 2, c: $c, o: 1, p: 1) { S[n, c, 0, 0] / $n.0 }
    Q: f32[2, $c, 1, 1] = compute (n: 2, c: $c, o: 1, p: 1) reduce (h: $h, w: $w) sum:f32 { ($x - A[n, c, 0, 0]) * ($x - A[n, c, 0, 0]) }
    V: f32[2, $c, 1, 1] = compute (n: 2, c: $c, o: 1, p: 1) { 1.0 / sqrt(Q[n, c, 0, 0] / $n.0 + 0.00001) }
    Y: $t[2, $c, $h, $w] = compute (n: 2, c: $c, h: $h, w: $w) { $y }
    return Y
)";

Workload Parsed(const std::string& text) {
  absl::StatusOr<Workload> workload = ParseWorkload(text);
  TW_CHECK(workload.ok()) << std::string(workload.status().message());
  return *std::move(workload);
}

}  // namespace

Workload LayerNorm(int64_t rows, int64_t elements) {
  return Parsed(absl::StrReplaceAll(
      kLayerNorm,
      {{"$r", absl::StrCat(rows)}, {"$k", absl::StrCat(elements)}}));
}

Workload InstanceNorm(int64_t channels, int64_t height, int64_t width,
                      bool halves) {
  const std::string x = halves ? "cast:f32(X[n, c, h, w])" : "X[n, c, h, w]";
  const std::string y =
      absl::StrCat("(", x, " - A[n, c, 0, 0]) * V[n, c, 0, 0] * g[c]");
  return Parsed(absl::StrReplaceAll(
      kInstanceNorm, {{"$t", halves ? "f16" : "f32"},
                      {"$x", x},
                      {"$y", halves ? absl::StrCat("cast:f16(", y, ")") : y},
                      {"$n", absl::StrCat(height * width)},
                      {"$c", absl::StrCat(channels)},
                      {"$h", absl::StrCat(height)},
                      {"$w", absl::StrCat(width)}}));
}

}  // namespace tilewright::sketch
