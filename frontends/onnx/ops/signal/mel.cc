// MelWeightMatrix: triangles over the bins of a spectrum that are as wide as
// each other in mel. All inputs are known, and so is the matrix.
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/signal/fourier_matrix.h"
#include "frontends/onnx/ops/signal/known.h"

namespace tilewright {
namespace {

constexpr int64_t kMostMelBins = int64_t{1} << 12;

double MelOfHertz(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double HertzOfMel(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

absl::StatusOr<double> KnownEdge(const OpContext& op, int i,
                                 absl::string_view name) {
  TW_RETURN_IF_ERROR(RequireType(op, i, TypeClass::kFloat));
  const auto& constant = op.input(i).constant;
  if (constant == nullptr)
    return op.Unsupported(name, " that is not known when compiling");
  if (constant->num_elements() != 1)
    return op.Error(name, " has ", constant->num_elements(),
                    " elements where one number is needed");
  return constant->Get(0).f;
}

struct MelSpec {
  int64_t mel_bins, length, rate;
  double low, high;  // in mel
};

absl::StatusOr<MelSpec> ReadMel(const OpContext& op) {
  MelSpec spec;
  TW_ASSIGN_OR_RETURN(spec.mel_bins,
                      KnownNumber(op, 0, "num_mel_bins", 1, kMostMelBins));
  TW_ASSIGN_OR_RETURN(spec.length,
                      KnownNumber(op, 1, "dft_length", 1, kLongestSignal));
  TW_ASSIGN_OR_RETURN(spec.rate,
                      KnownNumber(op, 2, "sample_rate", 1, INT32_MAX));
  TW_ASSIGN_OR_RETURN(const double low, KnownEdge(op, 3, "lower_edge_hertz"));
  TW_ASSIGN_OR_RETURN(const double high, KnownEdge(op, 4, "upper_edge_hertz"));
  if (!(low >= 0 && low <= high && high <= static_cast<double>(spec.rate))) {
    return op.Error("edges of ", low, " and ", high,
                    " hertz where two from 0 to the sample rate ", spec.rate,
                    " are needed, the lower one first");
  }
  spec.low = MelOfHertz(low);
  spec.high = MelOfHertz(high);
  return spec;
}

absl::Status InferMel(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const DType dtype, NamedType(op));
  TW_ASSIGN_OR_RETURN(const MelSpec spec, ReadMel(op));
  const int64_t bins = spec.length / 2 + 1;
  if (bins > kMostNumbers / spec.mel_bins) {
    return op.Unsupported("a matrix of shape [", bins, ", ", spec.mel_bins,
                          "]");
  }
  // The bins where triangles begin; each has its peak where the next one
  // begins, and ends where that one has its peak. The definition divides by one
  // more than there are steps, so that the last ends before the upper edge.
  const int64_t points = spec.mel_bins + 2;
  const double step = (spec.high - spec.low) / static_cast<double>(points);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < points; ++i) {
    const double hertz = HertzOfMel(spec.low + static_cast<double>(i) * step);
    at.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(spec.length + 1) * hertz /
                   static_cast<double>(spec.rate))));
  }
  if (at[static_cast<size_t>(points) - 2] >= bins || at.back() > bins) {
    return op.Error("the triangles reach bin ", at.back(), " where there are ",
                    bins, "; lower upper_edge_hertz");
  }
  TW_ASSIGN_OR_RETURN(HostTensor matrix,
                      op.NewTensor(dtype, {bins, spec.mel_bins}));
  for (int64_t mel = 0; mel < spec.mel_bins; ++mel) {
    const int64_t* const corner = &at[static_cast<size_t>(mel)];
    for (int64_t bin = corner[0]; bin <= corner[1]; ++bin) {
      const double value = corner[0] == corner[1]
                               ? 1
                               : static_cast<double>(bin - corner[0]) /
                                     static_cast<double>(corner[1] - corner[0]);
      matrix.Set(bin * spec.mel_bins + mel,
                 Scalar{value, static_cast<int64_t>(value)});
    }
    for (int64_t bin = corner[1] + 1; bin < corner[2]; ++bin) {
      const double value = static_cast<double>(corner[2] - bin) /
                           static_cast<double>(corner[2] - corner[1]);
      matrix.Set(bin * spec.mel_bins + mel,
                 Scalar{value, static_cast<int64_t>(value)});
    }
  }
  SetKnown(op, std::move(matrix));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"MelWeightMatrix", 17, 5, 5, InferMel, nullptr},
};

}  // namespace

absl::Span<const OpDef> MelOps() { return kOps; }

}  // namespace tilewright
