#include "backends/lowering/passes/join_loads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "backends/kernel_ir/divisors.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::lowering {

using kernel_ir::AsyncCopyInst;
using kernel_ir::BarrierInst;
using kernel_ir::Divisors;
using kernel_ir::ForInst;
using kernel_ir::IfInst;
using kernel_ir::InsertInst;
using kernel_ir::Inst;
using kernel_ir::kNoReg;
using kernel_ir::LaneInst;
using kernel_ir::LoadInst;
using kernel_ir::Reg;
using kernel_ir::RegType;
using kernel_ir::ScalarBuffer;
using kernel_ir::ScalarKernel;
using kernel_ir::ShuffleInst;
using kernel_ir::SplatInst;
using kernel_ir::StoreInst;
using kernel_ir::WaitInst;

namespace {

constexpr int64_t kAccessBytes = 16;  // the widest access of a thread

// Loads that may join: of one buffer, from one register on.
struct Group {
  std::vector<size_t> loads;  // positions in the body
  std::set<int64_t> elements;
};

// Elements that are loaded at once.
struct Chunk {
  int64_t first = 0;
  int lanes = 1;
  Reg reg = kNoReg;
};

class Joiner {
 public:
  explicit Joiner(ScalarKernel& kernel) : k_(kernel), divisors_(kernel) {}

  void Body(std::vector<Inst>& body) {
    std::map<size_t, std::vector<Inst>> instead;
    std::map<Key, Group> groups;
    const auto flush = [&](int buffer) {  // -1: of all
      for (auto group = groups.begin(); group != groups.end();) {
        if (buffer >= 0 && group->first.first != buffer) {
          ++group;
          continue;
        }
        Join(body, group->first, group->second, instead);
        group = groups.erase(group);
      }
    };
    for (size_t i = 0; i < body.size(); ++i) {
      auto& node = body[i].node;
      if (auto* loop = std::get_if<ForInst>(&node)) {
        flush(-1);
        Body(loop->body);
      } else if (auto* branch = std::get_if<IfInst>(&node)) {
        flush(-1);
        Body(branch->then_body);
        Body(branch->else_body);
      } else if (std::holds_alternative<BarrierInst>(node) ||
                 std::holds_alternative<WaitInst>(node)) {
        flush(-1);
      } else if (const auto* copy = std::get_if<AsyncCopyInst>(&node)) {
        flush(copy->to);
      } else if (const auto* store = std::get_if<StoreInst>(&node)) {
        flush(store->buffer);
      } else if (const auto* load = std::get_if<LoadInst>(&node)) {
        if (!MayJoin(*load)) continue;
        Group& group = groups[{load->buffer, load->offset}];
        group.loads.push_back(i);
        for (int lane = 0; lane < LanesOf(load->dst); ++lane)
          group.elements.insert(load->constant_offset + lane);
      }
    }
    flush(-1);
    if (instead.empty()) return;
    std::vector<Inst> result;
    for (size_t i = 0; i < body.size(); ++i) {
      const auto found = instead.find(i);
      if (found == instead.end()) {
        result.push_back(std::move(body[i]));
      } else {
        for (Inst& inst : found->second) result.push_back(std::move(inst));
      }
    }
    body = std::move(result);
  }

 private:
  using Key = std::pair<int, Reg>;  // buffer, offset

  int LanesOf(Reg reg) const { return k_.regs[reg].lanes; }

  bool MayJoin(const LoadInst& load) const {
    const RegType& type = k_.regs[load.dst];
    const ScalarBuffer& buffer = k_.buffers[load.buffer];
    return load.mask == kNoReg && !type.is_variable && !buffer.per_thread &&
           (load.active == 0 || load.active == type.lanes) &&
           type.dtype == kernel_ir::RegisterType(buffer.dtype);
  }

  // Whether the load is one access as it is.
  static bool IsChunk(const LoadInst& load, int lanes, int64_t most) {
    return lanes <= most && (lanes & (lanes - 1)) == 0 &&
           load.constant_offset % lanes == 0;
  }

  // The elements at a multiple of `lanes` that are all loaded, or halves of
  // them, or single ones.
  void Cut(const std::set<int64_t>& elements, int64_t first, int lanes,
           std::map<int64_t, Chunk>& chunks) const {
    const auto begin = elements.lower_bound(first);
    const auto end = elements.lower_bound(first + lanes);
    const auto count = static_cast<int>(std::distance(begin, end));
    if (count == 0) return;
    if (count == lanes) {
      chunks[first] = {first, lanes};
      return;
    }
    Cut(elements, first, lanes / 2, chunks);
    Cut(elements, first + lanes / 2, lanes / 2, chunks);
  }

