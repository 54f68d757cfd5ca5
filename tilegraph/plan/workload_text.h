// The canonical text of a workload: what a kernel computes, without the values
// of constants. The graph's text form, constants as placeholders, then a line
// for each constant, each layout that is not plain, each placeholder with
// known zeros, each stage. sketch/trace/workload.h reads it back.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_WORKLOAD_TEXT_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_WORKLOAD_TEXT_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/text/tensor_text.h"

namespace tilewright {

// Lines after the graph; no line of the graph's text form begins like this.
inline constexpr std::string_view kConstantPrefix = "#constant ";
inline constexpr std::string_view kLayoutPrefix = "#layout ";
inline constexpr std::string_view kZerosPrefix = "#zeros ";
inline constexpr std::string_view kStagePrefix = "#stage ";

// Adds lines in the order in which it is called: that of the functions below.
class WorkloadText {
 public:
  // The tensors of the workload are tensors of `graph`, which must outlive it,
  // called `names` there (bare or not).
  WorkloadText(const TensorGraph& graph, TensorNames names)
      : graph_(graph), names_(std::move(names)) {}

  // Adds a tensor that the workload reads, whatever computes it, or one that it
  // computes.
  void AddLeaf(TensorId id);
  void AddCompute(TensorId id);
  void AddOutputs(absl::Span<const TensorId> outputs);
  // Which of the leaves are constants.
  void AddConstant(TensorId id);
  // Nothing where `layout` is RowMajor, or nothing is known of zeros.
  void AddLayout(TensorId id, const Layout& layout);
  void AddZeros(TensorId id, const KnownZeros& zeros);
  void AddStage(absl::Span<const TensorId> members);

  std::string Text() && { return std::move(text_); }

 private:
  std::string Quoted(TensorId id) const { return QuotedName(names_(id)); }

  const TensorGraph& graph_;
  const TensorNames names_;
  std::string text_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_WORKLOAD_TEXT_H_
