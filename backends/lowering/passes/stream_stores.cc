#include "backends/lowering/passes/stream_stores.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::ConstInst;
using kernel_ir::CopyInst;
using kernel_ir::ForInst;
using kernel_ir::IfInst;
using kernel_ir::Inst;
using kernel_ir::kNoReg;
using kernel_ir::LoadInst;
using kernel_ir::OpInst;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuffer;
using kernel_ir::ScalarKernel;
using kernel_ir::StoreInst;

void ForEach(std::vector<Inst>& body, const std::function<void(Inst&)>& fn) {
  for (Inst& inst : body) {
    fn(inst);
    if (auto* loop = std::get_if<ForInst>(&inst.node)) {
      ForEach(loop->body, fn);
    } else if (auto* branch = std::get_if<IfInst>(&inst.node)) {
      ForEach(branch->then_body, fn);
      ForEach(branch->else_body, fn);
    }
  }
}

// A number that divides every value a register takes; 0 divides only 0.
class Divisors {
 public:
  explicit Divisors(const ScalarKernel& kernel)
      : kernel_(kernel), of_(kernel.regs.size(), 1) {}

  // In the order of execution: operands before results.
  void See(const Inst& inst) {
    if (const auto* n = std::get_if<ConstInst>(&inst.node)) {
      Set(n->dst, std::abs(n->i));
    } else if (const auto* n = std::get_if<CopyInst>(&inst.node)) {
      Set(n->dst, Of(n->source));
    } else if (const auto* n = std::get_if<ForInst>(&inst.node)) {
      const int64_t begin =
          n->begin == kNoReg ? std::abs(n->constant_begin) : Of(n->begin);
      Set(n->var, std::gcd(begin, n->step));
    } else if (const auto* n = std::get_if<OpInst>(&inst.node)) {
      if (n->op == Op::kMul) {
        // Beyond any vector's size it does not matter.
        constexpr int64_t kMost = int64_t{1} << 20;
        const int64_t a = Of(n->operands[0]), b = Of(n->operands[1]);
        Set(n->dst, std::gcd(a, kMost) * std::gcd(b, kMost));
      } else if (n->op == Op::kAdd || n->op == Op::kSub) {
        Set(n->dst, std::gcd(Of(n->operands[0]), Of(n->operands[1])));
      }
    }
  }
  int64_t Of(Reg reg) const { return reg == kNoReg ? 0 : of_[reg]; }

 private:
  // Variables take values that nobody followed.
  void Set(Reg reg, int64_t divisor) {
    if (!kernel_.regs[reg].is_variable) of_[reg] = divisor;
  }

  const ScalarKernel& kernel_;
  std::vector<int64_t> of_;
};

int64_t Bytes(const ScalarBuffer& buffer) {
  return buffer.elements * SizeBytes(buffer.dtype);
}

}  // namespace

std::vector<std::string> StreamStores(ScalarKernel& kernel,
                                      const StreamOptions& options) {
  int64_t total_bytes = 0;
  for (const ScalarBuffer& buffer : kernel.buffers) {
    if (buffer.role != Role::kLocal) total_bytes += Bytes(buffer);
  }
  const bool exceeds =
      options.cache_bytes > 0 && total_bytes > options.cache_bytes;
  std::vector<bool> streamed;
  for (const ScalarBuffer& buffer : kernel.buffers) {
    const bool by_size = exceeds && 2 * Bytes(buffer) > options.cache_bytes;
    streamed.push_back(buffer.role == Role::kOutput &&
                       buffer.streamed.value_or(by_size));
  }
  if (std::find(streamed.begin(), streamed.end(), true) == streamed.end())
    return {};
  ForEach(kernel.body, [&](Inst& inst) {
    if (const auto* load = std::get_if<LoadInst>(&inst.node))
      streamed[load->buffer] = false;
  });
  Divisors divisors(kernel);
  std::set<std::string> marked;
  ForEach(kernel.body, [&](Inst& inst) {
    divisors.See(inst);
    auto* store = std::get_if<StoreInst>(&inst.node);
    if (store == nullptr || !streamed[store->buffer] || store->mask != kNoReg ||
        store->active != 0)
      return;
    const int64_t lanes = kernel.regs[store->value].lanes;
    const int64_t bytes =
        lanes * SizeBytes(kernel.buffers[store->buffer].dtype);
    const int64_t divisor =
        std::gcd(divisors.Of(store->offset), std::abs(store->constant_offset));
    store->streaming = bytes == options.vector_bytes && divisor % lanes == 0;
    if (store->streaming) marked.insert(kernel.buffers[store->buffer].name);
  });
  return {marked.begin(), marked.end()};
}

}  // namespace tilewright::lowering
