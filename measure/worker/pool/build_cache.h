// Keeps what was built, and the facts known about it, so that a candidate that
// comes again is neither built nor verified twice.
#ifndef TILEWRIGHT_MEASURE_WORKER_POOL_BUILD_CACHE_H_
#define TILEWRIGHT_MEASURE_WORKER_POOL_BUILD_CACHE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "measure/record/record.pb.h"
#include "measure/worker/protocol.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::measure {

struct Build {
  std::string key;       // in the cache
  std::string workload;  // its text
  sketch::ScheduleProto schedule;
  bool done = false;
  BuiltCandidate built;       // if done
  int64_t build_ns = 0;       // if done
  Verification verification;  // once it passed
};

// Keeps the builds used last. Those that are held elsewhere are held there
// whether they are still here or not.
class BuildCache {
 public:
  explicit BuildCache(int64_t capacity_bytes)
      : capacity_bytes_(capacity_bytes) {}

  // The one that is known, or a new one.
  std::shared_ptr<Build> Get(const WorkloadKey& workload,
                             const sketch::ScheduleProto& schedule);
  // `build` has become larger: forgets the ones used longest ago until the
  // others fit.
  void Grown(const Build& build);

 private:
  struct Entry {
    std::shared_ptr<Build> build;
    std::list<std::string>::iterator use;
    int64_t size_bytes = 0;
  };
  int64_t capacity_bytes_;
  int64_t size_bytes_ = 0;
  std::list<std::string> uses_;  // keys, the latest first
  std::map<std::string, Entry> entries_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_POOL_BUILD_CACHE_H_
