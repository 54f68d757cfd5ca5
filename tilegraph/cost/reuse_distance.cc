#include "tilegraph/cost/reuse_distance.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/plan/memory_of.h"

namespace tilewright {
ReuseDistances::ReuseDistances(const TensorGraph& graph, const Plan& plan,
                               double most_bytes)
    : graph_(graph),
      plan_(plan),
      most_bytes_(most_bytes),
      written_at_(static_cast<size_t>(graph.size()), -1),
      computed_at_(static_cast<size_t>(graph.size()), -1) {
  for (const Group& group : plan.groups) AddGroup(group);
  group_seconds_.resize(touched_.size());
}

void ReuseDistances::SetGroupSeconds(std::vector<double> group_seconds) {
  TW_CHECK_EQ(group_seconds.size(), touched_.size());
  group_seconds_ = std::move(group_seconds);
}

void ReuseDistances::AddGroup(const Group& group) {
  const int place = static_cast<int>(touched_.size());
  Touched& touched = touched_.emplace_back();
  for (const TensorId id : OutputsOf(group)) {
    touched.bytes[MemoryOf(plan_, id)] += Bytes(id);
    written_at_[id] = place;
  }
  std::map<TensorId, double> loaded_bytes;
  for (const TensorId id : group.members) {
    if (computed_at_[id] < 0) computed_at_[id] = place;
    for (const TensorId input : graph_.Inputs(id))
      loaded_bytes[input] += static_cast<double>(
          Points(graph_.tensor(id)) * SizeBytes(graph_.tensor(input).dtype));
  }
  for (const TensorId id : group.inputs) {
    double bytes = Bytes(id);
    // Of a large table a gather reads few rows.
    const auto loaded = loaded_bytes.find(id);
    if (loaded != loaded_bytes.end()) bytes = std::min(bytes, loaded->second);
    double& known = touched.bytes[MemoryOf(plan_, id)];
    known = std::max(known, bytes);
  }
  for (const auto& [memory, bytes] : touched.bytes) {
    touched.all_bytes += bytes;
    places_[memory].push_back(place);
  }
}

double ReuseDistances::Bytes(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  return static_cast<double>(tensor.num_bytes());
}

std::vector<int> ReuseDistances::PlacesOf(const Group& group) const {
  std::vector<int> places;
  for (const TensorId id : group.members) {
    if (written_at_[id] >= 0) places.push_back(written_at_[id]);
  }
  if (places.empty() && computed_at_[group.output] >= 0)
    places.push_back(computed_at_[group.output]);
  std::sort(places.begin(), places.end());
  return places;
}

ReuseDistance ReuseDistances::Distance(TensorId memory, int from,
                                       int to) const {
  const auto bytes_at = [&](int place) {
    const auto bytes = touched_[place].bytes.find(memory);
    return bytes == touched_[place].bytes.end() ? 0 : bytes->second;
  };
  std::vector<bool> counted(static_cast<size_t>(graph_.size()), false);
  ReuseDistance distance = {bytes_at(to), 0};
  for (const int place : {from, to}) {
    distance.bytes += (touched_[place].all_bytes - bytes_at(place)) / 2;
    distance.seconds += group_seconds_[place] / 2;
    for (const auto& [other, bytes] : touched_[place].bytes)
      counted[other] = true;
  }
  const int groups = static_cast<int>(touched_.size());
  for (int place = (from + 1) % groups;
       place != to && distance.bytes <= most_bytes_;
       place = (place + 1) % groups) {
    distance.seconds += group_seconds_[place];
    for (const auto& [other, bytes] : touched_[place].bytes) {
      if (!counted[other]) distance.bytes += bytes;
      counted[other] = true;
    }
  }
  if (distance.bytes > most_bytes_)
    distance.bytes = std::numeric_limits<double>::infinity();
  return distance;
}

ReuseDistance ReuseDistances::Before(TensorId id, const Group& group) const {
  const auto uses = places_.find(MemoryOf(plan_, id));
  const std::vector<int> places = PlacesOf(group);
  if (uses == places_.end() || places.empty()) return {Bytes(id), 0};
  const std::vector<int>& all = uses->second;
  // The first of the group's own uses, and the one before it.
  const auto own =
      std::find_first_of(all.begin(), all.end(), places.begin(), places.end());
  if (own == all.end()) return {Bytes(id), 0};
  return Distance(uses->first, own == all.begin() ? all.back() : own[-1], *own);
}

ReuseDistance ReuseDistances::After(TensorId id, const Group& group) const {
  const auto uses = places_.find(MemoryOf(plan_, id));
  const std::vector<int> places = PlacesOf(group);
  if (uses == places_.end() || places.empty()) return {Bytes(id), 0};
  const std::vector<int>& all = uses->second;
  const auto own = std::find_first_of(all.rbegin(), all.rend(), places.begin(),
                                      places.end());
  if (own == all.rend()) return {Bytes(id), 0};
  return Distance(uses->first, *own,
                  own == all.rbegin() ? all.front() : own[-1]);
}

}  // namespace tilewright
