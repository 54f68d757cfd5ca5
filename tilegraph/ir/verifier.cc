#include "tilegraph/ir/verifier.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/ir/index_bounds.h"

namespace tilewright {
namespace {

// Bytes of one tensor stay far from overflowing offsets.
constexpr int64_t kMaxBytes = int64_t{1} << 48;

bool IsSum(const Compute& compute) {
  return compute.combiner && compute.combiner->kind() == Combiner::Kind::kSum;
}

// Sums over channels and 3x3 taps, for images.
bool IsOfNineTaps(const Compute& compute) {
  return IsSum(compute) && compute.axes.size() == 4 &&
         compute.reduce_axes.size() == 3 &&
         compute.reduce_axes[1].extent == Dim(3) &&
         compute.reduce_axes[2].extent == Dim(3) &&
         compute.body[0].op() == Op::kMul;
}

// Whether the expression can be what the role says.
bool Holds(ComputeRole role, const Compute& compute) {
  switch (role) {
    case ComputeRole::kNone:
      return true;
    case ComputeRole::kConvolution:
      return IsSum(compute);
    case ComputeRole::kReshape:
    case ComputeRole::kDequantize:
      return !compute.combiner;
    case ComputeRole::kWinograd2:
    case ComputeRole::kWinograd4:
      return IsOfNineTaps(compute);
    case ComputeRole::kBandIn:
    case ComputeRole::kBandOut:
    case ComputeRole::kPlainCopy:
      return !compute.combiner && compute.body[0].op() == Op::kLoad;
  }
  return false;
}

class TensorVerifier {
 public:
  TensorVerifier(const TensorGraph& graph, const Tensor& tensor)
      : graph_(graph), tensor_(tensor) {}

  absl::Status Run() {
    int64_t bytes = SizeBytes(tensor_.dtype);
    for (const Dim& dim : tensor_.shape) {
      TW_RETURN_IF_ERROR(VerifyExtent(dim));
      if (__builtin_mul_overflow(bytes, dim.value(), &bytes) ||
          bytes > kMaxBytes)
        return Error("is larger than 2^48 bytes");
    }
    switch (tensor_.kind) {
      case TensorKind::kPlaceholder:
        return absl::OkStatus();
      case TensorKind::kConstant:
        return VerifyConstant();
      case TensorKind::kCompute:
        return VerifyCompute();
    }
    return Error("is of no known kind");
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", tensor_.name, "' ", what));
  }

  absl::Status VerifyExtent(const Dim& dim) const {
    if (!dim.is_static()) {
      return absl::UnimplementedError(absl::StrCat(
          "tensor '", tensor_.name, "' has the symbolic extent ",
          dim.ToString(), "; dynamic shapes are not supported yet"));
    }
    if (dim.value() < 1)
      return Error(absl::StrCat("has the extent ", dim.value(), ", below 1"));
    return absl::OkStatus();
  }

  absl::Status VerifyConstant() const {
    if (tensor_.value == nullptr) return Error("is a constant without a value");
    if (tensor_.value->dtype() != tensor_.dtype ||
        tensor_.value->shape() != tensor_.static_shape()) {
      return Error("has a value of another dtype or shape");
    }
    return absl::OkStatus();
  }

  absl::Status VerifyCompute() {
    const Compute& compute = tensor_.compute;
    if (compute.axes.size() != tensor_.shape.size())
      return Error("has another number of axes than dimensions");
    for (size_t i = 0; i < compute.axes.size(); ++i) {
      if (compute.axes[i].extent != tensor_.shape[i])
        return Error(absl::StrCat("has a shape that is not its axes' at ", i));
      extents_.push_back(compute.axes[i].extent.value());
    }
    for (const Axis& axis : compute.reduce_axes) {
      TW_RETURN_IF_ERROR(VerifyExtent(axis.extent));
      extents_.push_back(axis.extent.value());
    }
    if (compute.combiner.has_value() != !compute.reduce_axes.empty()) {
      return Error(
          "has reduce axes without a combiner, or a combiner without reduce "
          "axes");
    }
    const int arity =
        compute.combiner.has_value() ? compute.combiner->arity() : 1;
    if (static_cast<int>(compute.body.size()) != arity) {
      return Error(absl::StrCat("has ", compute.body.size(),
                                " body expressions where ", arity,
                                " are needed"));
    }
    if (compute.result < 0 || compute.result >= arity)
      return Error(
          absl::StrCat("takes component ", compute.result, " of ", arity));
    if (compute.combiner.has_value() &&
        !Combiner::Supports(compute.combiner->kind(),
                            compute.combiner->acc())) {
      return Error(absl::StrCat("reduces by ", compute.combiner->ToString(),
                                ", which has no meaning"));
    }
    for (int i = 0; i < arity; ++i) {
      if (!compute.body[i]) return Error("has an empty body");
      if (compute.combiner.has_value() &&
          compute.body[i].dtype() != compute.combiner->component_dtype(i)) {
        return Error(absl::StrCat(
            "has a body of dtype ", std::string(Name(compute.body[i].dtype())),
            " where ", compute.combiner->ToString(), " takes ",
            std::string(Name(compute.combiner->component_dtype(i))),
            "; add a cast"));
      }
      TW_RETURN_IF_ERROR(VerifyExpr(compute.body[i], IndexBounds(extents_)));
    }
    if (!Holds(tensor_.hint.role(), compute))
      return Error(absl::StrCat("has the hint ", tensor_.hint.word(),
                                ", which its expression is not"));
    return absl::OkStatus();
  }

