#include "tilegraph/testing/test_graphs.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "base/check.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

TensorGraph Parse(const std::string& text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  TW_CHECK(graph.ok()) << graph.status();
  return *std::move(graph);
}

}  // namespace

TensorGraph MatmulSoftmax(int64_t m, int64_t k, int64_t n) {
  return Parse(absl::Substitute(R"(
    A: f32[$0, $1] = placeholder
    B: f32[$1, $2] = placeholder
    C: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 {
      A[m, k] * B[k, n] }
    M: f32[$0] = compute (m: $0) reduce (n: $2) max:f32 { C[m, n] }
    E: f32[$0, $2] = compute (m: $0, n: $2) { exp(C[m, n] - M[m]) }
    S: f32[$0] = compute (m: $0) reduce (n: $2) sum:f32 { E[m, n] }
    Y: f32[$0, $2] = compute (m: $0, n: $2) { E[m, n] / S[m] }
    return Y
  )",
                                m, k, n));
}

TensorGraph ConvReluPool(int64_t in, int64_t out, int64_t size) {
  return Parse(absl::Substitute(R"(
    X: f32[$0, $2, $2] = placeholder
    W: f32[$1, $0, 3, 3] = placeholder
    C: f32[$1, $3, $3] = compute (o: $1, h: $3, w: $3)
      reduce (c: $0, i: 3, j: 3) sum:f32 {
        X[c, h + i, w + j] * W[o, c, i, j] }
    R: f32[$1, $3, $3] = compute (o: $1, h: $3, w: $3) {
      max(C[o, h, w], 0.0) }
    P: f32[$1, $4, $4] = compute (o: $1, h: $4, w: $4)
      reduce (i: 2, j: 2) max:f32 { R[o, h * 2 + i, w * 2 + j] }
    return P
  )",
                                in, out, size, size - 2, (size - 2) / 2));
}

TensorGraph Matmul(int64_t m, int64_t k, int64_t n) {
  return Parse(absl::Substitute(R"(
    A: f32[$0, $1] = placeholder
    B: f32[$1, $2] = placeholder
    C: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 {
      A[m, k] * B[k, n] }
    return C
  )",
                                m, k, n));
}

TensorGraph Mlp(int64_t rows, int64_t in, int64_t hidden, int64_t out,
                const std::string& outputs, const std::string& combiner) {
  return Parse(absl::Substitute(R"(
    A: f32[$0, $1] = placeholder
    B: f32[$1, $2] = placeholder
    C: f32[$2, $3] = placeholder
    T: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 {
      A[m, k] * B[k, n] }
    R: f32[$0, $2] = compute (m: $0, n: $2) { max(T[m, n], 0.0) }
    Y: f32[$0, $3] = compute (m: $0, n: $3) reduce (k: $2) $5:f32 {
      R[m, k] * C[k, n] }
    return $4
  )",
                                rows, in, hidden, out, outputs, combiner));
}

TensorGraph Products(int64_t rows, int64_t width,
                     const std::vector<std::string>& lines,
                     const std::string& outputs) {
  std::string inputs, text;
  std::set<std::string> known;
  const auto use = [&](const std::string& name, int64_t height) {
    if (known.insert(name).second)
      absl::StrAppend(&inputs, name, ": f32[", height, ", ", width,
                      "] = placeholder\n");
  };
  for (const std::string& line : lines) {
    if (absl::StrContains(line, ':')) {
      absl::StrAppend(&text, line, "\n");
      // The tensors it makes: the words before the colons.
      for (const absl::string_view one : absl::StrSplit(line, '\n')) {
        const size_t end = one.find(": f32[");
        if (end != absl::string_view::npos)
          known.emplace(absl::StripAsciiWhitespace(one.substr(0, end)));
      }
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    use(words[2], rows);
    const bool sum = words[3] == "+";
    const bool turned = absl::EndsWith(words.back(), "'");
    const std::string right(absl::StripSuffix(words.back(), "'"));
    use(right, sum ? rows : width);
    known.insert(words[0]);
    absl::StrAppend(
        &text,
        absl::Substitute(sum ? "$0: f32[$3, $4] = compute (m: $3, n: $4) { "
                               "$1[m, n] + $2[m, n] }\n"
                             : "$0: f32[$3, $4] = compute (m: $3, n: $4) "
                               "reduce (k: $4) sum:f32 { $1[m, k] * $2[$5] }\n",
                         words[0], words[2], right, rows, width,
                         turned ? "n, k" : "k, n"));
  }
  return Parse(absl::StrCat(inputs, text, "return ", outputs, "\n"));
}

TensorGraph TwoConvolutions(const std::string& outputs,
                            const std::string& more) {
  return Parse(absl::Substitute(R"(
    X: f32[1, 16, 32, 32] = placeholder
    W: f32[16, 16] = placeholder
    V: f32[16, 3, 3] = placeholder
    C: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32)
      reduce (c: 16) sum:f32 { X[n, c, h, w] * W[o, c] } hint conv
    R: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32) {
      max(C[n, o, h, w], 0.0) }
    P: f32[1, 16, 34, 34] = compute (n: 1, o: 16, h: 34, w: 34) {
      select(h - 1 >= 0 && h - 1 < 32 && w - 1 >= 0 && w - 1 < 32,
             R[n, o, h - 1, w - 1], 0.0) }
    D: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32)
      reduce (i: 3, j: 3) sum:f32 { P[n, o, h + i, w + j] * V[o, i, j] }
      hint conv
    Y: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32) {
      tanh(D[n, o, h, w]) }
    $1
    return $0
  )",
                                outputs, more));
}

}  // namespace tilewright
