#include "tilegraph/rewrite/converted_tensors.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/new_tensor.h"
#include "tilegraph/ir/graph_rewrite.h"

namespace tilewright {
namespace {

// Whether the compute puts elements of another tensor among zeros, wherever
// they lie: it is converted as it is written.
bool IsFrame(const Tensor& tensor) {
  if (tensor.kind != TensorKind::kCompute || tensor.compute.combiner)
    return false;
  const Expr& body = tensor.compute.body[0];
  if (!IsFloat(body.dtype()) || body.op() != Op::kSelect ||
      body.operand(1).op() != Op::kLoad || body.operand(2).op() != Op::kConst ||
      body.operand(2).float_value() != 0)
    return false;
  bool loads = false;
  Visit(body.operand(0), [&](const Expr& e) { loads |= e.op() == Op::kLoad; });
  return !loads;
}

}  // namespace

TensorId ConvertedTensors::Of(const Tensor& tensor) {
  const auto known = known_.find(tensor.id);
  if (known != known_.end()) return known->second;
  const std::string type(Name(dtype_));
  const std::string name = absl::StrCat(tensor.name, ".", type);
  TensorId id;
  if (tensor.kind == TensorKind::kConstant) {
    auto value = std::make_shared<HostTensor>(NewTensorOrThrow(
        dtype_, tensor.static_shape(), absl::StrCat("constant '", name, "'")));
    for (int64_t i = 0; i < value->num_elements(); ++i)
      value->Set(i, tensor.value->Get(i));
    id = graph_.AddConstant(name, std::move(value));
  } else if (IsFrame(tensor)) {
    Compute compute = tensor.compute;
    compute.body = {Converted(compute.body[0])};
    id = graph_.AddCompute(name, dtype_, std::move(compute), tensor.hint);
  } else {
    Compute compute;
    std::vector<Expr> index;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      const std::string axis = absl::StrCat("d", d);
      compute.axes.push_back({axis, tensor.shape[d]});
      index.push_back(Expr::Var(static_cast<int>(d), axis));
    }
    compute.body = {
        Expr::Cast(dtype_, graph_.Load(ids_[tensor.id], std::move(index)))};
    id = graph_.AddCompute(name, dtype_, std::move(compute), type);
  }
  known_[tensor.id] = id;
  return id;
}

// Loads, constants and selects between them.
Expr ConvertedTensors::Converted(const Expr& e) {
  if (e.op() == Op::kLoad) {
    return Expr::Load(Of(old_.tensor(e.source())), dtype_,
                      {e.operands().begin(), e.operands().end()});
  }
  if (e.op() == Op::kConst) return Expr::Float(e.float_value(), dtype_);
  if (e.op() == Op::kSelect) {
    return Expr::Make(Op::kSelect, {e.operand(0), Converted(e.operand(1)),
                                    Converted(e.operand(2))});
  }
  return Expr::Cast(dtype_, WithSources(e, ids_));
}

}  // namespace tilewright