  absl::Status VerifyExpr(const Expr& expr, const IndexBounds& bounds) {
    switch (expr.op()) {
      case Op::kConst:
        return absl::OkStatus();
      case Op::kVar:
        if (expr.var_id() < 0 ||
            expr.var_id() >= static_cast<int>(extents_.size())) {
          return Error(absl::StrCat("uses variable ", expr.ToString(), " (",
                                    expr.var_id(),
                                    "), which is none of its axes"));
        }
        return absl::OkStatus();
      case Op::kSelect: {
        TW_RETURN_IF_ERROR(VerifyExpr(expr.operand(0), bounds));
        TW_RETURN_IF_ERROR(
            VerifyExpr(expr.operand(1), bounds.Given(expr.operand(0), true)));
        return VerifyExpr(expr.operand(2),
                          bounds.Given(expr.operand(0), false));
      }
      case Op::kLoad:
        TW_RETURN_IF_ERROR(VerifyLoad(expr));
        break;
      default:
        break;
    }
    for (const Expr& operand : expr.operands())
      TW_RETURN_IF_ERROR(VerifyExpr(operand, bounds));
    // After its variables are known to be axes.
    return expr.op() == Op::kLoad ? VerifyBounds(expr, bounds)
                                  : absl::OkStatus();
  }

  absl::Status VerifyLoad(const Expr& load) const {
    const int source = load.source();
    if (source < 0 || source >= tensor_.id)
      return Error(absl::StrCat("loads tensor ", source,
                                ", which is not an earlier one"));
    const Tensor& from = graph_.tensor(source);
    if (from.dtype != load.dtype()) {
      return Error(absl::StrCat("loads '", from.name, "' as ",
                                std::string(Name(load.dtype())), ", but it is ",
                                std::string(Name(from.dtype))));
    }
    if (load.operands().size() != from.shape.size()) {
      return Error(absl::StrCat("loads '", from.name, "' with ",
                                load.operands().size(), " indices, but it has ",
                                from.shape.size(), " dimensions"));
    }
    for (const Expr& index : load.operands()) {
      if (index.dtype() != DType::kInt64) {
        return Error(absl::StrCat("loads '", from.name,
                                  "' at an index of dtype ",
                                  std::string(Name(index.dtype()))));
      }
    }
    return absl::OkStatus();
  }

  absl::Status VerifyBounds(const Expr& load, const IndexBounds& bounds) const {
    const Tensor& from = graph_.tensor(load.source());
    for (size_t d = 0; d < from.shape.size(); ++d) {
      const int64_t extent = from.shape[d].value();
      if (!bounds.MayLeave(load.operand(static_cast<int>(d)), extent)) continue;
      return Error(absl::StrCat("loads '", from.name, "' at ",
                                load.operand(static_cast<int>(d)).ToString(),
                                ", which can leave [0, ", extent,
                                ") of dimension ", d,
                                "; guard it by a select"));
    }
    return absl::OkStatus();
  }

  const TensorGraph& graph_;
  const Tensor& tensor_;
  std::vector<int64_t> extents_;
};

}  // namespace

absl::Status VerifyGraph(const TensorGraph& graph) {
  for (const Tensor& tensor : graph.tensors())
    TW_RETURN_IF_ERROR(TensorVerifier(graph, tensor).Run());
  for (const TensorId id : graph.outputs()) {
    if (id < 0 || id >= graph.size())
      return absl::InvalidArgumentError(
          absl::StrCat("output ", id, " is no tensor of the graph"));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
