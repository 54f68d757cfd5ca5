#include "frontends/onnx/ops/convolution/transposed_phases.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/convolution/convolution.h"

namespace tilewright {
namespace {

// Channels that a convolution computes together, as one vector of the widest,
// used or not.
constexpr int64_t kChannelsTogether = 16;

// One range of phases of every dimension: what one convolution computes.
using Part = std::vector<PhaseRange>;

int64_t PhasesOf(const Part& part) {
  int64_t phases = 1;
  for (const PhaseRange& range : part) phases *= range.phases();
  return phases;
}

bool HasTaps(const Part& part) {
  return std::all_of(part.begin(), part.end(),
                     [](const PhaseRange& range) { return range.taps > 0; });
}

// All parts; bit d of `splits` splits dimension d.
std::vector<Part> PartsOf(const std::vector<WindowDim>& window,
                          unsigned splits) {
  std::vector<Part> parts = {{}};
  for (size_t d = 0; d < window.size(); ++d) {
    std::vector<Part> longer;
    for (const Part& part : parts) {
      for (const PhaseRange& range :
           PhaseRanges(window[d], (splits >> d & 1) != 0)) {
        longer.push_back(part);
        longer.back().push_back(range);
      }
    }
    parts = std::move(longer);
  }
  return parts;
}

// Products of one image and input channel.
double WorkOf(const std::vector<Part>& parts, int64_t channels) {
  double work = 0;
  for (const Part& part : parts) {
    double products = static_cast<double>(
        CeilDiv(channels * PhasesOf(part), kChannelsTogether) *
        kChannelsTogether);
    for (const PhaseRange& range : part)
      products *= static_cast<double>(range.taps * range.count);
    work += products;
  }
  return work;
}

// Those of the least work, of equals the first.
std::vector<Part> ChooseParts(const std::vector<WindowDim>& window,
                              int64_t channels) {
  std::vector<Part> best = PartsOf(window, 0);
  for (unsigned splits = 1; splits < 1u << window.size(); ++splits) {
    std::vector<Part> parts = PartsOf(window, splits);
    if (WorkOf(parts, channels) < WorkOf(best, channels))
      best = std::move(parts);
  }
  return best;
}

class PhaseEmitter {
 public:
  PhaseEmitter(ImportContext& in, const std::vector<WindowDim>& window)
      : in_(in),
        window_(window),
        dtype_(in.op().dtype(0)),
        channels_in_(in.op().shape(1)[0]),
        channels_(in.op().shape(1)[1]),
        parts_(ChooseParts(window, channels_)) {}

  absl::Status Run() {
    Pad();
    const bool interleaves =
        parts_.size() > 1 || PhasesOf(parts_[0]) > 1 || !HasTaps(parts_[0]);
    std::vector<TensorId> results;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!HasTaps(parts_[i])) {
        results.push_back(-1);
        continue;
      }
      TW_ASSIGN_OR_RETURN(
          const TensorId result,
          Convolve(parts_[i], interleaves ? absl::StrCat("phase", i) : ""));
      results.push_back(result);
    }
    if (interleaves) {
      Interleave(results);
    } else {
      in_.SetOutput(0, results[0]);
    }
    return absl::OkStatus();
  }

 private:
  // The input within zeros for all parts.
  void Pad() {
    std::vector<WindowDim> frame = window_;
    for (size_t d = 0; d < window_.size(); ++d) {
      frame[d].pad_before = frame[d].pad_after = 0;
      for (const Part& part : parts_) {
        const PhaseRange& range = part[d];
        if (!HasTaps(part)) continue;
        frame[d].pad_before =
            std::max(frame[d].pad_before, range.taps - 1 - range.begin);
        frame[d].pad_after = std::max(
            frame[d].pad_after, range.begin + range.count - window_[d].input);
      }
      before_.push_back(frame[d].pad_before);
    }
    x_ = PadWithZeros(in_, frame);
  }

  // The weights [ic, oc, kernel...] that `part` needs, as those of a plain
  // convolution: [phases x oc, ic, taps...].
  absl::StatusOr<HostTensor> Weights(const Part& part) const {
    const HostTensor& all = *in_.op().input(1).constant;
    Shape shape = {PhasesOf(part) * channels_, channels_in_};
    for (const PhaseRange& range : part) shape.push_back(range.taps);
    TW_ASSIGN_OR_RETURN(HostTensor weights,
                        in_.op().NewTensor(all.dtype(), shape));
    int64_t next = 0;
    std::vector<int64_t> kernel(part.size());
    ForEachPlace(shape, [&](absl::Span<const int64_t> at) {
      int64_t phase = at[0] / channels_;
      for (size_t d = part.size(); d-- > 0;) {
        const int64_t r = part[d].first + phase % part[d].phases();
        phase /= part[d].phases();
        kernel[d] = r + (part[d].taps - 1 - at[2 + d]) * window_[d].stride;
      }
      int64_t from = at[1] * channels_ + at[0] % channels_;
      for (size_t d = 0; d < part.size(); ++d)
        from = from * window_[d].kernel + kernel[d];
      weights.Set(next++, all.Get(from));
    });
    return weights;
  }

