#include "sketch/schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright::sketch {
namespace {

absl::Status Broken(const Decision& decision, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("decision '", decision.name, "': ", what));
}

// a * b for positive factors, or a value larger than any extent.
int64_t MultiplyOrMax(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

absl::Status CheckSplit(const Decision& d) {
  if (d.extent < 1)
    return Broken(d, absl::StrCat("extent ", d.extent, " is below 1"));
  if (static_cast<int>(d.value.size()) != d.parts) {
    return Broken(d, absl::StrCat("has ", d.value.size(), " factors for ",
                                  d.parts, " parts"));
  }
  int64_t product = 1, inner = 1;
  for (size_t i = 0; i < d.value.size(); ++i) {
    if (d.value[i] < 1)
      return Broken(d, absl::StrCat("factor ", d.value[i], " is below 1"));
    product = MultiplyOrMax(product, d.value[i]);
    if (i > 0) inner = MultiplyOrMax(inner, d.value[i]);
  }
  if (product < d.extent)
    return Broken(
        d, absl::StrCat("the factors cover ", product, " of ", d.extent));
  if (!d.tails && product != d.extent)
    return Broken(d, absl::StrCat("the factors cover ", product, ", not ",
                                  d.extent, ", without tails"));
  if (product - d.extent >= inner)
    return Broken(d, absl::StrCat("the outermost factor ", d.value[0],
                                  " has an empty iteration"));
  if (d.innermost_cap > 0 && d.value.back() > d.innermost_cap) {
    return Broken(d, absl::StrCat("innermost factor ", d.value.back(),
                                  " exceeds ", d.innermost_cap));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Decision::Check() const {
  switch (kind) {
    case Kind::kSplit:
      if (parts < 1) return Broken(*this, "a split has at least one part");
      return open ? absl::OkStatus() : CheckSplit(*this);
    case Kind::kChoice:
      if (open) return absl::OkStatus();
      if (value.size() != 1 || value[0] < 0 ||
          value[0] >= static_cast<int64_t>(options.size())) {
        return Broken(*this, absl::StrCat("must name one of its ",
                                          options.size(), " options"));
      }
      return absl::OkStatus();
    case Kind::kPermutation: {
      if (open) return absl::OkStatus();
      std::vector<int64_t> sorted = value;
      std::sort(sorted.begin(), sorted.end());
      bool complete = static_cast<int>(sorted.size()) == parts;
      for (size_t i = 0; complete && i < sorted.size(); ++i)
        complete = sorted[i] == static_cast<int64_t>(i);
      return complete
                 ? absl::OkStatus()
                 : Broken(*this, absl::StrCat("is no order of 0..", parts - 1));
    }
    case Kind::kLocation:
      if (open) return absl::OkStatus();
      if (value.size() != 1 || value[0] < -2)
        return Broken(*this,
                      "must be one loop handle, -1 (root) or -2 (inline)");
      return absl::OkStatus();
  }
  return Broken(*this, "has an unknown kind");
}

Decision SplitDecision(std::string name, int64_t extent,
                       std::vector<int64_t> factors, bool tails) {
  Decision decision;
  decision.name = std::move(name);
  decision.kind = Decision::Kind::kSplit;
  decision.extent = extent;
  decision.parts = static_cast<int>(factors.size());
  decision.tails = tails;
  decision.value = std::move(factors);
  return decision;
}

std::vector<Handle> ScheduleWriter::Emit(Primitive primitive,
                                         std::vector<Handle> operands,
                                         const std::vector<Decision>& decisions,
                                         std::string text, int results) {
  Instruction instruction;
  instruction.primitive = primitive;
  instruction.operands = std::move(operands);
  for (const Decision& decision : decisions) {
    instruction.decisions.push_back(
        static_cast<int>(schedule_.decisions.size()));
    schedule_.decisions.push_back(decision);
    schedule_.decisions.back().name = absl::StrCat(prefix_, decision.name);
  }
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
std::vector<Handle> ScheduleWriter::GroupTile(
    std::vector<Handle> outputs, const std::vector<Decision>& tiles) {
  return Emit(Primitive::kGroupTile, std::move(outputs), tiles, "",
              static_cast<int>(tiles.size()));
}
std::vector<Handle> ScheduleWriter::Split(Handle loop, Decision split) {
  return Emit(Primitive::kSplit, {loop}, {split}, "", split.parts);
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
                                     Decision split) {
  return Emit(Primitive::kRollingUpdate, {block, loop}, {std::move(split)}, "",
              1)[0];
}
void ScheduleWriter::Rolling(Handle block, Handle loop) {
  Emit(Primitive::kRolling, {block, loop}, {}, "", 0);
}

}  // namespace tilewright::sketch
