#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "sketch/fused/inline_maps.h"
#include "sketch/fused/rolling_rows.h"
#include "sketch/replay/online_reduction.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::sketch {
namespace {

class PartBuilder {
 public:
  PartBuilder(const Workload& workload, const Workload& part,
              const RollingRows& rows)
      : whole_(workload.graph),
        workload_(workload),
        part_(part),
        rows_(rows),
        product_(workload.graph.tensor(rows.product).name),
        product_body_(InlineMaps(
            workload.graph, rows.product,
            std::set<TensorId>(rows.inlined.begin(), rows.inlined.end()))) {}

  Workload Build() {
    AddInputsOfProduct();
    for (const Tensor& tensor : part_.graph.tensors()) {
      if (tensor.kind != TensorKind::kCompute) {
        AddInputOfPart(tensor);
      } else if (tensor.name == product_) {
        AddProduct(tensor);
      } else {
        Compute compute = tensor.compute;
        for (Expr& body : compute.body) body = Renamed(part_.graph, body);
        out_.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                        tensor.hint);
      }
    }
    const TensorId output = part_.graph.outputs()[0];
    const TensorId renamed = *Find(part_.graph.tensor(output).name);
    out_.SetOutputs({renamed});
    result_.layouts.insert_or_assign(renamed, part_.layouts.at(output));
    return std::move(result_);
  }

 private:
  std::optional<TensorId> Find(const std::string& name) const {
    for (const Tensor& tensor : out_.tensors()) {
      if (tensor.name == name) return tensor.id;
    }
    return std::nullopt;
  }

  // Loads of `from` become loads of tensors of that name.
  Expr Renamed(const TensorGraph& from, const Expr& body) const {
    return Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return Expr();
      const std::optional<TensorId> source = Find(from.tensor(e.source()).name);
      TW_CHECK(source.has_value()) << from.tensor(e.source()).name;
      return Expr::Load(*source, e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  }

  TensorId AddInput(const Tensor& tensor) {
    return tensor.kind == TensorKind::kConstant
               ? out_.AddConstant(tensor.name, tensor.value)
               : out_.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
  }

  // The result of the rows is read as a whole. The product now reads the
  // arguments of the group that the rows read.
  void AddInputsOfProduct() {
    Visit(product_body_, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return;
      const Tensor& tensor = whole_.tensor(e.source());
      if (Find(tensor.name)) return;
      if (tensor.kind == TensorKind::kCompute) {
        out_.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
      } else if (!part_.graph.Find(tensor.name)) {
        result_.layouts.insert_or_assign(AddInput(tensor),
                                         workload_.LayoutOf(tensor.id));
      }
    });
  }

  void AddInputOfPart(const Tensor& tensor) {
    if (tensor.name == whole_.tensor(rows_.inlined.back()).name ||
        Find(tensor.name))
      return;
    const TensorId id = AddInput(tensor);
    const auto layout = part_.layouts.find(tensor.id);
    if (layout != part_.layouts.end())
      result_.layouts.insert_or_assign(id, layout->second);
    const auto zeros = part_.zeros.find(tensor.id);
    if (zeros != part_.zeros.end())
      result_.zeros.insert_or_assign(id, zeros->second);
  }

  // The product over the inlined rows; if the factor of a row does not depend
  // on the steps, it is multiplied with their sum.
  void AddProduct(const Tensor& tensor) {
    Compute compute = tensor.compute;
    compute.body = {Renamed(whole_, product_body_)};
    if (!rows_.factored) {
      out_.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                      tensor.hint);
      return;
    }
    std::vector<Expr> at;
    for (size_t i = 0; i < compute.axes.size(); ++i)
      at.push_back(Expr::Var(static_cast<int>(i), compute.axes[i].name));
    const DType dtype = compute.combiner->component_dtype(0);
    const FactoredSum factored =
        *FactorOut(compute.body[0], static_cast<int>(at.size()),
                   Expr::Load(static_cast<TensorId>(out_.size()), dtype, at));
    Compute whole;
    whole.axes = compute.axes;
    whole.body = {factored.whole};
    compute.body = {factored.steps};
    out_.AddCompute(absl::StrCat(tensor.name, ".sum"), dtype,
                    std::move(compute), tensor.hint);
    out_.AddCompute(tensor.name, tensor.dtype, std::move(whole));
  }

  const TensorGraph& whole_;
  const Workload& workload_;
  const Workload& part_;
  const RollingRows& rows_;
  const std::string& product_;
  const Expr product_body_;
  Workload result_;
  TensorGraph& out_ = result_.graph;
};

}  // namespace

Workload RollingPart(const Workload& workload, const Workload& part,
                     const RollingRows& rows) {
  return PartBuilder(workload, part, rows).Build();
}

}  // namespace tilewright::sketch
