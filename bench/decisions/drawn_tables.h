// Tables of decisions drawn for a workload, and which kernels they give.
#ifndef TILEWRIGHT_BENCH_DECISIONS_DRAWN_TABLES_H_
#define TILEWRIGHT_BENCH_DECISIONS_DRAWN_TABLES_H_

#include <cstdint>
#include <vector>

#include "backends/codegen.h"
#include "base/fingerprint.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

// The space that is searched: the schedules of `generator` for `workload`.
struct Searched {
  const sketch::Workload& workload;
  const sketch::Generator& generator;
  const backends::Codegen& codegen;
};

enum class TableSource : uint8_t {
  kRandom,   // every value of every space equally often
  kMutated,  // one to three of the rule's decisions changed
};

struct DrawnTables {
  int refused = 0;  // by the generator, replay, lowering or legalization
  int equal = 0;    // give the kernel of the rule or of an earlier table
  // One for each of the other kernels, in the order of the draws.
  std::vector<sketch::Schedule> different;
};

// `draws` tables. Equal arguments, equal tables. `rule`: the kernel of the
// generator's preferred schedule (kernel_of.h).
DrawnTables DrawTables(const Searched& searched, const Fingerprint& rule,
                       TableSource source, int draws, uint64_t seed);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_DRAWN_TABLES_H_
