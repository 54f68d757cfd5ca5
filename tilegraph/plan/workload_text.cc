#include "tilegraph/plan/workload_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/string_view.h"

namespace tilewright {

void WorkloadText::AddLeaf(TensorId id) {
  const auto quoted = [this](TensorId one) { return Quoted(one); };
  absl::StrAppend(&text_, PrintTensorHead(graph_.tensor(id), quoted),
                  "placeholder\n");
}

void WorkloadText::AddCompute(TensorId id) {
  const auto quoted = [this](TensorId one) { return Quoted(one); };
  absl::StrAppend(&text_, PrintTensorHead(graph_.tensor(id), quoted),
                  PrintCompute(graph_.tensor(id), quoted), "\n");
}

void WorkloadText::AddOutputs(absl::Span<const TensorId> outputs) {
  text_ += PrintReturn(outputs, [this](TensorId id) { return Quoted(id); });
}

void WorkloadText::AddConstant(TensorId id) {
  absl::StrAppend(&text_, ToAbsl(kConstantPrefix), names_(id), "\n");
}

void WorkloadText::AddLayout(TensorId id, const Layout& layout) {
  if (layout == Layout::RowMajor(layout.shape())) return;
  absl::StrAppend(&text_, ToAbsl(kLayoutPrefix), names_(id), " ",
                  layout.ToString(), "\n");
}

void WorkloadText::AddZeros(TensorId id, const KnownZeros& zeros) {
  if (zeros.empty()) return;
  absl::StrAppend(&text_, ToAbsl(kZerosPrefix), names_(id), " ",
                  zeros.ToString(), "\n");
}

void WorkloadText::AddStage(absl::Span<const TensorId> members) {
  absl::StrAppend(&text_, ToAbsl(kStagePrefix),
                  absl::StrJoin(members, " ",
                                [this](std::string* out, TensorId id) {
                                  absl::StrAppend(out, names_(id));
                                }),
                  "\n");
}

}  // namespace tilewright
