#include "measure/inputs/values_inside_clips.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace tilewright::measure {
namespace {

constexpr Spread kData = {1, 0.5}, kOffset = {0, 0.25}, kFactor = {1, 0.1};
// The spread of sums that reach no clip.
constexpr Spread kFree = {1, 0.5};
// From the middle of a range to its end.
constexpr double kDeviations = 4;

// factor · tensor + offset.
struct Affine {
  TensorId tensor;
  double factor = 1, offset = 0;
};

struct Clip {
  Expr argument;
  double low, high;

  Spread spread() const {
    return {(low + high) / 2, (high - low) / 2 / kDeviations};
  }
};

// A finite one, or an integer cast to float.
std::optional<double> ConstantOf(const Expr& e) {
  if (!IsFloat(e.dtype())) return std::nullopt;
  if (e.op() == Op::kCast && e.operand(0).op() == Op::kConst &&
      !IsFloat(e.operand(0).dtype()))
    return static_cast<double>(e.operand(0).int_value());
  if (e.op() != Op::kConst || !std::isfinite(e.float_value()))
    return std::nullopt;
  return e.float_value();
}

// The operand that is no constant, of a max or min with one; else nullopt.
std::optional<std::pair<Expr, double>> WithConstant(const Expr& e, Op op) {
  if (e.op() != op) return std::nullopt;
  for (const int i : {0, 1}) {
    if (const std::optional<double> constant = ConstantOf(e.operand(i)))
      return std::make_pair(e.operand(1 - i), *constant);
  }
  return std::nullopt;
}

class Finder {
 public:
  explicit Finder(const TensorGraph& graph) : graph_(graph) {}