  void Join(const std::vector<Inst>& body, const Key& key, const Group& group,
            std::map<size_t, std::vector<Inst>>& instead) {
    const auto& [buffer, offset] = key;
    const int64_t most =
        kAccessBytes /
        std::min(kAccessBytes, SizeBytes(k_.buffers[buffer].dtype));
    const int64_t unit = std::gcd(divisors_.Of(offset), most);
    std::map<int64_t, Chunk> chunks;
    for (auto next = group.elements.begin(); next != group.elements.end();) {
      const int64_t first = *next - FloorModulo(*next, unit);
      Cut(group.elements, first, static_cast<int>(unit), chunks);
      next = group.elements.lower_bound(first + unit);
    }
    int64_t accesses = 0;
    for (const size_t i : group.loads) {
      const LoadInst& load = std::get<LoadInst>(body[i].node);
      const int lanes = LanesOf(load.dst);
      accesses += IsChunk(load, lanes, unit) ? 1 : lanes;
    }
    if (static_cast<int64_t>(chunks.size()) >= accesses) return;
    for (const size_t i : group.loads)
      Replace(std::get<LoadInst>(body[i].node), chunks, instead[i]);
  }

  // The load as lanes of the chunks; those that are not there yet are loaded.
  void Replace(const LoadInst& load, std::map<int64_t, Chunk>& chunks,
               std::vector<Inst>& out) {
    const int lanes = LanesOf(load.dst);
    std::vector<std::pair<const Chunk*, int>> from;
    for (int lane = 0; lane < lanes; ++lane) {
      const int64_t element = load.constant_offset + lane;
      Chunk& chunk = std::prev(chunks.upper_bound(element))->second;
      from.emplace_back(&chunk, static_cast<int>(element - chunk.first));
      const bool same =
          chunk.lanes == lanes && chunk.first == load.constant_offset;
      if (chunk.reg != kNoReg && (!same || lanes > 1)) continue;
      chunk.reg = same ? load.dst : NewReg(load.dst, chunk.lanes);
      LoadInst whole = load;
      whole.dst = chunk.reg;
      whole.constant_offset = chunk.first;
      whole.active = 0;
      out.push_back({std::move(whole)});
    }
    if (from[0].first->reg != load.dst) Take(load.dst, from, out);
  }

  Reg NewReg(Reg like, int lanes) {
    k_.regs.push_back({k_.regs[like].dtype, lanes, false, ""});
    return static_cast<Reg>(k_.regs.size()) - 1;
  }

  // dst = these lanes.
  void Take(Reg dst, const std::vector<std::pair<const Chunk*, int>>& from,
            std::vector<Inst>& out) {
    const Chunk& first = *from.front().first;
    const Chunk& last = *from.back().first;
    if (from.size() == 1) {
      out.push_back({LaneInst{dst, first.reg, from[0].second}});
      return;
    }
    ShuffleInst shuffle{dst, first.reg, last.reg, {}};
    bool two = first.lanes > 1 && first.lanes == last.lanes;
    for (const auto& [chunk, lane] : from) {
      two = two && (chunk == &first || chunk == &last);
      shuffle.lanes.push_back(chunk == &first ? lane : first.lanes + lane);
    }
    if (two) {
      out.push_back({std::move(shuffle)});
      return;
    }
    Reg value = kNoReg;
    for (size_t i = 0; i < from.size(); ++i) {
      Reg lane = from[i].first->reg;
      if (from[i].first->lanes > 1) {
        lane = NewReg(dst, 1);
        out.push_back({LaneInst{lane, from[i].first->reg, from[i].second}});
      }
      const Reg next = i + 1 == from.size() ? dst : NewReg(dst, LanesOf(dst));
      if (i == 0) {
        out.push_back({SplatInst{next, lane}});
      } else {
        out.push_back({InsertInst{next, value, lane, static_cast<int>(i)}});
      }
      value = next;
    }
  }

  ScalarKernel& k_;
  const Divisors divisors_;
};

}  // namespace

void JoinLoads(ScalarKernel& kernel) { Joiner(kernel).Body(kernel.body); }

}  // namespace tilewright::lowering
