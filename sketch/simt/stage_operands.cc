#include "sketch/simt/stage_operands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/simt/copy_threads.h"
#include "sketch/simt/operand_order.h"
#include "sketch/simt/shared_rows.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kMostPadding = 32;  // elements behind a row in scratch
constexpr int64_t kAccessBytes = 16;  // the widest access of a thread

}  // namespace

void OperandStager::Stage(const StagedSums& sums, const std::string& operand) {
  std::string copy;
  trace_.Try([&](ScheduleWriter& w) {
    w.CacheRead(w.Block(sums.block), sums.step, operand, "scratch");
    if (!trace_.status().ok()) return;
    copy = AllBlocks(trace_.tree())[CopyAt(operand)]->name;
  });
  if (!copy.empty()) WriteCopy(sums, operand, copy);
}

void OperandStager::StageMap(const StagedSums& sums, const std::string& map) {
  if (!trace_.Try([&](ScheduleWriter& w) {
        w.ComputeAt(w.Block(map), sums.step);
        w.SetLevel(w.Block(map), "scratch");
      })) {
    ScheduleWriter& w = trace_.writer();
    w.ComputeInline(w.Block(map));
    return;
  }
  const Block& copy = *trace_.FindBlockNamed(map);
  WriteCopy(sums, trace_.tree().buffers[LoadedBuffers(copy)[0]].name, map);
}

// In the order and rows that are decided, written by all threads.
void OperandStager::WriteCopy(const StagedSums& sums,
                              const std::string& operand,
                              const std::string& copy) {
  const Block& reader = *trace_.FindBlockNamed(sums.block);
  const Block& writer = *trace_.FindBlockNamed(copy);
  const Buffer& held = trace_.tree().buffers[writer.dst[0]];
  const int64_t vector = kAccessBytes / SizeBytes(held.dtype);
  const bool along_rows = ReadsAlongRows(
      reader, sums.division, held,
      sums.terms.in_a_row % kLoadedTogether == 0 ? sums.terms.innermost : -1);
  const std::optional<Layout> by_thread =
      ThreadOrder(reader, sums.division, held);
  if (by_thread && DecideByThread(sums, operand, !along_rows)) {
    const int dim = by_thread->digits().back().dim;
    trace_.writer().SetLayout(held.name, by_thread->ToString());
    const bool last = dim + 1 == static_cast<int>(by_thread->shape().size());
    if (!last && DecideAlongCopy(sums, operand))
      return WriteMap(
          trace_.writer(), copy,
          DivideAlongCopy(trace_, copy, operand, dim, tile_.num_threads()));
  } else {
    const int row = RowDim(held);
    const int64_t elements = row < 0 ? 1 : held.layout.shape()[row];
    PadRows(trace_, copy,
            DecidePadding(sums, operand, along_rows ? vector : 1, elements));
    SwizzleRows(trace_, copy, tile_.swizzle);
  }
  WriteMap(trace_.writer(), copy,
           DivideAlongSource(trace_, copy, tile_.num_threads()));
}

bool OperandStager::DecideByThread(const StagedSums& sums,
                                   const std::string& operand, bool preferred) {
  return decider_.DecideNumber(
             absl::StrCat("block.order.", sums.compute, ".", operand),
             Space::OneOf({"rows", "threads"}),
             [&] { return preferred ? 1 : 0; }) == 1;
}

bool OperandStager::DecideAlongCopy(const StagedSums& sums,
                                    const std::string& operand) {
  return decider_.DecideNumber(
             absl::StrCat("block.copy.", sums.compute, ".", operand),
             Space::OneOf({"along_source", "along_copy"}),
             [] { return 1; }) == 1;
}

// Preferred is the least that was planned, or more, with which rows begin at
// multiples of `unit` elements.
int64_t OperandStager::DecidePadding(const StagedSums& sums,
                                     const std::string& operand, int64_t unit,
                                     int64_t row) {
  const TensorId tensor = TensorOf(operand);
  const int64_t padding = decider_.DecideNumber(
      absl::StrCat("block.pad.", sums.compute, ".", operand),
      Space::Integers(0, kMostPadding), [&] {
        int64_t planned = 0;
        if (planned_) {
          const auto found = planned_->row_padding.find(tensor);
          if (found != planned_->row_padding.end())
            planned = std::min(found->second, kMostPadding);
        }
        const int64_t whole = CeilDiv(row + planned, unit) * unit - row;
        return whole <= kMostPadding ? whole : planned;
      });
  if (padding > 0) tile_.row_padding[tensor] = padding;
  return padding;
}

// The last block that copies the operand.
size_t OperandStager::CopyAt(const std::string& operand) {
  const std::vector<const Block*> blocks = AllBlocks(trace_.tree());
  size_t found = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Buffer& dst = trace_.tree().buffers[blocks[i]->dst[0]];
    if (dst.name.rfind(absl::StrCat(operand, ".local"), 0) == 0) found = i;
  }
  return found;
}

// REQUIRES: a tensor's buffer in memory.
TensorId OperandStager::TensorOf(const std::string& operand) {
  for (const Buffer& buffer : trace_.tree().buffers)
    if (buffer.name == operand) return buffer.tensor;
  return -1;
}

}  // namespace tilewright::sketch
