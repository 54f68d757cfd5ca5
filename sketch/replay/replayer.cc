#include "sketch/replay/replayer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/dataflow.h"
#include "sketch/tree/initial_tree.h"
#include "sketch/tree/thread_loops.h"

namespace tilewright::sketch {
namespace {

// The numbers of operands and factors that an instruction takes (-1: any number
// but none, -2: any number), and what applies it.
struct Signature {
  int operands;
  int factors;
  absl::StatusOr<Results> (*apply)(Replayer&, const Arguments&);
};

Signature SignatureOf(Primitive primitive) {
  switch (primitive) {
    case Primitive::kBlock:
      return {0, 0, ApplyBlock};
    case Primitive::kLoop:
      return {1, 0, ApplyLoop};
    case Primitive::kGroupTile:
      return {-1, -2, ApplyGroupTile};
    case Primitive::kSplit:
      return {1, 1, ApplySplit};
    case Primitive::kFuse:
      return {-1, 0, ApplyFuse};
    case Primitive::kReorder:
      return {-1, 0, ApplyReorder};
    case Primitive::kAnnotate:
      return {1, 0, ApplyAnnotate};
    case Primitive::kComputeAt:
      return {2, 0, ApplyComputeAt};
    case Primitive::kReverseComputeAt:
      return {2, 0, ApplyReverseComputeAt};
    case Primitive::kComputeInline:
      return {1, 0, ApplyComputeInline};
    case Primitive::kReverseComputeInline:
      return {1, 0, ApplyReverseComputeInline};
    case Primitive::kCacheRead:
      return {2, 0, ApplyCacheRead};
    case Primitive::kCacheWrite:
      return {1, 0, ApplyCacheWrite};
    case Primitive::kSetLayout:
      return {0, 0, ApplySetLayout};
    case Primitive::kSetLevel:
      return {1, 0, ApplySetLevel};
    case Primitive::kTensorize:
      return {2, 0, ApplyTensorize};
    case Primitive::kRFactor:
      return {2, 0, ApplyRFactor};
    case Primitive::kFactorOut:
      return {1, 0, ApplyFactorOut};
    case Primitive::kRollingUpdate:
      return {2, 1, ApplyRollingUpdate};
    case Primitive::kRolling:
      return {2, 0, ApplyRolling};
    case Primitive::kWinograd:
      return {1, 1, ApplyWinograd};
    case Primitive::kSkipZeros:
      return {1, 0, ApplySkipZeros};
    case Primitive::kBind:
      return {1, 0, ApplyBind};
  }
  return {0, 0, nullptr};
}

absl::Status CheckCount(const char* what, int expected, size_t found) {
  if (expected == -2 || (expected == -1 && found > 0) ||
      expected == static_cast<int>(found))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "takes ",
      expected == -1 ? std::string("at least one") : absl::StrCat(expected),
      " ", what, ", has ", found));
}

// Nodes of the expression written out; more than `limit` are not counted.
int64_t CountNodes(const Expr& expr, int64_t limit) {
  int64_t count = 1;
  for (const Expr& operand : expr.operands()) {
    count += CountNodes(operand, limit - count);
    if (count > limit) break;
  }
  return count;
}

// Whether it leaves all index expressions as they are.
bool KeepsIndices(Primitive primitive) {
  return primitive == Primitive::kBlock || primitive == Primitive::kLoop ||
         primitive == Primitive::kAnnotate || primitive == Primitive::kBind ||
         primitive == Primitive::kSetLayout ||
         primitive == Primitive::kSetLevel;
}

// Fusing and splitting over and over doubles expressions each time: a trace
// must not be able to make the compiler run out of time.
absl::Status CheckSizes(BlockTree& tree) {
  constexpr int64_t kMaxNodes = 1000;
  std::string too_large;
  ForEachBlock(tree.roots, [&](Block& block) {
    for (const std::vector<Expr>* exprs :
         {&block.bindings, &block.predicates}) {
      for (const Expr& e : *exprs) {
        if (CountNodes(e, kMaxNodes) > kMaxNodes) too_large = block.name;
      }
    }
  });
  if (too_large.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the index expressions of ", too_large, " would become too large"));
}

}  // namespace

