// Draws the sets that a verifier runs candidates on: inputs and references.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "measure/inputs/adversarial_selections.h"
#include "measure/inputs/hard_inputs.h"
#include "measure/inputs/values_inside_clips.h"
#include "measure/verify/interpreter_check.h"
#include "measure/verify/unbounded_share.h"
#include "measure/verify/verifier.h"
#include "tilegraph/analysis/exact_integers.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kLargestExact = 8;

bool HasFloats(const TensorGraph& graph) {
  return std::any_of(graph.tensors().begin(), graph.tensors().end(),
                     [](const Tensor& t) { return IsFloat(t.dtype); });
}

// Sets that are no turn of planted picks. From kOutOfRange down they are real
// ones (hard_inputs.h): turns with infinities and NaN, then turns with wide
// rows.
constexpr int kPlain = -1, kPositive = -2, kOutOfRange = -3, kSpecial = -1000,
              kWide = -2000;

std::string SetName(const char* kind, int turn) {
  if (turn >= 0) return absl::StrCat(kind, ", turn ", turn + 1);
  if (turn == kPlain) return kind;
  if (turn == kPositive) return absl::StrCat(kind, ", positive");
  if (turn == kOutOfRange) return absl::StrCat(kind, ", indices out of range");
  if (turn > kWide)
    return absl::StrCat(kind, ", infinities and NaN, turn ",
                        kSpecial - turn + 1);
  return absl::StrCat(kind, ", wide rows, turn ", kWide - turn + 1);
}

uint64_t SeedOf(uint64_t seed, int turn) {
  return seed + 2 * static_cast<uint64_t>(turn + 2);
}

}  // namespace

absl::Status Verifier::AddSets() {
  const bool reduced_precision =
      options_.unit > 0x1p-24 || options_.bound_scale > 1;
  bool exact =
      IsExactOnIntegers(graph_) && !(reduced_precision && HasFloats(graph_));
  if (exact) {
    TW_ASSIGN_OR_RETURN(exact, AddExactSet(kPlain));
  }
  TW_RETURN_IF_ERROR(AddRealSet(kPlain));
  for (int turn = HasClipping(graph_) ? kPositive : 0; turn < NumTurns(graph_);
       ++turn) {
    if (turn == kPlain) continue;
    if (exact) TW_RETURN_IF_ERROR(AddExactSet(turn).status());
    // Integers that are all positive soon lie above what clips them; reals can
    // be drawn that do not.
    // Large tiles of Winograd are compared on reals only.
    if (!exact || MayHaveLargeTiles(graph_) ||
        (turn == kPositive && HasCeiling(graph_)))
      TW_RETURN_IF_ERROR(AddRealSet(turn));
  }
  if (ClampsIndices(graph_)) TW_RETURN_IF_ERROR(AddRealSet(kOutOfRange));
  for (int turn = 0; turn < NumSpecialTurns(graph_); ++turn)
    TW_RETURN_IF_ERROR(AddRealSet(kSpecial - turn));
  for (int turn = 0; turn < NumWideTurns(graph_); ++turn)
    TW_RETURN_IF_ERROR(AddRealSet(kWide - turn));
  return absl::OkStatus();
}

// Smaller integers until no partial sum can round.
absl::StatusOr<bool> Verifier::AddExactSet(int turn) {
  const double limit = ExactLimit(graph_);
  for (int64_t largest = kLargestExact; largest >= 1; largest /= 2) {
    Random random(SeedOf(options_.seed, turn));
    Set set{SetName("exact", turn),
            true,
            DrawExactSet(graph_, largest, random),
            {}};
    if (turn == kPositive) MakePositive(set.inputs);
    if (turn >= 0)
      PlaceSelections(graph_, turn, 2.0 * static_cast<double>(largest) + 1,
                      random, set.inputs);
    FillKnownZeros(zeros_, set.inputs);
    ReferenceOptions reference;
    reference.exact = true;
    reference.threads = options_.threads;
    TW_ASSIGN_OR_RETURN(ReferenceResult result,
                        EvaluateReference(graph_, set.inputs, reference));
    if (result.largest_magnitude > limit) continue;
    set.expected = std::move(result.outputs);
    TW_RETURN_IF_ERROR(CompareWithInterpreter(graph_, set.inputs, set.expected,
                                              reference.unit, random));
    Keep(set);
    return true;
  }
  return false;  // no integers are small enough: real values alone must do
}

absl::Status Verifier::AddRealSet(int turn) {
  constexpr double kMargin = 4;
  Random random(SeedOf(options_.seed, turn) + 1);
  const bool inside = turn == kPositive && HasCeiling(graph_);
  Set set{SetName("real", turn),
          false,
          DrawRealSet(graph_, random,
                      inside ? SpreadsInsideClips(graph_)
                             : std::map<TensorId, Spread>()),
          {}};
  if (turn == kPositive && !inside) MakePositive(set.inputs);
  if (turn >= 0)
    PlaceSelections(graph_, turn,
                    HasExponential(graph_) ? kOverflowMargin : kMargin, random,
                    set.inputs);
  if (turn == kOutOfRange) PlantIndicesOutOfRange(graph_, random, set.inputs);
  if (turn <= kWide) {
    WidenRows(graph_, kWide - turn, random, set.inputs);
  } else if (turn <= kSpecial) {
    PlantInfinitiesAndNans(graph_, kSpecial - turn, random, set.inputs);
  }
  FillKnownZeros(zeros_, set.inputs);
  ReferenceOptions reference;
  reference.unit = options_.unit;
  reference.threads = options_.threads;
  TW_ASSIGN_OR_RETURN(ReferenceResult result,
                      EvaluateReference(graph_, set.inputs, reference));
  set.expected = std::move(result.outputs);
  TW_RETURN_IF_ERROR(CompareWithInterpreter(graph_, set.inputs, set.expected,
                                            reference.unit, random));
  if (turn == kPlain) CountUnbounded(set);
  Keep(set);
  return absl::OkStatus();
}

// Elements that integers compare exactly need no bound.
void Verifier::CountUnbounded(const Set& real) {
  const bool exact = std::any_of(sets_.begin(), sets_.end(),
                                 [](const KeptSet& set) { return set.exact; });
  if (exact && !MayHaveLargeTiles(graph_)) return;
  for (const auto& [id, expected] : real.expected) {
    const double share =
        UnboundedShare(expected, kBoundFactor * options_.bound_scale);
    if (share <= unbounded_share_) continue;
    unbounded_share_ = share;
    least_bounded_ = id;
  }
}

}  // namespace tilewright::measure
