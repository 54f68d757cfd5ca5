#include "compiler/kernels/memory_requests.h"

#include <algorithm>
#include <cstddef>
#include <limits>
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
    const Counts& counts = CountOf(access);
    BufferRequests& of = requests_[static_cast<size_t>(access.buffer)];
    of.sectors += times * counts.requests.sectors;
    of.lines += times * counts.requests.lines;
    of.turns += times * counts.requests.turns;
    accesses_ += counts.accesses;
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
  // Of one access of all warps of a block.
  struct Counts {
    BufferRequests requests;
    int64_t accesses = 0;
  };

  // Accesses that lie whole rows of banks apart take as many.
  const Counts& CountOf(const ThreadAccess& access) {
    const ScalarBuffer& buffer =
        kernel_.buffers[static_cast<size_t>(access.buffer)];
    const int64_t bytes = SizeBytes(buffer.dtype);
    const bool shared = buffer.role == Role::kLocal;
    pattern_.assign({shared, access.lanes, access.piece, bytes,
                     shared ? buffer.scratch_offset_bytes % RowBytes() : 0});
    const auto begin = std::find_if(
        access.first.begin(), access.first.end(),
        [](int64_t first) { return first != ThreadAccess::kIdle; });
    if (begin == access.first.end()) return none_;
    const int64_t row = *begin - *begin % (RowBytes() / bytes);
    for (const int64_t first : access.first)
      pattern_.push_back(first == ThreadAccess::kIdle
                             ? std::numeric_limits<int64_t>::min()
                             : first - row);
    const auto [known, is_new] = known_.try_emplace(pattern_);
    Counts& counts = known->second;
    if (!is_new) return counts;
    ForWarps(kernel_, access, [&](const WarpAccess& warp) {
      ++counts.accesses;
      BufferRequests& of = counts.requests;
      if (shared) {
        of.turns += static_cast<double>(BankPasses(warp, banks_));
      } else {
        of.sectors += static_cast<double>(Sectors(warp, sector_bytes_));
        of.lines += static_cast<double>(Sectors(warp, RowBytes()));
      }
    });
    return counts;
  }

  int64_t RowBytes() const { return banks_.count * banks_.width_bytes; }

  const ScalarKernel& kernel_;
  const Banks banks_;
  const int64_t sector_bytes_;
  std::vector<BufferRequests> requests_;
  int64_t accesses_ = 0;
  const Counts none_;
  // What is alike of accesses that take as many: the kind of memory and of
  // access, and where threads begin, from the row of banks of the first one.
  std::vector<int64_t> pattern_;
  absl::flat_hash_map<std::vector<int64_t>, Counts> known_;
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
