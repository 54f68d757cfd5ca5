// What was decided before about groups of equal signature: in this plan, and if
// the cache is kept, in others.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_PLAN_CACHE_H_
#define TILEWRIGHT_TILEGRAPH_TILING_PLAN_CACHE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tilewright {

// Keys and values are texts that planning makes and understands. A value that
// it does not understand counts as absent.
class PlanCache {
 public:
  virtual ~PlanCache() = default;
  virtual std::optional<std::string> Find(std::string_view key) = 0;
  virtual void Put(std::string_view key, std::string value) = 0;
};

class MemoryPlanCache : public PlanCache {
 public:
  std::optional<std::string> Find(std::string_view key) override {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }
  void Put(std::string_view key, std::string value) override {
    values_.insert_or_assign(std::string(key), std::move(value));
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_PLAN_CACHE_H_