  // [n, phases x oc, quotients...], with the bias.
  absl::StatusOr<TensorId> Convolve(const Part& part,
                                    const std::string& suffix) {
    const DType acc = Combiner::DefaultAccumulator(dtype_);
    std::vector<WindowDim> plain(part.size());
    for (size_t d = 0; d < part.size(); ++d) {
      plain[d].output = part[d].count;
      plain[d].kernel = part[d].taps;
    }
    TW_ASSIGN_OR_RETURN(HostTensor weights, Weights(part));
    const TensorId w =
        in_.Constant(NameOf(suffix, "weights"), std::move(weights));
    const int64_t channels = PhasesOf(part) * channels_;
    TW_ASSIGN_OR_RETURN(const TensorId bias, Bias(channels, suffix));
    return AddConvolution(
        in_, suffix, plain, channels, channels_in_, bias,
        [&](absl::Span<const Expr> out, absl::Span<const Expr> over) {
          std::vector<Expr> at = {out[0], over[0]}, tap = {out[1], over[0]};
          for (size_t d = 0; d < part.size(); ++d) {
            at.push_back(
                out[2 + d] + over[1 + d] +
                Expr::Int(before_[d] + part[d].begin - (part[d].taps - 1)));
            tap.push_back(over[1 + d]);
          }
          return Binary(Op::kMul, CastTo(acc, in_.At(x_, std::move(at))),
                        CastTo(acc, in_.At(w, std::move(tap))));
        });
  }

  std::string NameOf(const std::string& suffix, const char* what) const {
    return in_.Name(0, suffix.empty() ? what : absl::StrCat(suffix, ".", what));
  }

  // The bias for so many channels, those of all phases; -1 if there is none.
  absl::StatusOr<TensorId> Bias(int64_t channels, const std::string& suffix) {
    if (!in_.op().has_input(2)) return -1;
    if (channels == channels_) return in_.input(2);
    const auto& known = in_.op().input(2).constant;
    if (known == nullptr) {
      const TensorId bias = in_.input(2);
      return in_.Elementwise(
          NameOf(suffix, "bias"), dtype_, {channels}, "bias",
          [&](absl::Span<const Expr> index) {
            return in_.At(bias, {FloorMod(index[0], Expr::Int(channels_))});
          });
    }
    TW_ASSIGN_OR_RETURN(HostTensor repeated,
                        in_.op().NewTensor(known->dtype(), {channels}));
    for (int64_t c = 0; c < channels; ++c)
      repeated.Set(c, known->Get(c % channels_));
    return in_.Constant(NameOf(suffix, "bias"), std::move(repeated));
  }

  // `results`: of each part, -1 of one without taps.
  void Interleave(const std::vector<TensorId>& results) {
    in_.EmitElementwise(0, "interleave", [&](absl::Span<const Expr> index) {
      std::vector<Expr> quotient, phase;
      for (size_t d = 0; d < window_.size(); ++d) {
        const Expr place = index[2 + d] + Expr::Int(window_[d].pad_before);
        quotient.push_back(FloorDiv(place, Expr::Int(window_[d].stride)));
        phase.push_back(FloorMod(place, Expr::Int(window_[d].stride)));
      }
      Expr value;
      for (size_t i = parts_.size(); i-- > 0;) {
        const Expr own = Element(parts_[i], results[i], index, quotient, phase);
        value = value ? SelectExpr(IsOf(parts_[i], phase), own, value) : own;
      }
      return value;
    });
  }

  // Whether the phases are those of `part`.
  Expr IsOf(const Part& part, absl::Span<const Expr> phase) const {
    Expr holds;
    for (size_t d = 0; d < part.size(); ++d) {
      const PhaseRange& range = part[d];
      if (range.first > 0) {
        holds =
            AndAll(holds, Binary(Op::kGe, phase[d], Expr::Int(range.first)));
      }
      if (range.end < window_[d].stride) {
        holds = AndAll(holds, Binary(Op::kLt, phase[d], Expr::Int(range.end)));
      }
    }
    return holds;
  }

  Expr Element(const Part& part, TensorId result, absl::Span<const Expr> index,
               absl::Span<const Expr> quotient,
               absl::Span<const Expr> phase) const {
    if (result < 0) {
      if (!in_.op().has_input(2)) return Literal(dtype_, 0);
      return in_.At(in_.input(2), {index[1]});
    }
    Expr number = Expr::Int(0);
    std::vector<Expr> at = {index[0], Expr()};
    for (size_t d = 0; d < part.size(); ++d) {
      number = number * Expr::Int(part[d].phases()) + phase[d] -
               Expr::Int(part[d].first);
      at.push_back(quotient[d] - Expr::Int(part[d].begin));
    }
    at[1] = PhasesOf(part) == 1 ? index[1]
                                : number * Expr::Int(channels_) + index[1];
    return in_.At(result, std::move(at));
  }

  ImportContext& in_;
  const std::vector<WindowDim>& window_;
  const DType dtype_;
  const int64_t channels_in_, channels_;
  const std::vector<Part> parts_;
  std::vector<int64_t> before_;  // zeros before the input, by dimension
  TensorId x_ = -1;
};

}  // namespace

std::vector<PhaseRange> PhaseRanges(const WindowDim& dim, bool split) {
  const int64_t end = dim.output + dim.pad_before;  // of the places
  std::set<int64_t> cuts = {0, dim.kernel % dim.stride, dim.stride};
  if (split) {
    cuts.insert(dim.pad_before % dim.stride);
    cuts.insert(end % dim.stride);
  }
  std::vector<PhaseRange> ranges;
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    PhaseRange range = {*cut, *std::next(cut), 0, 0, 0};
    range.taps =
        CeilDiv(std::max<int64_t>(0, dim.kernel - range.first), dim.stride);
    // The least quotient of the last phase, the greatest of the first.
    range.begin = CeilDiv(
        std::max<int64_t>(0, dim.pad_before - (range.end - 1)), dim.stride);
    range.count = end > range.first
                      ? (end - 1 - range.first) / dim.stride + 1 - range.begin
                      : 0;
    if (range.count > 0) ranges.push_back(range);
  }
  return ranges;
}

absl::Status EmitPhaseConvolutions(ImportContext& in,
                                   const std::vector<WindowDim>& window) {
  return PhaseEmitter(in, window).Run();
}

}  // namespace tilewright
