#include "backends/kernel_ir/mutate.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/mutate_changes.h"
#include "base/random.h"

namespace tilewright::kernel_ir {
namespace {

using internal::Change;
using internal::ForEachInst;
using internal::Uses;

ScalarKernel Apply(const ScalarKernel& kernel, int target,
                   const Change& change) {
  ScalarKernel copy = kernel;
  int position = 0;
  bool done = false;
  ForEachInst(copy.body, position,
              [&](int here, std::vector<Inst>& body, size_t i) {
                if (here != target || done) return;
                done = true;
                if (change.apply != nullptr) {
                  change.apply(body[i]);
                } else {
                  body.erase(body.begin() + i);
                }
              });
  return copy;
}

// Scratch is filled by the first task alone: later ones find what that left.
ScalarKernel WithStaleScratch(const ScalarKernel& kernel, int target) {
  const Reg first = static_cast<Reg>(kernel.regs.size());
  const Reg is_first = first + 1;
  const Change guard = {"", [&](Inst& inst) {
                          IfInst branch{is_first, {}, {}};
                          branch.then_body.push_back(inst);
                          inst.node = std::move(branch);
                        }};
  ScalarKernel stale = Apply(kernel, target, guard);
  stale.regs.push_back({kernel.regs[kernel.task].dtype, 1, false, "first"});
  stale.regs.push_back({DType::kBool, 1, false, "is_first"});
  stale.body.insert(stale.body.begin(),
                    {Inst{ConstInst{first, 0, 0}},
                     Inst{OpInst{is_first, Op::kEq, {kernel.task, first}}}});
  return stale;
}

// Makes a mutant of every loop that fills scratch.
std::vector<Mutant> StaleMutants(const ScalarKernel& kernel) {
  std::vector<Mutant> mutants;
  // Among threads, reading what was not filled is a mistake of its own.
  if (kernel.has_threads()) return mutants;
  ScalarKernel walked = kernel;
  int position = 0;
  ForEachInst(
      walked.body, position, [&](int here, std::vector<Inst>& body, size_t i) {
        const ForInst* loop = std::get_if<ForInst>(&body[i].node);
        if (loop != nullptr && internal::FillsScratch(kernel, loop->body))
          mutants.push_back({absl::StrCat("instruction ", here,
                                          ": scratch of the task before"),
                             WithStaleScratch(kernel, here)});
      });
  return mutants;
}

}  // namespace

std::vector<Mutant> Mutants(const ScalarKernel& kernel, int count,
                            uint64_t seed) {
  ScalarKernel walked = kernel;
  const Uses uses = internal::FindUses(walked);
  // Sites by kind, so that a kernel full of loads does not give mutants of
  // loads only.
  std::map<std::string, std::vector<std::pair<int, Change>>> sites;
  int position = 0;
  ForEachInst(walked.body, position,
              [&](int here, std::vector<Inst>& body, size_t i) {
                for (Change& change :
                     internal::ChangesOf(kernel, uses, body[i]))
                  sites[change.kind].push_back({here, std::move(change)});
              });

  std::vector<Mutant> mutants;
  if (kernel.num_tasks > 1 && count > 0) {
    mutants.push_back({"the last task skipped", kernel});
    --mutants.back().kernel.num_tasks;
  }
  Random random(seed);
  std::vector<Mutant> stale = StaleMutants(kernel);
  while (!stale.empty() && static_cast<int>(mutants.size()) * 6 < count) {
    const auto pick = stale.begin() + random.Index(stale.size());
    if (VerifyScalarKernel(pick->kernel).ok())
      mutants.push_back(std::move(*pick));
    stale.erase(pick);
  }
  while (static_cast<int>(mutants.size()) < count && !sites.empty()) {
    for (auto kind = sites.begin();
         kind != sites.end() && static_cast<int>(mutants.size()) < count;) {
      const size_t pick = random.Index(kind->second.size());
      const auto [at, change] = kind->second[pick];
      kind->second.erase(kind->second.begin() + pick);
      Mutant mutant{absl::StrCat("instruction ", at, ": ", change.kind),
                    Apply(kernel, at, change)};
      if (VerifyScalarKernel(mutant.kernel).ok())
        mutants.push_back(std::move(mutant));
      kind = kind->second.empty() ? sites.erase(kind) : std::next(kind);
    }
  }
  return mutants;
}

}  // namespace tilewright::kernel_ir
