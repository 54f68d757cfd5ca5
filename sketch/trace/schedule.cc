#include "sketch/trace/schedule.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::sketch {
namespace {

// a * b for positive factors, or a value larger than any extent.
int64_t MultiplyOrMax(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

}  // namespace

absl::Status CheckFactors(const Factors& factors, int64_t extent) {
  if (factors.empty())
    return absl::InvalidArgumentError("a split has at least one factor");
  int64_t product = 1, inner = 1;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("factor ", factors[i], " is below 1"));
    }
    product = MultiplyOrMax(product, factors[i]);
    if (i > 0) inner = MultiplyOrMax(inner, factors[i]);
  }
  if (product < extent) {
    return absl::InvalidArgumentError(
        absl::StrCat("the factors cover ", product, " of ", extent));
  }
  if (product - extent >= inner) {
    return absl::InvalidArgumentError(
        absl::StrCat("the outermost factor ", factors[0],
                     " has an empty iteration: the loop has ", extent));
  }
  return absl::OkStatus();
}

std::vector<Handle> ScheduleWriter::Emit(Primitive primitive,
                                         std::vector<Handle> operands,
                                         std::vector<Factors> factors,
                                         std::string text, int results) {
  Instruction instruction;
  instruction.primitive = primitive;
  instruction.operands = std::move(operands);
  instruction.factors = std::move(factors);
  instruction.text = std::move(text);
  for (int i = 0; i < results; ++i)
    instruction.results.push_back(next_handle_++);
  schedule_.instructions.push_back(instruction);
  return instruction.results;
}

Handle ScheduleWriter::Block(std::string tensor) {
  return Emit(Primitive::kBlock, {}, {}, std::move(tensor), 1)[0];
}
Handle ScheduleWriter::Loop(Handle block, std::string axis) {
  return Emit(Primitive::kLoop, {block}, {}, std::move(axis), 1)[0];
}
std::vector<Handle> ScheduleWriter::GroupTile(std::vector<Handle> outputs,
                                              std::vector<Factors> tiles) {
  const int results = static_cast<int>(tiles.size());
  return Emit(Primitive::kGroupTile, std::move(outputs), std::move(tiles), "",
              results);
}
std::vector<Handle> ScheduleWriter::Split(Handle loop, Factors factors) {
  const int results = static_cast<int>(factors.size());
  return Emit(Primitive::kSplit, {loop}, {std::move(factors)}, "", results);
}
Handle ScheduleWriter::Fuse(std::vector<Handle> loops) {
  return Emit(Primitive::kFuse, std::move(loops), {}, "", 1)[0];
}
void ScheduleWriter::Reorder(std::vector<Handle> loops) {
  Emit(Primitive::kReorder, std::move(loops), {}, "", 0);
}
void ScheduleWriter::Annotate(Handle loop, std::string kind) {
  Emit(Primitive::kAnnotate, {loop}, {}, std::move(kind), 0);
}
void ScheduleWriter::ComputeAt(Handle block, Handle loop) {
  Emit(Primitive::kComputeAt, {block, loop}, {}, "", 0);
}
void ScheduleWriter::ReverseComputeAt(Handle block, Handle loop) {
  Emit(Primitive::kReverseComputeAt, {block, loop}, {}, "", 0);
}
void ScheduleWriter::ComputeInline(Handle block) {
  Emit(Primitive::kComputeInline, {block}, {}, "", 0);
}
void ScheduleWriter::ReverseComputeInline(Handle block) {
  Emit(Primitive::kReverseComputeInline, {block}, {}, "", 0);
}
Handle ScheduleWriter::CacheRead(Handle block, Handle loop, std::string tensor,
                                 std::string level) {
  return Emit(Primitive::kCacheRead, {block, loop}, {},
              absl::StrCat(tensor, " ", level), 1)[0];
}
Handle ScheduleWriter::CacheWrite(Handle block, std::string level) {
  return Emit(Primitive::kCacheWrite, {block}, {}, std::move(level), 1)[0];
}
void ScheduleWriter::SetLayout(std::string tensor, std::string layout) {
  Emit(Primitive::kSetLayout, {}, {}, absl::StrCat(tensor, " ", layout), 0);
}
void ScheduleWriter::SetLevel(Handle block, std::string level) {
  Emit(Primitive::kSetLevel, {block}, {}, std::move(level), 0);
}
void ScheduleWriter::Tensorize(Handle block, Handle loop,
                               std::string intrinsic) {
  Emit(Primitive::kTensorize, {block, loop}, {}, std::move(intrinsic), 0);
}
Handle ScheduleWriter::RFactor(Handle block, Handle loop) {
  return Emit(Primitive::kRFactor, {block, loop}, {}, "", 1)[0];
}
Handle ScheduleWriter::FactorOut(Handle block) {
  return Emit(Primitive::kFactorOut, {block}, {}, "", 1)[0];
}
Handle ScheduleWriter::RollingUpdate(Handle block, Handle loop,
                                     Factors blocks) {
  return Emit(Primitive::kRollingUpdate, {block, loop}, {std::move(blocks)}, "",
              1)[0];
}
void ScheduleWriter::Rolling(Handle block, Handle loop) {
  Emit(Primitive::kRolling, {block, loop}, {}, "", 0);
}
void ScheduleWriter::Winograd(Handle block, int64_t m) {
  Emit(Primitive::kWinograd, {block}, {{m}}, "", 0);
}
void ScheduleWriter::SkipZeros(Handle block, std::string tensor,
                               std::vector<int> dims) {
  Emit(Primitive::kSkipZeros, {block}, {},
       absl::StrCat(tensor, " ", absl::StrJoin(dims, ",")), 0);
}
void ScheduleWriter::Bind(Handle loop, std::string kind) {
  Emit(Primitive::kBind, {loop}, {}, std::move(kind), 0);
}

}  // namespace tilewright::sketch
