#include "frontends/onnx/ops/recurrent/activations.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

Expr Add(const Expr& a, double b) {
  return Binary(Op::kAdd, a, Literal(a.dtype(), b));
}

Expr Mul(const Expr& a, double b) {
  return Binary(Op::kMul, a, Literal(a.dtype(), b));
}

Expr Max(const Expr& a, double b) {
  return Binary(Op::kMax, a, Literal(a.dtype(), b));
}

Expr IfBelow(const Expr& x, double bound, const Expr& then,
             const Expr& otherwise) {
  return SelectExpr(Binary(Op::kLt, x, Literal(x.dtype(), bound)), then,
                    otherwise);
}

Expr Sigmoid(const Expr& x, double, double) { return Unary(Op::kSigmoid, x); }

Expr Tanh(const Expr& x, double, double) { return Unary(Op::kTanh, x); }

Expr Relu(const Expr& x, double, double) { return Max(x, 0); }

Expr Affine(const Expr& x, double alpha, double beta) {
  return Add(Mul(x, alpha), beta);
}

Expr LeakyRelu(const Expr& x, double alpha, double) {
  return IfBelow(x, 0, Mul(x, alpha), x);
}

Expr ThresholdedRelu(const Expr& x, double alpha, double) {
  return IfBelow(x, alpha, Literal(x.dtype(), 0), x);
}

Expr ScaledTanh(const Expr& x, double alpha, double beta) {
  return Mul(Unary(Op::kTanh, Mul(x, beta)), alpha);
}

Expr HardSigmoid(const Expr& x, double alpha, double beta) {
  return Max(Binary(Op::kMin, Affine(x, alpha, beta), Literal(x.dtype(), 1)),
             0);
}

Expr Elu(const Expr& x, double alpha, double) {
  return IfBelow(x, 0, Mul(Add(Unary(Op::kExp, x), -1), alpha), x);
}

Expr Softsign(const Expr& x, double, double) {
  return Binary(Op::kDiv, x, Add(Unary(Op::kAbs, x), 1));
}

Expr Softplus(const Expr& x, double, double) {
  const Expr decay = Unary(Op::kExp, Unary(Op::kNeg, Unary(Op::kAbs, x)));
  return Binary(Op::kAdd, Max(x, 0), Unary(Op::kLog, Add(decay, 1)));
}

// A number of a function.
struct Number {
  bool exists = false;
  double otherwise = NAN;  // NaN: must be given
};

constexpr Number kNone = {};
constexpr Number kGiven = {true};

struct Known {
  const char* name;
  decltype(Activation::function) function;
  Number alpha, beta;
};

constexpr Known kKnown[] = {
    {"Sigmoid", Sigmoid, kNone, kNone},
    {"Tanh", Tanh, kNone, kNone},
    {"Relu", Relu, kNone, kNone},
    {"Affine", Affine, {true, 1}, {true, 0}},
    {"LeakyRelu", LeakyRelu, {true, 0.01F}, kNone},
    {"ThresholdedRelu", ThresholdedRelu, {true, 1}, kNone},
    {"ScaledTanh", ScaledTanh, kGiven, kGiven},
    {"HardSigmoid", HardSigmoid, {true, 0.2F}, {true, 0.5F}},
    {"Elu", Elu, {true, 1}, kNone},
    {"Softsign", Softsign, kNone, kNone},
    {"Softplus", Softplus, kNone, kNone},
};

// Gives out the entries of an attribute in their order.
class Numbers {
 public:
  Numbers(const OpContext& op, const char* attribute)
      : op_(op), attribute_(attribute), values_(op.Floats(attribute)) {}

  absl::StatusOr<double> Next(const std::string& function,
                              const Number& number) {
    if (!number.exists) return 0;
    if (next_ < values_.size()) return values_[next_++];
    if (!std::isnan(number.otherwise)) return number.otherwise;
    return op_.Error("attribute ", Quoted(attribute_), " has no number for ",
                     Quoted(function), ", which has no default");
  }

  absl::Status CheckAllUsed() const {
    if (next_ == values_.size()) return absl::OkStatus();
    return op_.Error("attribute ", Quoted(attribute_), " has ", values_.size(),
                     " numbers where the activations take ", next_);
  }

 private:
  const OpContext& op_;
  const char* attribute_;
  std::vector<float> values_;
  size_t next_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Activation>> ReadActivations(
    const OpContext& op, std::vector<std::string> names) {
  if (op.HasAttribute("activations")) {
    const std::vector<std::string> given = op.Strings("activations");
    if (given.size() != names.size()) {
      return op.Error("attribute 'activations' has ", given.size(),
                      " entries where ", names.size(), " are needed");
    }
    names = given;
  }
  Numbers alphas(op, "activation_alpha"), betas(op, "activation_beta");
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const auto known = std::find_if(
        std::begin(kKnown), std::end(kKnown), [&](const Known& candidate) {
          return absl::EqualsIgnoreCase(candidate.name, name);
        });
    if (known == std::end(kKnown)) {
      return op.Unsupported("the function ", Quoted(name),
                            " of attribute 'activations'");
    }
    Activation activation{known->function};
    TW_ASSIGN_OR_RETURN(activation.alpha, alphas.Next(name, known->alpha));
    TW_ASSIGN_OR_RETURN(activation.beta, betas.Next(name, known->beta));
    activations.push_back(activation);
  }
  TW_RETURN_IF_ERROR(alphas.CheckAllUsed());
  TW_RETURN_IF_ERROR(betas.CheckAllUsed());
  return activations;
}

}  // namespace tilewright
