#include "tilegraph/rewrite/bf16_contractions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/new_tensor.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright {
namespace {

constexpr DType kNarrow = DType::kBFloat16;
// Channels of an image that lie side by side (PlanOptions::channel_block).
constexpr int64_t kChannelBlock = 16;

// data * constant, as loads.
struct Product {
  Expr data, constant;
};

class Rounder {
 public:
  explicit Rounder(const TensorGraph& old)
      : old_(old), group_(FindDotIntrinsic("dot2_bf16_f32")->group) {}

  RewrittenGraph Run() {
    for (const Tensor& tensor : old_.tensors()) {
      const std::optional<Product> product = ProductOf(tensor);
      ids_.push_back(product ? Rounded(tensor, *product)
                             : CopyTensor(tensor, ids_, new_));
    }
    return FinishRewrite(old_, std::move(new_), std::move(ids_));
  }

 private:
  const Tensor& Source(const Expr& load) const {
    return old_.tensor(load.source());
  }

  std::optional<Product> ProductOf(const Tensor& tensor) const {
    const Compute& compute = tensor.compute;
    if (tensor.kind != TensorKind::kCompute || !compute.combiner ||
        compute.combiner->kind() != Combiner::Kind::kSum ||
        compute.combiner->acc() != DType::kFloat32 ||
        compute.body[0].op() != Op::kMul)
      return std::nullopt;
    Product product{compute.body[0].operand(0), compute.body[0].operand(1)};
    if (product.data.op() != Op::kLoad || product.constant.op() != Op::kLoad)
      return std::nullopt;
    if (Source(product.data).kind == TensorKind::kConstant)
      std::swap(product.data, product.constant);
    if (Source(product.data).kind == TensorKind::kConstant ||
        Source(product.constant).kind != TensorKind::kConstant ||
        Source(product.data).dtype != DType::kFloat32 ||
        Source(product.constant).dtype != DType::kFloat32 ||
        !Fits(tensor, product))
      return std::nullopt;
    return product;
  }

  // Whether whole groups of terms lie side by side in the data, and the
  // constant has a dimension for them.
  bool Fits(const Tensor& tensor, const Product& product) const {
    const std::optional<ConvolutionRoles> roles =
        AsConvolution(old_, tensor.id);
    const bool image = roles && roles->data.source() == product.data.source();
    const int rank = static_cast<int>(product.data.operands().size());
    if (rank < 2) return false;
    const Expr& index =
        product.data.operand(image ? roles->data_channels : rank - 1);
    const int spatial = static_cast<int>(tensor.compute.axes.size());
    if (index.op() != Op::kVar || index.var_id() < spatial) return false;
    const int64_t terms =
        tensor.compute.reduce_axes[index.var_id() - spatial].extent.value();
    const auto& dims = product.constant.operands();
    return terms % (image ? kChannelBlock : group_) == 0 &&
           std::any_of(dims.begin(), dims.end(), [&](const Expr& e) {
             return e.op() == Op::kVar && e.var_id() == index.var_id();
           });
  }

  TensorId Rounded(const Tensor& tensor, const Product& product) {
    const auto load = [&](const Expr& e) {
      return Expr::Cast(DType::kFloat32,
                        Expr::Load(Narrow(Source(e)), kNarrow,
                                   {e.operands().begin(), e.operands().end()}));
    };
    Compute compute = tensor.compute;
    compute.body = {
        Expr::Make(Op::kMul, {load(product.data), load(product.constant)})};
    return new_.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                           tensor.hint);
  }

  // A tensor of the old graph in bf16.
  TensorId Narrow(const Tensor& tensor) {
    const auto known = narrow_.find(tensor.id);
    if (known != narrow_.end()) return known->second;
    const std::string name = tensor.name + ".bf16";
    TensorId id;
    if (tensor.kind == TensorKind::kConstant) {
      auto value = std::make_shared<HostTensor>(
          NewTensorOrThrow(kNarrow, tensor.static_shape(),
                           absl::StrCat("constant '", name, "'")));
      for (int64_t i = 0; i < value->num_elements(); ++i)
        value->Set(i, tensor.value->Get(i));
      id = new_.AddConstant(name, std::move(value));
    } else if (IsFrame(tensor)) {
      Compute compute = tensor.compute;
      compute.body = {NarrowBody(compute.body[0])};
      id = new_.AddCompute(name, kNarrow, std::move(compute), tensor.hint);
    } else {
      Compute compute;
      std::vector<Expr> index;
      for (size_t d = 0; d < tensor.shape.size(); ++d) {
        const std::string axis = "d" + std::to_string(d);
        compute.axes.push_back({axis, tensor.shape[d]});
        index.push_back(Expr::Var(static_cast<int>(d), axis));
      }
      compute.body = {
          Expr::Cast(kNarrow, new_.Load(ids_[tensor.id], std::move(index)))};
      id = new_.AddCompute(name, kNarrow, std::move(compute), "bf16");
    }
    narrow_[tensor.id] = id;
    return id;
  }

  // Whether the compute puts elements of another tensor among zeros, wherever
  // they lie: it is rounded as it is written.
  static bool IsFrame(const Tensor& tensor) {
    if (tensor.kind != TensorKind::kCompute || tensor.compute.combiner)
      return false;
    const Expr& body = tensor.compute.body[0];
    if (!IsFloat(body.dtype()) || body.op() != Op::kSelect ||
        body.operand(1).op() != Op::kLoad ||
        body.operand(2).op() != Op::kConst ||
        body.operand(2).float_value() != 0)
      return false;
    bool loads = false;
    Visit(body.operand(0),
          [&](const Expr& e) { loads |= e.op() == Op::kLoad; });
    return !loads;
  }

  // Loads, constants and selects between them.
  Expr NarrowBody(const Expr& e) {
    if (e.op() == Op::kLoad) {
      return Expr::Load(Narrow(Source(e)), kNarrow,
                        {e.operands().begin(), e.operands().end()});
    }
    if (e.op() == Op::kConst) return Expr::Float(e.float_value(), kNarrow);
    if (e.op() == Op::kSelect) {
      return Expr::Make(Op::kSelect, {e.operand(0), NarrowBody(e.operand(1)),
                                      NarrowBody(e.operand(2))});
    }
    return Expr::Cast(kNarrow, WithSources(e, ids_));
  }

  const TensorGraph& old_;
  const int group_;
  TensorGraph new_;
  std::vector<TensorId> ids_;
  std::map<TensorId, TensorId> narrow_;
};

}  // namespace

RewrittenGraph RoundContractionsToBf16(const TensorGraph& graph) {
  return Rounder(graph).Run();
}

}  // namespace tilewright
