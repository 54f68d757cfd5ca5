#include "sketch/testing/growing_schedule.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

// Body evaluations of one run.
int64_t Work(BlockTree& tree) {
  int64_t work = 0;
  for (const Block* block : AllBlocks(tree)) {
    int64_t runs = 1;
    for (Loop* loop : LoopsAround(FindBlock(tree, block->name)))
      runs *= loop->extent;
    work += runs;
  }
  return work;
}

}  // namespace

GrowingSchedule::GrowingSchedule(Replayer replayer, int64_t work_floor,
                                 int64_t work_factor)
    : replayer_(std::move(replayer)),
      max_work_(work_floor + work_factor * Work(replayer_.tree())) {}

bool GrowingSchedule::Try(Primitive primitive, std::vector<Handle> operands,
                          std::vector<Factors> factors, std::string text,
                          size_t results, Must must) {
  Instruction instruction;
  instruction.primitive = primitive;
  instruction.operands = std::move(operands);
  instruction.text = std::move(text);
  instruction.factors = std::move(factors);
  for (size_t i = 0; i < results; ++i)
    instruction.results.push_back(
        static_cast<int>(replayer_.handles().size() + i));
  Replayer trial = replayer_.Clone();
  if (!trial.Apply(instruction).ok() || Work(trial.tree()) > max_work_ ||
      (must == Must::kFinish && !trial.Clone().Finish().ok()))
    return false;
  replayer_ = std::move(trial);
  last_results_ = instruction.results;
  schedule_.instructions.push_back(std::move(instruction));
  return true;
}

std::vector<std::string> GrowingSchedule::BlockNames() {
  std::vector<std::string> names;
  for (const Block* block : AllBlocks(tree())) names.push_back(block->name);
  return names;
}

std::vector<std::string> GrowingSchedule::ReadersOf(const std::string& name) {
  const Block block = *FindBlock(tree(), name).back().node().block;
  std::vector<std::string> readers;
  for (const std::string& reader : BlockNames()) {
    const std::vector<int> loaded =
        LoadedBuffers(*FindBlock(tree(), reader).back().node().block);
    if (std::any_of(loaded.begin(), loaded.end(),
                    [&](int buffer) { return WritesTo(block, buffer); }))
      readers.push_back(reader);
  }
  return readers;
}

std::optional<Handle> GrowingSchedule::HandleOf(const std::string& block) {
  const std::vector<HandleValue>& handles = replayer_.handles();
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles[i].kind == HandleValue::Kind::kBlock &&
        handles[i].block == block)
      return static_cast<int>(i);
  }
  if (!Try(Primitive::kBlock, {}, {}, block, 1)) return std::nullopt;
  return last_results_[0];
}

std::vector<Handle> GrowingSchedule::LoopsOf(const std::string& name) {
  Path path = FindBlock(tree(), name);
  if (path.empty()) return {};
  std::vector<std::string> axes;
  const Block& block = *path.back().node().block;
  for (const Axis& axis : block.axes) axes.push_back(axis.name);
  for (const Axis& axis : block.reduce_axes) axes.push_back(axis.name);
  std::vector<int> vars;
  for (Loop* loop : LoopsAround(path)) vars.push_back(loop->var);
  const bool complete = std::all_of(vars.begin(), vars.end(), [&](int var) {
    return LoopHandle(var).has_value();
  });
  std::optional<Handle> handle = HandleOf(name);
  for (size_t i = 0; handle && !complete && i < axes.size(); ++i)
    Try(Primitive::kLoop, {*handle}, {}, axes[i], 1);
  std::vector<Handle> loops;
  for (int var : vars) {
    std::optional<Handle> loop = LoopHandle(var);
    if (loop) loops.push_back(*loop);
  }
  return loops;
}

std::optional<Handle> GrowingSchedule::LoopHandle(int var) const {
  const std::vector<HandleValue>& handles = replayer_.handles();
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles[i].kind == HandleValue::Kind::kLoop && handles[i].var == var)
      return static_cast<int>(i);
  }
  return std::nullopt;
}

const Loop* GrowingSchedule::LoopOf(Handle handle) {
  Path path = FindLoop(tree(), replayer_.handles()[handle].var);
  return path.empty() ? nullptr : &*path.back().node().loop;
}

absl::StatusOr<Schedule> GrowingSchedule::Finish() && {
  TW_RETURN_IF_ERROR(replayer_.Finish());
  return std::move(schedule_);
}

}  // namespace tilewright::sketch
