#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cts/cases.h"
#include "backends/cts/compare.h"
#include "backends/cts/values.h"
#include "backends/kernel_ir/builder.h"
#include "base/random.h"

namespace tilewright::cts {
namespace {

using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;

constexpr int64_t kElements = 960;  // a multiple of all lane counts below
const int kLanes[] = {1, 2, 5, 8, 16};

// Extremes of extremes: chains, from an identity on, and trees, of either kind,
// of both, and of choices.
Run Extremes(DType dtype, int lanes) {
  constexpr int kTerms = 9, kResults = 6;
  ScalarBuilder b(
      absl::StrCat("extremes_", std::string(Name(dtype)), "_x", lanes));
  const int in = b.AddArgument("in", dtype, Role::kInput, kTerms * kElements);
  const int out =
      b.AddArgument("out", dtype, Role::kOutput, kResults * kElements);
  const Reg i = b.BeginFor(0, kElements, lanes);
  std::vector<Reg> terms;
  for (int k = 0; k < kTerms; ++k)
    terms.push_back(b.Load(in, i, k * kElements, lanes));
  std::vector<Reg> results;
  for (const Op op : {Op::kMax, Op::kMin}) {
    Reg chain = b.Float(op == Op::kMax ? -INFINITY : INFINITY, dtype, lanes);
    for (const Reg term : terms) chain = b.Emit(op, {chain, term});
    results.push_back(chain);
    std::vector<Reg> tree = terms;
    while (tree.size() > 1) {
      std::vector<Reg> next;
      for (size_t k = 0; k + 1 < tree.size(); k += 2)
        next.push_back(b.Emit(op, {tree[k], tree[k + 1]}));
      if (tree.size() % 2 == 1) next.push_back(tree.back());
      tree = std::move(next);
    }
    results.push_back(tree[0]);
  }
  Reg both = terms[0];
  for (int k = 1; k < kTerms; ++k)
    both = b.Emit(k % 3 == 0 ? Op::kMin : Op::kMax, {terms[k], both});
  results.push_back(both);
  // Choices between a term and NaN, or the other way round: both may be NaN.
  const Reg nan = b.Float(NAN, dtype, lanes);
  const Reg below = b.Emit(Op::kLt, {terms[2], terms[3]});
  Reg chosen = b.Emit(Op::kSelect, {below, terms[0], nan});
  chosen = b.Emit(Op::kMax, {chosen, terms[1]});
  chosen = b.Emit(Op::kSelect, {below, chosen, nan});
  results.push_back(b.Emit(Op::kMin, {terms[4], chosen}));
  for (size_t k = 0; k < results.size(); ++k)
    b.Store(out, i, static_cast<int64_t>(k) * kElements, results[k]);
  b.EndFor();
  Random random(static_cast<uint64_t>(lanes));
  const std::vector<Scalar> special = SpecialValues(dtype);
  std::vector<Scalar> values;
  for (int k = 0; k < kTerms * kElements; ++k) {
    values.push_back(random.Index(4) == 0
                         ? special[random.Index(special.size())]
                         : Scalar{random.Normal(), 0});
  }
  return {
      std::move(b).Finish(),
      {Bytes(dtype, values), Pattern(kResults * kElements * SizeBytes(dtype))}};
}

void ExpectExtremes(const Backend& backend) {
  std::vector<Run> runs;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const int lanes : kLanes) runs.push_back(Extremes(dtype, lanes));
  }
  ExpectSameAsInterpreter(backend, runs);
}

}  // namespace

std::vector<Case> ExtremeCases() {
  return {{"ExtremesOfExtremes", ExpectExtremes}};
}

}  // namespace tilewright::cts
