#include "tilegraph/text/tensor_text.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/string_view.h"
#include "tilegraph/text/text_lexer.h"

namespace tilewright {
namespace {

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
  for (std::string& name : names) name = QuotedName(name);
  return names;
}

std::string PrintAxes(const std::vector<Axis>& axes, const std::string* names) {
  std::string text = "(";
  for (size_t i = 0; i < axes.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i], ": ",
                    axes[i].extent.ToString());
  }
  return text + ")";
}

}  // namespace

std::string QuotedName(const std::string& name) {
  return IsBareName(name) ? name : QuoteName(name);
}

std::string PrintTensorHead(const Tensor& tensor, const TensorNames& names) {
  return absl::StrCat(names(tensor.id), ": ", ToAbsl(Name(tensor.dtype)), "[",
                      absl::StrJoin(tensor.shape, ", ",
                                    [](std::string* out, const Dim& dim) {
                                      absl::StrAppend(out, dim.ToString());
                                    }),
                      "] = ");
}

std::string PrintCompute(const Tensor& tensor, const TensorNames& names) {
  const Compute& compute = tensor.compute;
  const std::vector<std::string> axes = AxisNames(compute);
  std::string text =
      absl::StrCat("compute ", PrintAxes(compute.axes, axes.data()));
  if (compute.combiner.has_value()) {
    absl::StrAppend(
        &text, " reduce ",
        PrintAxes(compute.reduce_axes, axes.data() + compute.axes.size()), " ",
        compute.combiner->ToString());
  }
  absl::StrAppend(&text, " {");
  for (size_t i = 0; i < compute.body.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? " " : ", ",
                    PrintExpr(compute.body[i], names, [&](const Expr& var) {
                      return axes[var.var_id()];
                    }));
  }
  absl::StrAppend(&text, " }");
  if (compute.result != 0) absl::StrAppend(&text, " result ", compute.result);
  if (!tensor.hint.word().empty())
    absl::StrAppend(&text, " hint ", QuotedName(tensor.hint.word()));
  return text;
}

std::string PrintReturn(absl::Span<const TensorId> outputs,
                        const TensorNames& names) {
  if (outputs.empty()) return "";
  return absl::StrCat("return ",
                      absl::StrJoin(outputs, ", ",
                                    [&](std::string* out, TensorId id) {
                                      absl::StrAppend(out, names(id));
                                    }),
                      "\n");
}

}  // namespace tilewright
