#include "bench/decisions/drawn_tables.h"

#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "bench/decisions/kernel_of.h"
#include "bench/measuring/near_default.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::bench {

DrawnTables DrawTables(const Searched& searched, const Fingerprint& rule,
                       TableSource source, int draws, uint64_t seed) {
  const DeviceSpec& spec = searched.codegen.spec();
  DrawnTables drawn;
  std::set<Fingerprint> seen = {rule};
  Random mutations(seed);
  for (int i = 0; i < draws; ++i) {
    RandomPolicy random(seed + static_cast<uint64_t>(i));
    Decider decider(random);
    absl::StatusOr<sketch::Schedule> schedule =
        source == TableSource::kRandom
            ? sketch::Generate(searched.generator, searched.workload, spec,
                               decider)
            : NearDefault(searched.generator, searched.workload, spec,
                          mutations);
    if (!schedule.ok()) {
      ++drawn.refused;
      continue;
    }
    const absl::StatusOr<Fingerprint> kernel =
        KernelOf(searched.workload, *schedule, searched.codegen);
    if (!kernel.ok()) {
      ++drawn.refused;
    } else if (!seen.insert(*kernel).second) {
      ++drawn.equal;
    } else {
      drawn.different.push_back(*std::move(schedule));
    }
  }
  return drawn;
}

}  // namespace tilewright::bench