  std::map<TensorId, Spread> Run() {
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind == TensorKind::kCompute) FindTarget(tensor);
    }
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.kind != TensorKind::kCompute) continue;
      const Compute& compute = tensor.compute;
      computed_[tensor.id] =
          compute.combiner ? OfReduction(tensor) : OfMap(compute.body[0]);
    }
    return std::move(drawn_);
  }

 private:
  bool IsComputed(TensorId id) const {
    return graph_.tensor(id).kind == TensorKind::kCompute;
  }

  std::optional<Clip> FindClip(const Expr& body) const {
    std::optional<Clip> clip;
    std::optional<double> floor;
    Visit(body, [&](const Expr& e) {
      if (const auto max = WithConstant(e, Op::kMax)) floor = max->second;
      if (const auto min = WithConstant(e, Op::kMin)) {
        const auto inner = WithConstant(min->first, Op::kMax);
        clip = {inner ? inner->first : min->first, 0, min->second};
      }
    });
    if (!clip) return std::nullopt;
    clip->low = floor && *floor < clip->high ? *floor : clip->high - 6;
    return clip;
  }

  // `expr` of one computed tensor; others, which are not computed, are drawn
  // so that they do not matter much.
  std::optional<Affine> AffineOf(const Expr& expr) {
    switch (expr.op()) {
      case Op::kCast:
      case Op::kRound:
        return AffineOf(expr.operand(0));
      case Op::kLoad:
        if (IsComputed(expr.source())) return Affine{expr.source()};
        return std::nullopt;
      case Op::kSelect:
        if (const auto first = AffineOf(expr.operand(1))) return first;
        return AffineOf(expr.operand(2));
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
      case Op::kDiv:
        break;
      default:
        return std::nullopt;
    }
    const bool sum = expr.op() == Op::kAdd || expr.op() == Op::kSub;
    for (const int i : {0, 1}) {
      std::optional<Affine> of = AffineOf(expr.operand(i));
      if (!of) continue;
      const Expr& other = expr.operand(1 - i);
      if (const std::optional<double> constant = ConstantOf(other)) {
        const double value = *constant;
        if (expr.op() == Op::kAdd) of->offset += value;
        if (expr.op() == Op::kMul) of->factor *= value, of->offset *= value;
        if (i == 1 && expr.op() != Op::kAdd && expr.op() != Op::kMul)
          return std::nullopt;
        if (expr.op() == Op::kSub) of->offset -= value;
        if (expr.op() == Op::kDiv) of->factor /= value, of->offset /= value;
        return of;
      }
      if (expr.op() == Op::kSub && i == 1)
        of->factor = -of->factor, of->offset = -of->offset;
      if (expr.op() == Op::kDiv && i == 1) return std::nullopt;
      Visit(other, [&](const Expr& e) {
        if (e.op() != Op::kLoad || IsComputed(e.source())) return;
        drawn_.emplace(e.source(), sum ? kOffset : kFactor);
        if (!sum) factors_.push_back(e.source());
      });
      return of;
    }
    return std::nullopt;
  }

  // The sum that reaches a clip, and what it should be.
  void FindTarget(const Tensor& tensor) {
    if (tensor.compute.combiner) return;
    const std::optional<Clip> clip = FindClip(tensor.compute.body[0]);
    if (!clip) return;
    factors_.clear();
    std::optional<Affine> of = AffineOf(clip->argument);
    while (of && !graph_.tensor(of->tensor).compute.combiner) {
      const std::optional<Affine> next =
          AffineOf(graph_.tensor(of->tensor).compute.body[0]);
      if (!next) return;
      of = Affine{next->tensor, of->factor * next->factor,
                  of->factor * next->offset + of->offset};
    }
    if (!of || of->factor == 0) return;
    const Spread wanted = clip->spread();
    const double integers = IntegerDeviation(graph_.tensor(of->tensor));
    if (integers > 0) {
      // Its operands are what they are: what it is multiplied by has to do.
      if (factors_.empty()) return;
      const double scale = wanted.deviation / (std::abs(of->factor) * integers);
      drawn_[factors_[0]] = {scale * kFactor.mean, scale * kFactor.deviation};
      return;
    }
    targets_.emplace(of->tensor,
                     Spread{(wanted.mean - of->offset) / of->factor,
                            wanted.deviation / std::abs(of->factor)});
  }

  // The standard deviation of a sum of products of integers, which are drawn
  // evenly up to kLargestInteger; 0 if `tensor` is none.
  double IntegerDeviation(const Tensor& tensor) const {
    if (!tensor.compute.combiner || IsFloat(tensor.dtype) ||
        tensor.compute.combiner->kind() != Combiner::Kind::kSum)
      return 0;
    double square = 1;
    for (const Axis& axis : tensor.compute.reduce_axes)
      square *= static_cast<double>(axis.extent.value());
    Visit(tensor.compute.body[0], [&](const Expr& e) {
      if (e.op() == Op::kLoad)
        square *= kLargestInteger * kLargestInteger / 3.0;
    });
    return std::sqrt(square);
  }

  Spread SpreadOf(TensorId id) {
    if (IsComputed(id)) return computed_.at(id);
    return drawn_.emplace(id, kData).first->second;
  }

  // The spread of a map.
  Spread OfMap(const Expr& body) {
    if (const std::optional<Clip> clip = FindClip(body))
      return body.op() == Op::kMin || body.op() == Op::kMax ? clip->spread()
                                                            : kFree;
    if (const std::optional<Affine> of = AffineOf(body)) {
      const Spread from = SpreadOf(of->tensor);
      return {of->factor * from.mean + of->offset,
              std::abs(of->factor) * from.deviation};
    }
    return OfInputs(body);
  }

  // The spread of a map that reads no computed tensor, such as a padded input.
  Spread OfInputs(const Expr& body) {
    Spread last = kFree;
    bool moves = true;
    Visit(body, [&](const Expr& e) {
      moves = moves && (!IsFloat(e.dtype()) || e.op() == Op::kLoad ||
                        e.op() == Op::kSelect || e.op() == Op::kCast ||
                        e.op() == Op::kConst);
      if (e.op() == Op::kLoad && IsFloat(e.dtype()) && !IsComputed(e.source()))
        last = SpreadOf(e.source());
    });
    return moves ? last : kFree;
  }

  // A sum of products is what its smallest operand that is not computed makes
  // of it.
  Spread OfReduction(const Tensor& tensor) {
    const Compute& compute = tensor.compute;
    std::vector<TensorId> loaded;
    Visit(compute.body[0], [&](const Expr& e) {
      if (e.op() == Op::kLoad && IsFloat(e.dtype()))
        loaded.push_back(e.source());
    });
    if (compute.combiner->kind() != Combiner::Kind::kSum)
      return loaded.empty() ? kFree : SpreadOf(loaded[0]);
    TensorId weights = -1;
    for (const TensorId id : loaded) {
      if (!IsComputed(id) && drawn_.count(id) == 0 &&
          (weights < 0 || graph_.tensor(id).num_elements() <
                              graph_.tensor(weights).num_elements()))
        weights = id;
    }
    if (weights < 0) return loaded.empty() ? kFree : SpreadOf(loaded[0]);
    double terms = 1, mean = 1, square = 1;  // of all other factors
    for (const Axis& axis : compute.reduce_axes)
      terms *= static_cast<double>(axis.extent.value());
    for (const TensorId id : loaded) {
      if (id == weights) continue;
      const Spread other = SpreadOf(id);
      mean *= other.mean;
      square *= other.mean * other.mean + other.deviation * other.deviation;
    }
    const auto target = targets_.find(tensor.id);
    const Spread wanted = target == targets_.end() ? kFree : target->second;
    drawn_[weights] = {mean == 0 ? 0 : wanted.mean / (terms * mean),
                       wanted.deviation / std::sqrt(terms * square)};
    return wanted;
  }

  const TensorGraph& graph_;
  std::map<TensorId, Spread> targets_;  // of sums
  std::vector<TensorId> factors_;       // on the way to a target
  std::map<TensorId, Spread> computed_, drawn_;
};

}  // namespace

std::map<TensorId, Spread> SpreadsInsideClips(const TensorGraph& graph) {
  return Finder(graph).Run();
}

}  // namespace tilewright::measure
