// A kernel's text as a list of steps: what each reads and sets of the lanes of
// its registers, where constants become registers, how late a load may be.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LANE_STEPS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LANE_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/kernel_ir/analysis/lane_names.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

struct LaneStep {
  enum Kind { kInst, kBarrier, kLoop, kLoopEnd, kIf, kElse, kEndIf };
  Kind kind = kInst;
  int loop = -1;  // that begins or ends
  bool stores_shared = false;
  size_t reads_end = 0, sets_end = 0;  // of its own: LaneSteps::reads()
};

struct LaneLoop {
  int begin = 0;  // a step
  int64_t trips = 1, unroll = 1;
  int64_t instructions = 0;  // of its body, loops in it left out
  bool innermost = true, barriers = false, stores_shared = false;
  std::vector<int> carried;  // lanes that are read before they are set

  // That are unrolled together: as told, or as NVRTC 13.0 chooses.
  int64_t UnrolledTurns() const;
};

// Not into variables, and not from a thread's own memory.
struct LaneLoad {
  int first = 0, lanes = 0;
  int64_t words = 0;
  bool shared = false;
  Reg offset = kNoReg;
  // Before which it may be as late: where it is first read, if no barrier,
  // loop, branch or, of shared memory, store to it lies between.
  int step = 0;
  bool read = false;
  int region = 0, shared_region = 0;  // where it was found
};

// A variable that was a constant is a register from a step on.
struct LaneStart {
  int step, lane;
};

// `kernel` must outlive it.
class LaneSteps {
 public:
  explicit LaneSteps(const ScalarKernel& kernel);

  int lanes() const { return names_.lanes(); }
  // Registers of 32 bits that a lane takes.
  int64_t words(int lane) const { return lanes_[lane].words; }
  const std::vector<LaneStep>& steps() const { return steps_; }
  const std::vector<LaneLoop>& loops() const { return loops_; }
  // By step.
  const std::vector<LaneLoad>& loads() const { return loads_; }
  const std::vector<LaneStart>& starts() const { return starts_; }
  // Lanes, of one step after the other.
  const std::vector<int>& reads() const { return reads_; }
  const std::vector<int>& sets() const { return sets_; }

 private:
  struct Lane {
    int64_t words = 0;
    int set = -1;           // at which step, on all ways to this place
    bool constant = false;  // on all of them
    int load = -1;          // that sets it
    int carried = -1;       // through this loop and those around it
  };
  // What a branch changed.
  struct Change {
    int lane, set;
    bool constant;
  };

  int Here() const { return static_cast<int>(steps_.size()) - 1; }
  void Close();
  void Begin(LaneStep::Kind kind);
  void Keep(int lane);
  void Mention(int lane);
  void Set(Reg reg, bool constant = false);
  void Carry(int lane);
  void Read(Reg reg);
  void MoveLoad(LaneLoad& load);
  void AddLoad(const LoadInst& load);
  void AddStore(const StoreInst& store);
  void AddInst(const Inst& inst);
  void Walk(const std::vector<Inst>& body);
  void WalkLoop(const Inst& inst, const ForInst& loop);
  void WalkBranches(const IfInst& branch);
  void WalkBranch(const std::vector<Inst>& body, std::vector<int>& registers);

  const ScalarKernel& kernel_;
  LaneNames names_;
  std::vector<Lane> lanes_;
  std::vector<LaneStep> steps_;
  std::vector<LaneLoop> loops_;
  std::vector<LaneLoad> loads_;
  std::vector<LaneStart> starts_;
  std::vector<int> reads_, sets_;
  std::vector<int> around_;  // loops, outermost first
  std::vector<Change> changes_;
  int branches_ = 0;  // around this place
  int region_ = 0, shared_region_ = 0;
};

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_LANE_STEPS_H_
