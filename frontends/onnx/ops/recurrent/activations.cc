#include "frontends/onnx/ops/recurrent/activations.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/activation/activation_functions.h"

namespace tilewright {
namespace {

Expr SigmoidOf(const Expr& x, double, double) { return Unary(Op::kSigmoid, x); }

Expr TanhOf(const Expr& x, double, double) { return Unary(Op::kTanh, x); }

Expr ReluOf(const Expr& x, double, double) { return Relu(x); }

Expr AffineOf(const Expr& x, double alpha, double beta) {
  return Add(Mul(x, alpha), beta);
}

Expr LeakyReluOf(const Expr& x, double alpha, double) {
  return LeakyRelu(x, alpha);
}

// Unlike the operator of this name, it keeps alpha itself.
Expr ThresholdedReluOf(const Expr& x, double alpha, double) {
  return IfBelow(x, alpha, Literal(x.dtype(), 0), x);
}

Expr ScaledTanhOf(const Expr& x, double alpha, double beta) {
  return Mul(Unary(Op::kTanh, Mul(x, beta)), alpha);
}

Expr EluOf(const Expr& x, double alpha, double) { return Elu(x, alpha); }

Expr SoftsignOf(const Expr& x, double, double) { return Softsign(x); }

Expr SoftplusOf(const Expr& x, double, double) { return Softplus(x); }

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
    {"Sigmoid", SigmoidOf, kNone, kNone},
    {"Tanh", TanhOf, kNone, kNone},
    {"Relu", ReluOf, kNone, kNone},
    {"Affine", AffineOf, {true, 1}, {true, 0}},
    {"LeakyRelu", LeakyReluOf, {true, 0.01F}, kNone},
    {"ThresholdedRelu", ThresholdedReluOf, {true, 1}, kNone},
    {"ScaledTanh", ScaledTanhOf, kGiven, kGiven},
    {"HardSigmoid", HardSigmoid, {true, 0.2F}, {true, 0.5F}},
    {"Elu", EluOf, {true, 1}, kNone},
    {"Softsign", SoftsignOf, kNone, kNone},
    {"Softplus", SoftplusOf, kNone, kNone},
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
