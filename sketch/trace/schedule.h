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
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sketch/trace/schedule.pb.h"
#include "tilegraph/plan/tile_plan.h"

namespace tilewright::sketch {

using Handle = int;

// The factors of a split loop, outermost first. Their product may exceed the
// extent, by less than the product of the inner ones.
using Factors = std::vector<int64_t>;

enum class Primitive : uint8_t {
  // text: tensor name -> block
  kBlock,
  // block; text: axis name -> the innermost loop over that axis
  kLoop,
  // output blocks (of one shape); per axis, factors [tasks, elements of a task]
  // -> one task loop per axis
  kGroupTile,
  // loop; its factors -> the parts, outermost first
  kSplit,
  // neighbouring loops, outermost first, all or none reducing -> loop
  kFuse,
  // loops of one nest, in their new order
  kReorder,
  // loop; text: "serial", "unroll", "tile"; or what lowering would decide
  // itself: "unroll=4" (copies in a row), "prefetch=2" (steps ahead of the
  // update or map in memory inside, 0: none); or block of an output;
  // "stream=yes", "stream=no"
  kAnnotate,
  // block, loop: computed there, as much as its consumers below the loop need;
  // consumers before producers
  kComputeAt,
  // block, loop of its producer: consumed there
  kReverseComputeAt,
  // block: its body goes into its consumers
  kComputeInline,
  // block: an elementwise consumer goes into its producer (of a reduction: into
  // the copy that cache_write made)
  kReverseComputeInline,
  // block, loop; text: "tensor level" -> block of the copy
  kCacheRead,
  // block; text: level -> block of the copy out
  kCacheWrite,
  // text: "tensor layout", for constants and local buffers, or "tensor order
  // 0,2,1": dimensions, outermost first; copies are named A.local, accumulators
  // T.acc
  kSetLayout,
  // block; text: "registers" or "scratch": where its local result lives
  kSetLevel,
  // block, loop; text: intrinsic: the loops from there inwards become the tile
  // of that intrinsic
  kTensorize,
  // reduction, one of its reduce loops -> block of the partial results, T.rf:
  // one per step of that loop, which is its last spatial axis, named as the
  // loop is; the reduce loops it was split with become reduce axes. The
  // reduction itself then stands right after its outermost reduce loop, in
  // loops over what ran inside that, and reduces the partial results over an
  // axis of that name
  kRFactor,
  // sum -> block of the sums, T.sum, without the factors that are the same in
  // all steps: the tensor's own block becomes a map that multiplies by those
  kFactorOut,
  // reduction, serial loop that reduces another one block by block; factors
  // [blocks, steps of a block] of its first axis -> block of a block's
  // result, T.rf. It is reduced in that loop before what reads it
  // there; sums of the loop that read it are rescaled when it changes
  // (online_reduction.h). Readers first; what it reads is placed later
  kRollingUpdate,
  // block, serial loop that it was computed at: an iteration computes what the
  // one before has not, and the block's buffers keep the rest (one axis moves
  // with the loop, by less than the region's extent)
  kRolling,
  // block of a convolution marked for it; factors [m], before all but `block`:
  // the tree begins anew with the convolution as F(m, 3), in blocks T.input,
  // T.products and T (tilegraph/rewrite/winograd.h)
  kWinograd,
  // sum; text: "tensor 2,3": steps that multiply by what is known to be a zero
  // of the tensor, by its index along these dimensions, combine nothing
  kSkipZeros,
  // loop; text: "thread", "warp" or "lane": the threads of a block share its
  // iterations (tree/thread_loops.h); "vthread": each thread runs all of them,
  // side by side
  kBind,
};

// "group_tile", "compute_at", ...: the names of the text form and of the
// protos.
std::string_view Name(Primitive primitive);

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
