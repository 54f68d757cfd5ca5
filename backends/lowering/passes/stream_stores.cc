#include "backends/lowering/passes/stream_stores.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "backends/kernel_ir/divisors.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::ForInst;
using kernel_ir::IfInst;
using kernel_ir::Inst;
using kernel_ir::kNoReg;
using kernel_ir::LoadInst;
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
  const kernel_ir::Divisors divisors(kernel);
  std::set<std::string> marked;
  ForEach(kernel.body, [&](Inst& inst) {
    auto* store = std::get_if<StoreInst>(&inst.node);
    if (store == nullptr || !streamed[store->buffer] || store->mask != kNoReg ||
        store->active != 0)
      return;
    const int64_t lanes = kernel.regs[store->value].lanes;
    const int64_t bytes =
        lanes * SizeBytes(kernel.buffers[store->buffer].dtype);
    store->streaming =
        bytes == options.vector_bytes &&
        divisors.Divides(lanes, store->offset, store->constant_offset);
    if (store->streaming) marked.insert(kernel.buffers[store->buffer].name);
  });
  return {marked.begin(), marked.end()};
}

}  // namespace tilewright::lowering
