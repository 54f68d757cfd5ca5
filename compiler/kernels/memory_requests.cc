#include "compiler/kernels/memory_requests.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "base/ceil_div.h"
#include "base/spread_step.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

using kernel_ir::AsyncCopyInst;
using kernel_ir::ForInst;
using kernel_ir::IfInst;
using kernel_ir::Inst;
using kernel_ir::kWarpLanes;
using kernel_ir::LoadInst;
using kernel_ir::Role;
using kernel_ir::ScalarBuffer;
using kernel_ir::ScalarKernel;
using kernel_ir::StoreInst;
using kernel_ir::ThreadAccess;

// Accesses of warps that are looked at, as far as whole blocks go, and blocks
// that they are to be of.
constexpr int64_t kMostAccesses = 131072;
constexpr int64_t kFewestBlocks = 4;
// Turns of a loop that are taken at least, and where accesses allow it.
constexpr int64_t kFewestTurns = 4, kMostTurns = 1024;

class Counter : public kernel_ir::ThreadVisitor {
 public:
  Counter(const ScalarKernel& kernel, const Banks& banks, int64_t sector_bytes)
      : kernel_(kernel),
        banks_(banks),
        sector_bytes_(sector_bytes),
        requests_(kernel.buffers.size()) {}

  void Access(const ThreadAccess& access, double times) override {
    const bool shared =
        kernel_.buffers[static_cast<size_t>(access.buffer)].role ==
        Role::kLocal;
    BufferRequests& of = requests_[static_cast<size_t>(access.buffer)];
    ForWarps(kernel_, access, [&](const WarpAccess& warp) {
      ++accesses_;
      const Requests& counts = CountOf(warp, shared);
      (shared ? of.turns : of.lines) += times * counts.turns;
      of.sectors += times * counts.sectors;
    });
  }

  int64_t accesses() const { return accesses_; }
  // Of as many blocks as were walked, times `times`.
  std::vector<BufferRequests> Finish(double times) && {
    for (BufferRequests& of : requests_) {
      of.sectors *= times;
      of.lines *= times;
      of.turns *= times;
    }
    return std::move(requests_);
  }

 private:
  // Of one access. Turns: of the banks, or lines.
  struct Requests {
    double sectors = 0, turns = 0;
  };

  // Accesses that lie whole rows of banks apart take as many.
  const Requests& CountOf(const WarpAccess& warp, bool shared) {
    const int64_t unit = banks_.count * banks_.width_bytes;
    pattern_.assign({warp.bytes});
    std::optional<int64_t> begin;
    for (const int64_t offset : warp.offset_bytes) {
      if (offset != WarpAccess::kIdle && !begin) begin = offset / unit * unit;
      pattern_.push_back(offset == WarpAccess::kIdle
                             ? std::numeric_limits<int64_t>::min()
                             : offset - *begin);
    }
    const auto [known, is_new] =
        (shared ? of_scratch_ : of_memory_).try_emplace(pattern_);
    if (is_new && shared) {
      known->second.turns = static_cast<double>(BankPasses(warp, banks_));
    } else if (is_new) {
      known->second = {static_cast<double>(Sectors(warp, sector_bytes_)),
                       static_cast<double>(Sectors(warp, unit))};
    }
    return known->second;
  }

  const ScalarKernel& kernel_;
  const Banks banks_;
  const int64_t sector_bytes_;
  std::vector<BufferRequests> requests_;
  int64_t accesses_ = 0;
  std::vector<int64_t> pattern_;
  // By bytes and offsets of the lanes, from where the first one's unit begins.
  absl::flat_hash_map<std::vector<int64_t>, Requests> of_scratch_, of_memory_;
};

// Accesses of all threads together, if `most_turns` of each loop are taken. A
// loop whose bounds are no constants is taken to have as many.
int64_t AccessesOf(const std::vector<Inst>& body, int64_t most_turns) {
  int64_t accesses = 0;
  for (const Inst& inst : body) {
    if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
      int64_t turns = most_turns;
      if (loop->begin == kernel_ir::kNoReg && loop->end == kernel_ir::kNoReg)
        turns = std::min(
            turns,
            CeilDiv(loop->constant_end - loop->constant_begin, loop->step));
      accesses += turns * AccessesOf(loop->body, most_turns);
    } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
      accesses += AccessesOf(branch->then_body, most_turns) +
                  AccessesOf(branch->else_body, most_turns);
    } else if (std::holds_alternative<AsyncCopyInst>(inst.node)) {
      accesses += 2;
    } else {
      accesses += std::holds_alternative<LoadInst>(inst.node) ||
                  std::holds_alternative<StoreInst>(inst.node);
    }
  }
  return accesses;
}

int64_t TurnsToTake(const ScalarKernel& kernel) {
  const int64_t warps = CeilDiv(kernel.threads, int64_t{kWarpLanes});
  int64_t turns = kMostTurns;
  while (turns > kFewestTurns &&
         AccessesOf(kernel.body, turns) * warps * kFewestBlocks > kMostAccesses)
    turns /= 2;
  return turns;
}

}  // namespace

void ForWarps(const ScalarKernel& kernel, const ThreadAccess& access,
              const std::function<void(const WarpAccess&)>& each) {
  const ScalarBuffer& buffer =
      kernel.buffers[static_cast<size_t>(access.buffer)];
  const int64_t bytes = SizeBytes(buffer.dtype);
  const int64_t begin = std::max<int64_t>(0, buffer.scratch_offset_bytes);
  WarpAccess warp;
  warp.bytes = access.piece * bytes;
  for (size_t first = 0; first < access.first.size(); first += kWarpLanes) {
    const size_t end = std::min(first + kWarpLanes, access.first.size());
    for (int element = 0; element < access.lanes; element += access.piece) {
      warp.offset_bytes.clear();
      bool any = false;
      for (size_t t = first; t < end; ++t) {
        const bool idle = access.first[t] == ThreadAccess::kIdle;
        any = any || !idle;
        warp.offset_bytes.push_back(idle ? WarpAccess::kIdle
                                         : begin + (access.first[t] + element) *
                                                       bytes);
      }
      if (any) each(warp);
    }
  }
}

std::vector<BufferRequests> CountRequests(const ScalarKernel& kernel,
                                          const Banks& banks,
                                          int64_t sector_bytes) {
  Counter counter(kernel, banks, sector_bytes);
  const int64_t blocks = kernel.num_tasks, step = SpreadStep(blocks);
  const int64_t turns = TurnsToTake(kernel);
  int64_t walked = 0;
  for (int64_t block = 0; walked < blocks && counter.accesses() < kMostAccesses;
       block = (block + step) % blocks) {
    WalkThreads(kernel, block, turns, counter);
    ++walked;
  }
  return std::move(counter).Finish(static_cast<double>(blocks) /
                                   static_cast<double>(walked));
}

}  // namespace tilewright
