#include "tilegraph/cost/tensor_levels.h"

#include <algorithm>
#include <limits>

#include "backends/spec/load_spec.h"
#include "tilegraph/cost/core_levels.h"

namespace tilewright {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<TensorLevels::Kept> TensorLevels::KeptBy(const DeviceSpec& spec) {
  const std::vector<MemoryLevel> levels = LevelsOfCore(spec);
  const int own = PrivateLevel(spec);
  const CostModel& model = CostModelOf(spec);
  std::vector<Kept> kept = {{kNoLimit, kNoLimit}};
  for (int i = 1; i <= own; ++i) {
    const MemoryLevel& level = levels[i];
    const double share =
        i == own ? model.kept_private_share() : model.kept_shared_share();
    const double bytes =
        level.kind() == MemoryLevel::CACHE ? share * CapacityBytes(level) : 0;
    const double seconds =
        level.retention_ns() > 0 ? level.retention_ns() / 1e9 : kNoLimit;
    kept.push_back({bytes, seconds});
  }
  return kept;
}

TensorLevels::TensorLevels(const TensorGraph& graph, const Plan& plan,
                           const DeviceSpec& spec)
    : graph_(graph),
      plan_(plan),
      kept_(KeptBy(spec)),
      distances_(graph, plan, MostBytes()) {}

// Of the caches.
double TensorLevels::MostBytes() const {
  double most = 0;
  for (size_t level = 1; level < kept_.size(); ++level)
    most = std::max(most, kept_[level].bytes);
  return most;
}

bool TensorLevels::ForgetWithTime() const {
  return std::any_of(kept_.begin(), kept_.end(),
                     [](const Kept& kept) { return kept.seconds < kNoLimit; });
}

int TensorLevels::Of(TensorId id, const Group& group) const {
  const bool computed =
      std::binary_search(group.members.begin(), group.members.end(), id);
  const ReuseDistance distance =
      computed ? distances_.After(id, group) : distances_.Before(id, group);
  int level = static_cast<int>(kept_.size()) - 1;
  while (level > 0 && !kept_[level].Holds(distance)) --level;
  return level;
}

const Layout* TensorLevels::LayoutOf(TensorId id) const {
  const auto layout = plan_.layouts.find(id);
  return layout == plan_.layouts.end() ? nullptr : &layout->second;
}

int TensorLevels::VectorDim(TensorId id) const {
  const int rank = static_cast<int>(graph_.tensor(id).shape.size());
  const Layout* layout = LayoutOf(id);
  if (layout != nullptr) {
    for (size_t i = 0; i < layout->digits().size(); ++i) {
      const Layout::Digit& digit = layout->digits()[i];
      if (digit.extent > 1 && digit.div == 1 &&
          layout->stride(static_cast<int>(i)) == 1)
        return digit.dim;
    }
  }
  return rank - 1;
}

}  // namespace tilewright
