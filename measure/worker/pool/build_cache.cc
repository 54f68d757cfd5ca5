#include "measure/worker/pool/build_cache.h"

#include "absl/strings/str_cat.h"

namespace tilewright::measure {
namespace {

int64_t SizeBytes(const Build& build) {
  return static_cast<int64_t>(build.key.size() + build.workload.size() +
                              build.schedule.ByteSizeLong() +
                              build.built.ByteSizeLong());
}

}  // namespace

std::shared_ptr<Build> BuildCache::Get(const WorkloadKey& workload,
                                       const sketch::ScheduleProto& schedule) {
  const std::string key =
      absl::StrCat(workload.text(), "\n", schedule.SerializeAsString());
  const auto [found, is_new] = entries_.try_emplace(key);
  Entry& entry = found->second;
  if (is_new) {
    entry.build = std::make_shared<Build>();
    entry.build->key = key;
    entry.build->workload = workload.text();
    entry.build->schedule = schedule;
    uses_.push_front(key);
    entry.use = uses_.begin();
  } else {
    uses_.splice(uses_.begin(), uses_, entry.use);
  }
  return entry.build;
}

void BuildCache::Grown(const Build& build) {
  const auto found = entries_.find(build.key);
  if (found == entries_.end() || found->second.build.get() != &build) {
    return;  // forgotten meanwhile
  }
  const int64_t size_bytes = SizeBytes(build);
  size_bytes_ += size_bytes - found->second.size_bytes;
  found->second.size_bytes = size_bytes;
  while (size_bytes_ > capacity_bytes_ && uses_.size() > 1) {
    const auto oldest = entries_.find(uses_.back());
    size_bytes_ -= oldest->second.size_bytes;
    entries_.erase(oldest);
    uses_.pop_back();
  }
}

}  // namespace tilewright::measure
