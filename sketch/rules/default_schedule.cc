#include "sketch/rules/default_schedule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/rules/contraction_schedule.h"
#include "sketch/rules/map_schedule.h"
#include "sketch/rules/move_schedule.h"
#include "sketch/rules/plain_schedule.h"
#include "sketch/rules/row_schedule.h"
#include "sketch/rules/shared/annotations.h"
#include "sketch/rules/shared/constant_order.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/window_schedule.h"
#include "sketch/rules/winograd_schedule.h"

namespace tilewright::sketch {
namespace {

// The family that the generators of a chain take it for, or the nearest one.
ComputeFamily FamilyOfReduction(const TensorGraph& graph, TensorId reduction,
                                bool window) {
  const ComputeFamily family = FamilyOf(graph, reduction);
  if (window)
    return family == ComputeFamily::kDepthwise ? family
                                               : ComputeFamily::kPooling;
  return family == ComputeFamily::kConvolution ? family
                                               : ComputeFamily::kContraction;
}

WrittenStage WriteChain(const Workload& workload, const DeviceSpec& spec,
                        const Chain& chain, const ComputeLocation& location) {
  if (!chain.reduction) {
    // A ring is written row by row, in no tiles that cross.
    const std::vector<Crossing> crossings =
        location.bounds.AnyRolls() ? std::vector<Crossing>()
                                   : FindCrossings(workload, chain);
    if (crossings.empty()) {
      WriteMap(workload, spec, chain, location);
      return {ComputeFamily::kElementwise};
    }
    WriteMove(workload, spec, chain, crossings, location);
    return {ComputeFamily::kMove};
  }
  const bool window = IsWindow(workload, chain);
  WrittenStage written = {
      FamilyOfReduction(workload.graph, *chain.reduction, window)};
  if (window) {
    WriteWindow(workload, spec, chain, location);
  } else {
    written.blocks = WriteContraction(workload, spec, chain, location);
  }
  return written;
}

absl::StatusOr<Schedule> WriteFamily(const Workload& workload,
                                     const DeviceSpec& spec, Decider& decider) {
  ScheduleWriter writer;
  DecideStreaming(decider, writer, workload.graph, workload.graph.outputs(),
                  spec);
  LayConstantsAsResults(workload, writer);
  const ComputeLocation kernel = {writer, decider, std::nullopt, {}};
  if (WriteRows(workload, spec, kernel)) return std::move(writer).Finish();
  TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(workload.graph));
  WriteChain(workload, spec, chain, kernel);
  return std::move(writer).Finish();
}

absl::StatusOr<Schedule> WriteConvolution(const Workload& workload,
                                          const DeviceSpec& spec,
                                          Decider& decider) {
  return DecideWinograd(decider) ? WinogradSchedule(workload, spec, decider)
                                 : WriteFamily(workload, spec, decider);
}

std::string Family(const Workload& workload) {
  if (IsRowGroup(workload)) return "row reduction";
  const absl::StatusOr<Chain> chain = FindChain(workload.graph);
  if (!chain.ok()) return "no family";
  if (!chain->reduction)
    return FindCrossings(workload, *chain).empty() ? "elementwise"
                                                   : "transpose or gather";
  return IsWindow(workload, *chain) ? "sliding window" : "contraction";
}

}  // namespace

std::vector<Generator> Generators(const Workload& workload) {
  std::vector<Generator> generators = {
      {Family(workload), WriteFamily},
      {"tasks", [](const Workload& group, const DeviceSpec& spec,
                   Decider&) { return TasksSchedule(group, spec); }},
      {"plain", [](const Workload&, const DeviceSpec&, Decider&) {
         return PlainSchedule();
       }}};
  if (OffersWinograd(workload))
    generators.insert(generators.begin(), {"winograd", WriteConvolution});
  return generators;
}

absl::StatusOr<Schedule> DefaultSchedule(const Workload& workload,
                                         const DeviceSpec& spec) {
  return GeneratePreferred(Generators(workload).front(), workload, spec);
}

absl::StatusOr<WrittenStage> WriteStage(const Workload& workload,
                                        const DeviceSpec& spec,
                                        const ComputeLocation& location) {
  if (!location.blocks && WriteRows(workload, spec, location))
    return WrittenStage{ComputeFamily::kRowReduction};
  TW_ASSIGN_OR_RETURN(const Chain chain, FindChain(workload.graph));
  if (location.blocks && (!chain.reduction || IsWindow(workload, chain))) {
    return absl::InvalidArgumentError(absl::StrCat(
        chain.last, ": only contractions take their steps in blocks"));
  }
  return WriteChain(workload, spec, chain, location);
}

}  // namespace tilewright::sketch
