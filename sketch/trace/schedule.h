// A Schedule is a trace: instructions over one group, whose replay builds a
// block tree (design: ir.md, "Schedules and decisions"). Results and operands
// are handles (of blocks and loops), numbered in order of creation; nothing is
// addressed by position. Every other parameter is a literal, so that replay
// needs nothing but the workload.
//
// A generator (sketch/rules/generator.h) wrote the trace; which one, and its
// decisions, stand beside the instructions.
#ifndef TILEWRIGHT_SKETCH_TRACE_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_TRACE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sketch/trace/primitive.h"
#include "sketch/trace/schedule.pb.h"
#include "tilegraph/plan/tile_plan.h"

namespace tilewright::sketch {

using Handle = int;

// The factors of a split loop, outermost first. Their product may exceed the
// extent, by less than the product of the inner ones.
using Factors = std::vector<int64_t>;

struct Instruction {
  Primitive primitive;
  std::vector<Handle> operands;
  std::vector<Factors> factors;
  std::string text;
  std::vector<Handle> results;

  friend bool operator==(const Instruction& a, const Instruction& b) {
    return a.primitive == b.primitive && a.operands == b.operands &&
           a.factors == b.factors && a.text == b.text && a.results == b.results;
  }
};

// A decision as text (tilegraph/decision): "tile.rows", "14".
struct NamedDecision {
  std::string name;
  std::string value;
};

struct Schedule {
  std::string generator;  // that wrote it; empty if none did
  std::vector<NamedDecision> decisions;
  std::vector<Instruction> instructions;
  // The decisions on the workload's stages, of a fused group whose generator
  // wrote the schedule. Not part of the text.
  std::optional<TilePlan> tile_plan;

  // One line per decision, "tile.rows = 14", and instruction, "%3, %4 = split
  // %2 by [3, 16]". Equal text, equal schedule.
  std::string ToString() const;
  ScheduleProto ToProto() const;
  // InvalidArgument names what the proto holds that no schedule can; handles
  // and constraints are replay's to check.
  static absl::StatusOr<Schedule> FromProto(const ScheduleProto& proto);
  friend bool operator==(const Schedule& a, const Schedule& b) {
    return a.ToString() == b.ToString();
  }
};

// Writes a trace, instruction by instruction, and numbers the handles. Nothing
// is checked before replay.
class ScheduleWriter {
 public:
  Handle Block(std::string tensor);
  Handle Loop(Handle block, std::string axis);
  std::vector<Handle> GroupTile(std::vector<Handle> outputs,
                                std::vector<Factors> tiles);
  std::vector<Handle> Split(Handle loop, Factors factors);
  Handle Fuse(std::vector<Handle> loops);
  void Reorder(std::vector<Handle> loops);
  void Annotate(Handle loop, std::string kind);
  void ComputeAt(Handle block, Handle loop);
  void ReverseComputeAt(Handle block, Handle loop);
  void ComputeInline(Handle block);
  void ReverseComputeInline(Handle block);
  Handle CacheRead(Handle block, Handle loop, std::string tensor,
                   std::string level);
  Handle CacheWrite(Handle block, std::string level);
  void SetLayout(std::string tensor, std::string layout);
  void SetLevel(Handle block, std::string level);
  void Tensorize(Handle block, Handle loop, std::string intrinsic);
  Handle RFactor(Handle block, Handle loop);
  Handle FactorOut(Handle block);
  Handle RollingUpdate(Handle block, Handle loop, Factors blocks);
  void Rolling(Handle block, Handle loop);
  void Winograd(Handle block, int64_t m);
  void SkipZeros(Handle block, std::string tensor, std::vector<int> dims);
  void Bind(Handle loop, std::string kind);

  const Schedule& written() const { return schedule_; }
  Schedule Finish() && { return std::move(schedule_); }

 private:
  std::vector<Handle> Emit(Primitive primitive, std::vector<Handle> operands,
                           std::vector<Factors> factors, std::string text,
                           int results);
  Schedule schedule_;
  int next_handle_ = 0;
};

// InvalidArgument says what is wrong with them as factors of a loop.
absl::Status CheckFactors(const Factors& factors, int64_t extent);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_SCHEDULE_H_
