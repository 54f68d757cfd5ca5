#include "backends/lowering/testing/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::lowering {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// Relative error of one operation; fp16 and bf16 compute in f32.
double Unit(DType dtype) {
  return dtype == DType::kFloat64 ? 0x1p-53 : 0x1p-24;
}
// The unit roundoff of storing to a tensor.
double StorageUnit(DType dtype) {
  if (dtype == DType::kFloat16) return 0x1p-11;
  if (dtype == DType::kBFloat16) return 0x1p-8;
  return Unit(dtype);
}
bool Representable(double v, DType dtype) {
  return dtype == DType::kFloat64 ||
         static_cast<double>(static_cast<float>(v)) == v;
}

// The error a rounding to `dtype` adds to an exactly known `v`.
double Rounding(double v, DType dtype, double units = 1) {
  return units * Unit(dtype) * std::abs(v);
}

class Evaluator {
 public:
  Evaluator(const TensorGraph& graph, Interpreter& oracle)
      : graph_(graph), oracle_(oracle), values_(graph.size()) {}

  // Fills in all elements of `id`; those it loads are there.
  absl::Status Tensor(TensorId id, const HostTensor* given) {
    const tilewright::Tensor& t = graph_.tensor(id);
    const std::vector<int64_t> shape = t.static_shape();
    std::vector<BoundedValue>& out = values_[id];
    out.resize(t.num_elements());
    if (given != nullptr) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = {given->Get(i), 0};
      return absl::OkStatus();
    }
    std::vector<int64_t> index(shape.size(), 0);
    for (size_t i = 0; i < out.size(); ++i) {
      TW_ASSIGN_OR_RETURN(out[i].value, oracle_.At(id, index));
      out[i].error = Stored(Element(t.compute, index), out[i].value, t.dtype);
      for (int d = static_cast<int>(shape.size()) - 1;
           d >= 0 && ++index[d] == shape[d]; --d)
        index[d] = 0;
    }
    return absl::OkStatus();
  }
  std::vector<BoundedValue>& of(TensorId id) { return values_[id]; }

 private:
  static double Stored(double error, Scalar value, DType dtype) {
    if (!IsFloat(dtype) || !std::isfinite(value.f)) return error;
    if (error == 0 && RoundTo(dtype, value).f == value.f) return 0;
    if (dtype == DType::kFloat16 && std::abs(value.f) + error >= 65504)
      return kUnknown;
    return error + StorageUnit(dtype) * std::abs(value.f) +
           0x1p-25 * (dtype == DType::kFloat16 ? 1 : 0) + 1e-45;
  }

  // The error of one element.
  double Element(const Compute& c, const std::vector<int64_t>& index) {
    vars_ = index;
    if (!c.combiner.has_value()) return Eval(c.body[0]).error;
    std::vector<BoundedValue> terms;
    vars_.resize(index.size() + c.reduce_axes.size(), 0);
    std::fill(vars_.begin() + index.size(), vars_.end(), 0);
    while (true) {
      terms.push_back(Eval(c.body[0]));
      int d = static_cast<int>(vars_.size()) - 1;
      for (; d >= static_cast<int>(index.size()); --d) {
        if (++vars_[d] < c.reduce_axes[d - index.size()].extent.value()) break;
        vars_[d] = 0;
      }
      if (d < static_cast<int>(index.size())) break;
    }
    return Reduced(*c.combiner, c.result, terms);
  }

  static double Reduced(const Combiner& combiner, int result,
                        const std::vector<BoundedValue>& terms) {
    double errors = 0, largest = 0, magnitude = 0, product = 1, with_errors = 1;
    double grain =
        1;  // all terms are multiples of 1 / grain, if it stays at most 256
    for (const BoundedValue& t : terms) {
      errors += t.error;
      largest = std::max(largest, t.error);
      magnitude += std::abs(t.value.f);
      product *= std::max(1.0, std::abs(t.value.f));
      with_errors *= std::max(1.0, std::abs(t.value.f) + t.error);
      while (grain <= 256 && t.value.f * grain != std::floor(t.value.f * grain))
        grain *= 2;
    }
    const DType acc = combiner.acc();
    const double count = static_cast<double>(terms.size());
    switch (combiner.kind()) {
      case Combiner::Kind::kSum:
        if (!IsFloat(acc)) return errors;
        if (errors == 0 && grain <= 256 && magnitude * grain < 0x1p24) return 0;
        return errors + Unit(acc) * (std::sqrt(count) + 8) * magnitude;
      case Combiner::Kind::kProd:
        if (!IsFloat(acc)) return errors;
        if (errors == 0 && grain == 1 && product < 0x1p24) return 0;
        return with_errors - product + count * Unit(acc) * with_errors;
      case Combiner::Kind::kMax:
      case Combiner::Kind::kMin:
        return largest;
      case Combiner::Kind::kArgMax:
      case Combiner::Kind::kArgMin:
        if (result == 0 || largest == 0) return largest;
        return Contested(combiner.kind() == Combiner::Kind::kArgMax ? 1 : -1,
                         terms)
                   ? kUnknown
                   : 0;
      case Combiner::Kind::kWelford:
      case Combiner::Kind::kMaxSumExp: {
        const double scale = 1 + magnitude;
        return (errors + Unit(acc) * (count + 16) * scale) * scale;
      }
    }
    return kUnknown;
  }
  static bool Contested(int sign, const std::vector<BoundedValue>& terms) {
    size_t best = 0;
    for (size_t i = 1; i < terms.size(); ++i) {
      if (sign * terms[i].value.f > sign * terms[best].value.f) best = i;
    }
    for (size_t i = 0; i < terms.size(); ++i) {
      if (i != best && sign * terms[i].value.f + terms[i].error >=
                           sign * terms[best].value.f - terms[best].error)
        return true;
    }
    return false;
  }

  BoundedValue Eval(const Expr& e) {
    switch (e.op()) {
      case Op::kConst:
        return IsFloat(e.dtype()) ? BoundedValue{{e.float_value(), 0}, 0}
                                  : BoundedValue{{0, e.int_value()}, 0};
      case Op::kVar:
        return {{0, vars_[e.var_id()]}, 0};
      case Op::kLoad:
        return Load(e);
      case Op::kSelect: {
        const BoundedValue condition = Eval(e.operand(0));
        BoundedValue taken = Eval(e.operand(condition.value.i != 0 ? 1 : 2));
        if (condition.error > 0) taken.error = kUnknown;
        return taken;
      }
      default:
        break;
    }
    BoundedValue in[2];
    Scalar values[2];
    const size_t count = e.operands().size();
    for (size_t i = 0; i < count; ++i) {
      in[i] = Eval(e.operand(i));
      values[i] = in[i].value;
    }
    const DType operand = e.operands().back().dtype();
    BoundedValue out;
    out.value = EvaluateOp(e.op(), e.dtype(), operand, {values, count}, false);
    out.error = Error(e.op(), e.dtype(), operand, in, count, out.value);
    return out;
  }

  BoundedValue Load(const Expr& e) {
    const std::vector<int64_t> shape = graph_.tensor(e.source()).static_shape();
    int64_t at = 0;
    bool sure = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      const BoundedValue index = Eval(e.operand(d));
      sure &=
          index.error == 0 && index.value.i >= 0 && index.value.i < shape[d];
      at = at * shape[d] + index.value.i;
    }
    return sure ? values_[e.source()][at] : BoundedValue{{}, kUnknown};
  }

  static double Error(Op op, DType dtype, DType operand, const BoundedValue* in,
                      size_t count, Scalar out) {
    double given = 0;
    for (size_t i = 0; i < count; ++i) given = std::max(given, in[i].error);
    if (given == kUnknown) return kUnknown;
    if (!IsFloat(operand)) {
      if (given > 0) return kUnknown;
      return op == Op::kCast && IsFloat(dtype) && !Representable(out.f, dtype)
                 ? Rounding(out.f, dtype)
                 : 0;
    }
    const double x = in[0].value.f, ex = in[0].error,
                 y = count > 1 ? in[1].value.f : 0,
                 ey = count > 1 ? in[1].error : 0;
    if (op >= Op::kEq && op <= Op::kGe)
      return given > 0 && !(std::abs(x - y) > ex + ey) ? kUnknown : 0;
    if (op == Op::kIsNan) return 0;
    if (!IsFloat(dtype))
      return given > 0 && std::trunc(x - ex) != std::trunc(x + ex) ? kUnknown
                                                                   : 0;  // cast
    const double v = out.f;
    if (!std::isfinite(v)) return given > 0 ? kUnknown : 0;
    switch (op) {
      case Op::kNeg:
      case Op::kAbs:
        return ex;
      case Op::kMax:
      case Op::kMin:
        return given;
      case Op::kCast:
        return ex + (Representable(v, dtype) ? 0 : Rounding(v, dtype));
      case Op::kFloor:
      case Op::kCeil:
      case Op::kRound: {
        auto round = [op](double a) {
          return op == Op::kFloor  ? std::floor(a)
                 : op == Op::kCeil ? std::ceil(a)
                                   : std::nearbyint(a);
        };
        return given > 0 && round(x - ex) != round(x + ex) ? kUnknown : 0;
      }
      default:
        break;
    }
    // One correctly rounded operation on exact operands with a representable
    // result has no error.
    const bool basic = op == Op::kAdd || op == Op::kSub || op == Op::kMul ||
                       op == Op::kDiv || op == Op::kSqrt;
    if (basic && given == 0 && Representable(v, dtype)) return 0;
    switch (op) {
      case Op::kAdd:
      case Op::kSub:
        return ex + ey + Rounding(v, dtype);
      case Op::kMul:
        return std::abs(x) * ey + std::abs(y) * ex + ex * ey +
               Rounding(v, dtype);
      case Op::kDiv:
        return std::abs(y) <= ey
                   ? kUnknown
                   : (ex + std::abs(v) * ey) / (std::abs(y) - ey) +
                         Rounding(v, dtype);
      case Op::kSqrt:
        return x <= ex ? kUnknown : ex / std::sqrt(x - ex) + Rounding(v, dtype);
      case Op::kExp:
        return v * std::expm1(ex) + Rounding(v, dtype, 4) + 1e-44;
      case Op::kLog:
        return x <= ex ? kUnknown : ex / (x - ex) + Rounding(v, dtype, 4);
      case Op::kTanh:
      case Op::kSigmoid:
        return ex + Rounding(v, dtype, 4) + 1e-44;
      case Op::kErf:
        return 1.2 * ex + Rounding(v, dtype, 4) + 1e-44;
      case Op::kSin:
      case Op::kCos:
        return ex + Rounding(1, dtype, 4);
      case Op::kPow:
        return given > 0 ? kUnknown : Rounding(v, dtype, 8);
      default:
        return kUnknown;
    }
  }

  const TensorGraph& graph_;
  Interpreter& oracle_;
  std::vector<std::vector<BoundedValue>> values_;
  std::vector<int64_t> vars_;
};

}  // namespace

