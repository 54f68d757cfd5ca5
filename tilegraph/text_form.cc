#include "tilegraph/text_form.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "tilegraph/text_lexer.h"

namespace tilewright {
namespace {

std::string PrintName(const std::string& name) {
  return IsBareName(name) ? name : QuoteName(name);
}

std::string PrintElement(const HostTensor& tensor, int64_t index) {
  const Scalar value = tensor.Get(index);
  if (IsFloat(tensor.dtype())) return PrintFloat(value.f, tensor.dtype());
  if (tensor.dtype() == DType::kBool) return value.i != 0 ? "true" : "false";
  if (tensor.dtype() == DType::kUInt64)
    return absl::StrCat(static_cast<uint64_t>(value.i));
  return absl::StrCat(value.i);
}

std::string PrintConstant(const HostTensor& value, int64_t inline_elements) {
  if (value.num_elements() > inline_elements)
    return absl::StrCat("constant fingerprint ",
                        QuoteName(ConstantFingerprint(value)));
  std::string text = "constant {";
  for (int64_t i = 0; i < value.num_elements(); ++i)
    absl::StrAppend(&text, i == 0 ? " " : ", ", PrintElement(value, i));
  return text + " }";
}

// The names the text gives to the axes: their own, made distinct.
std::vector<std::string> AxisNames(const Compute& compute) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const auto* axes : {&compute.axes, &compute.reduce_axes}) {
    for (const Axis& axis : *axes) {
      std::string name = axis.name.empty() ? "i" : axis.name;
      for (int suffix = 1; !taken.insert(name).second; ++suffix)
        name = absl::StrCat(axis.name.empty() ? "i" : axis.name, "_", suffix);
      names.push_back(std::move(name));
    }
  }
  return names;
}

std::string PrintAxes(const std::vector<Axis>& axes, const std::string* names) {
  std::string text = "(";
  for (size_t i = 0; i < axes.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", PrintName(names[i]), ": ",
                    axes[i].extent.ToString());
  }
  return text + ")";
}

std::string PrintCompute(const TensorGraph& graph, const Tensor& tensor) {
  const Compute& compute = tensor.compute;
  const std::vector<std::string> names = AxisNames(compute);
  std::string text =
      absl::StrCat("compute ", PrintAxes(compute.axes, names.data()));
  if (compute.combiner.has_value()) {
    absl::StrAppend(
        &text, " reduce ",
        PrintAxes(compute.reduce_axes, names.data() + compute.axes.size()), " ",
        compute.combiner->ToString());
  }
  absl::StrAppend(&text, " {");
  for (size_t i = 0; i < compute.body.size(); ++i) {
    const auto source_name = [&](int id) {
      return PrintName(graph.tensor(id).name);
    };
    const auto var_name = [&](const Expr& var) {
      return PrintName(names[var.var_id()]);
    };
    absl::StrAppend(&text, i == 0 ? " " : ", ",
                    PrintExpr(compute.body[i], source_name, var_name));
  }
  absl::StrAppend(&text, " }");
  if (compute.result != 0) absl::StrAppend(&text, " result ", compute.result);
  if (!tensor.hint.empty())
    absl::StrAppend(&text, " hint ", PrintName(tensor.hint));
  return text;
}

}  // namespace

std::string ConstantFingerprint(const HostTensor& value) {
  Fingerprinter fingerprint;
  fingerprint.AddInt(static_cast<uint64_t>(value.dtype()))
      .AddInt(value.shape().size());
  for (const int64_t extent : value.shape())
    fingerprint.AddInt(static_cast<uint64_t>(extent));
  fingerprint.Add({value.data(), static_cast<size_t>(value.size_bytes())});
  return fingerprint.Finish().ToString();
}

std::string PrintText(const TensorGraph& graph, int64_t inline_elements) {
  std::string text;
  for (const Tensor& tensor : graph.tensors()) {
    std::vector<std::string> shape;
    for (const Dim& dim : tensor.shape) shape.push_back(dim.ToString());
    absl::StrAppend(&text, PrintName(tensor.name), ": ",
                    std::string(Name(tensor.dtype)), "[",
                    absl::StrJoin(shape, ", "), "] = ");
    switch (tensor.kind) {
      case TensorKind::kPlaceholder:
        absl::StrAppend(&text, "placeholder");
        break;
      case TensorKind::kConstant:
        absl::StrAppend(&text, PrintConstant(*tensor.value, inline_elements));
        break;
      case TensorKind::kCompute:
        absl::StrAppend(&text, PrintCompute(graph, tensor));
        break;
    }
    absl::StrAppend(&text, "\n");
  }
  if (graph.outputs().empty()) return text;
  absl::StrAppend(&text, "return ");
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ",
                    PrintName(graph.tensor(graph.outputs()[i]).name));
  }
  return text + "\n";
}

}  // namespace tilewright
