// How many different kernels the decisions of a generator reach.
#ifndef TILEWRIGHT_BENCH_DECISIONS_KERNEL_COUNT_H_
#define TILEWRIGHT_BENCH_DECISIONS_KERNEL_COUNT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

struct KernelCount {
  int draws = 0;     // random tables
  int kernels = 0;   // of them became a kernel of the scalar tier
  int distinct = 0;  // of those kernels differ
  // Knuth's estimate of the number of tables, averaged over the draws, refused
  // ones included (tilegraph/decision/table.h).
  double tables = 0;
  // "replay: ..." with every number written #, and how often: what refused the
  // other draws, and where.
  std::map<std::string, int> refusals;

  // Tables times the share of draws that gave a kernel of its own. Too low
  // where many draws meet few kernels; never more than there are tables.
  double Kernels() const { return draws == 0 ? 0 : tables * distinct / draws; }
};

// Random tables with seeds from `seed` on, through replay, lowering and
// `codegen`'s Legalize. Nothing is verified or run.
KernelCount CountKernels(const sketch::Workload& workload,
                         const sketch::Generator& generator,
                         const backends::Codegen& codegen, int draws,
                         uint64_t seed);

// One line of figures, then one per refusal, the most frequent first.
std::string ToString(const KernelCount& count);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_KERNEL_COUNT_H_
