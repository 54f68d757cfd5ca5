#include "frontends/onnx/ops/op_table.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {

OpTable::OpTable() {
  for (const absl::Span<const OpDef> family :
       {ElementwiseOps(),    TrigonometricOps(), ActivationOps(),
        MatMulOps(),         ConvOps(),          PoolOps(),
        MaxUnpoolOps(),      ReduceOps(),        CumSumOps(),
        NormOps(),           SoftmaxOps(),       ShapeOps(),
        IndexingOps(),       SlicingOps(),       GatherOps(),
        ScatterOps(),        ConvTransposeOps(), ResizeOps(),
        QuantizeOps(),       IntegerOps(),       EinsumOps(),
        DeterminantOps(),    LossOps(),          BitwiseOps(),
        RotaryOps(),         AttentionOps(),     GridSampleOps(),
        AffineGridOps(),     RoiAlignOps(),      SelectionOps(),
        WindowFunctionOps(), MelOps(),           DftOps(),
        StftOps(),           RecurrentOps(),     ReverseSequenceOps(),
        Col2ImOps(),         DeformConvOps(),    TensorScatterOps()}) {
    for (const OpDef& row : family) rows_[row.name].push_back(row);
  }
  for (auto& [name, rows] : rows_) {
    std::sort(rows.begin(), rows.end(),
              [](const OpDef& a, const OpDef& b) { return a.since < b.since; });
  }
}

const OpDef* OpTable::Find(absl::string_view domain, absl::string_view op,
                           int64_t opset) const {
  if (!domain.empty()) return nullptr;
  const auto at = rows_.find(op);
  if (at == rows_.end()) return nullptr;
  const OpDef* found = nullptr;
  for (const OpDef& row : at->second) {
    if (row.since <= opset) found = &row;
  }
  return found;
}

std::vector<std::string> OpTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, rows] : rows_) names.push_back(name);
  return names;
}

absl::Status OpTable::CheckSupported(const OnnxGraph& graph) const {
  std::vector<std::string> complaints;
  const int64_t version = graph.opset();
  const bool known = version >= kMinOpset && version <= kMaxOpset;
  std::set<std::string> operators;
  std::set<std::string> domains;
  bool needs_opset = false;
  for (const OnnxNode& node : graph.nodes) {
    if (!node.domain.empty()) {
      operators.insert(absl::StrCat(node.domain, ".", node.op));
      domains.insert(node.domain);
      continue;
    }
    needs_opset = true;
    // What its graphs need shows when they are run (frontends/onnx/nodes).
    if (node.IsControlFlow() || node.IsOfSequences()) continue;
    // Without a known opset, ask whether the operator exists at all.
    if (Find("", node.op, known ? version : kMaxOpset) == nullptr) {
      operators.insert(node.op);
    }
  }
  if (needs_opset && graph.opsets.count("") == 0) {
    complaints.push_back("no opset of domain ai.onnx is imported");
  } else if (needs_opset && !known) {
    complaints.push_back(absl::StrCat("opset ", version,
                                      " of ai.onnx (supported are ", kMinOpset,
                                      " to ", kMaxOpset, ")"));
  }
  if (!operators.empty()) {
    complaints.push_back(
        absl::StrCat("operators ", absl::StrJoin(operators, ", ")));
  }
  if (!domains.empty()) {
    complaints.push_back(
        absl::StrCat("domains ", absl::StrJoin(domains, ", ")));
  }
  if (complaints.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "the model uses what is not supported: ", absl::StrJoin(complaints, "; "),
      "; export it with supported operators"));
}

}  // namespace tilewright