absl::StatusOr<Replayer> Replayer::Create(const Workload& workload) {
  TW_ASSIGN_OR_RETURN(BlockTree tree, InitialTree(workload));
  return Replayer(workload, std::move(tree));
}

Replayer Replayer::Clone() const {
  Replayer copy(*workload_, tree_.Clone());
  copy.handles_ = handles_;
  copy.is_initial_ = is_initial_;
  copy.form_ = form_;
  return copy;
}

absl::Status Replayer::Become(WinogradForm form) {
  form_ = std::make_shared<const WinogradForm>(std::move(form));
  workload_ = &form_->workload;
  TW_ASSIGN_OR_RETURN(tree_, InitialTreeOfRewritten(*workload_));
  return absl::OkStatus();
}

absl::StatusOr<std::string> Replayer::BlockName(Handle handle) const {
  if (handle < 0 || handle >= static_cast<int>(handles_.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("there is no handle %", handle));
  if (handles_[handle].kind != HandleValue::Kind::kBlock)
    return absl::InvalidArgumentError(
        absl::StrCat("%", handle, " is no block"));
  return handles_[handle].block;
}

absl::StatusOr<Path> Replayer::FindBlockOf(Handle handle) {
  TW_ASSIGN_OR_RETURN(std::string name, BlockName(handle));
  Path path = FindBlock(tree_, name);
  if (path.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("block %", handle, " (", name, ") is gone"));
  return path;
}

absl::StatusOr<Path> Replayer::FindLoopOf(Handle handle) {
  if (handle < 0 || handle >= static_cast<int>(handles_.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("there is no handle %", handle));
  if (handles_[handle].kind != HandleValue::Kind::kLoop)
    return absl::InvalidArgumentError(absl::StrCat("%", handle, " is no loop"));
  Path path = FindLoop(tree_, handles_[handle].var);
  if (path.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("loop %", handle, " is gone"));
  return path;
}

absl::Status Replayer::Apply(const Instruction& instruction) {
  const Signature signature = SignatureOf(instruction.primitive);
  if (signature.apply == nullptr)
    return absl::InvalidArgumentError("unknown primitive");
  TW_RETURN_IF_ERROR(
      CheckCount("operands", signature.operands, instruction.operands.size()));
  TW_RETURN_IF_ERROR(
      CheckCount("splits", signature.factors, instruction.factors.size()));
  const Arguments args{instruction.operands, instruction.factors,
                       instruction.text};
  TW_ASSIGN_OR_RETURN(Results results, signature.apply(*this, args));
  is_initial_ = is_initial_ && instruction.primitive == Primitive::kBlock;
  if (!KeepsIndices(instruction.primitive))
    TW_RETURN_IF_ERROR(CheckSizes(tree_));
  if (results.size() != instruction.results.size()) {
    return absl::InvalidArgumentError(absl::StrCat("has ", results.size(),
                                                   " results, the trace names ",
                                                   instruction.results.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (instruction.results[i] != static_cast<int>(handles_.size())) {
      return absl::InvalidArgumentError(absl::StrCat("the next handle is %",
                                                     handles_.size(), ", not %",
                                                     instruction.results[i]));
    }
    handles_.push_back(results[i]);
  }
  return absl::OkStatus();
}

absl::Status Replayer::Finish() {
  TW_RETURN_IF_ERROR(CheckTasks(tree_));
  TW_RETURN_IF_ERROR(CheckDataflow(tree_));
  TW_RETURN_IF_ERROR(CheckThreads(tree_));
  if (form_ == nullptr) return absl::OkStatus();
  for (Buffer& buffer : tree_.buffers) {
    if (buffer.tensor < 0) continue;
    if (buffer.tensor == form_->filters && buffer.level == MemLevel::kGlobal)
      buffer.winograd = form_->m;
    buffer.tensor = form_->originals[buffer.tensor];
  }
  return absl::OkStatus();
}

}  // namespace tilewright::sketch