absl::StatusOr<std::map<TensorId, std::vector<BoundedValue>>>
EvaluateWithBounds(const TensorGraph& graph,
                   const std::map<TensorId, HostTensor>& inputs) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Interpreter> oracle,
                      Interpreter::Create(graph, inputs, {}));
  Evaluator evaluator(graph, *oracle);
  for (const Tensor& t : graph.tensors()) {
    const HostTensor* given = t.kind == TensorKind::kPlaceholder
                                  ? &inputs.at(t.id)
                              : t.kind == TensorKind::kConstant ? t.value.get()
                                                                : nullptr;
    TW_RETURN_IF_ERROR(evaluator.Tensor(t.id, given));
  }
  std::map<TensorId, std::vector<BoundedValue>> outputs;
  for (TensorId id : graph.outputs()) outputs[id] = evaluator.of(id);
  return outputs;
}

bool Agrees(DType dtype, const BoundedValue& want, Scalar got) {
  if (!IsFloat(dtype))
    return want.error > 0 || RoundTo(dtype, want.value).i == got.i;
  if (want.error == kUnknown) return true;
  const double value =
      want.error == 0 ? RoundTo(dtype, want.value).f : want.value.f;
  if (std::isnan(value) || std::isnan(got.f))
    return std::isnan(value) && std::isnan(got.f);
  if (want.error == 0 || !std::isfinite(value)) return value == got.f;
  return std::abs(got.f - value) <= 4 * want.error;
}

}  // namespace tilewright::lowering
