#include "tilegraph/rewrite/bf16_contractions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/rewrite/converted_tensors.h"

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
                        Expr::Load(narrow_.Of(Source(e)), kNarrow,
                                   {e.operands().begin(), e.operands().end()}));
    };
    Compute compute = tensor.compute;
    compute.body = {
        Expr::Make(Op::kMul, {load(product.data), load(product.constant)})};
    return new_.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                           tensor.hint);
  }

  const TensorGraph& old_;
  const int group_;
  TensorGraph new_;
  std::vector<TensorId> ids_;
  ConvertedTensors narrow_{old_, kNarrow, ids_, new_};
};

}  // namespace

RewrittenGraph RoundContractionsToBf16(const TensorGraph& graph) {
  return Rounder(graph).Run();
}

}  // namespace tilewright
