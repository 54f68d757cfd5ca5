#include "tilegraph/fuse/measured_times.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

// Questions with less at stake than this share of the greatest wait for the
// next plan, which may not need them any more.
constexpr double kShareOfRound = 0.25;

GroupOfPlan Borrow(const PlannedGroup& one) {
  return {one.plan.get(), &one.group};
}

std::vector<GroupOfPlan> Borrow(absl::Span<const PlannedGroup> groups) {
  std::vector<GroupOfPlan> result;
  for (const PlannedGroup& one : groups) result.push_back(Borrow(one));
  return result;
}

// Whether an answer is about the kernel.
bool Tells(const absl::Status& status) {
  return !absl::IsNotFound(status) && !absl::IsUnavailable(status) &&
         !absl::IsResourceExhausted(status);
}

}  // namespace

MeasuredTimes::MeasuredTimes(const GroupCostModel& model,
                             const MeasuringOptions& options,
                             GenerateTiles generate)
    : model_(model), options_(options), generate_(std::move(generate)) {}

MeasuredTimes::Keys MeasuredTimes::KeysOf(
    absl::Span<const PlannedGroup> groups) const {
  Keys keys;
  for (const PlannedGroup& one : groups)
    keys.push_back(model_.KeyOf(one.group));
  return keys;
}

absl::StatusOr<double> MeasuredTimes::Of(const PlannedGroup& group) {
  const auto [known, added] = times_.try_emplace(
      model_.KeyOf(group.group), absl::NotFoundError("it was not measured"));
  if (added && options_.cache != nullptr) {
    if (auto found = options_.cache->Find(Borrow(group)))
      known->second = *std::move(found);
  }
  return known->second;
}

std::optional<std::vector<double>> MeasuredTimes::Interleaved(
    absl::Span<const PlannedGroup> groups) {
  const auto [known, added] = interleaved_.try_emplace(KeysOf(groups));
  if (added && options_.cache != nullptr)
    known->second = options_.cache->FindInterleaved(Borrow(groups));
  return known->second;
}

bool MeasuredTimes::Want(absl::Span<const PlannedGroup> parts,
                         absl::Span<const PlannedGroup> variants,
                         double stake_seconds) {
  Keys keys;
  Question question{{}, {}, false, stake_seconds};
  const auto add = [&](const PlannedGroup& one,
                       std::vector<PlannedGroup>& open) {
    if (!absl::IsNotFound(Of(one).status())) return;
    EstimateKey key = model_.KeyOf(one.group);
    if (asked_.count({key})) return;
    keys.push_back(std::move(key));
    open.push_back(one);
  };
  for (const PlannedGroup& one : parts) add(one, question.parts);
  for (const PlannedGroup& one : variants) add(one, question.variants);
  return Want(std::move(question), std::move(keys));
}

void MeasuredTimes::WantInterleaved(absl::Span<const PlannedGroup> groups,
                                    double stake_seconds) {
  Keys keys = KeysOf(groups);
  if (asked_.count(keys)) return;
  Want({{groups.begin(), groups.end()}, {}, true, stake_seconds},
       std::move(keys));
}

bool MeasuredTimes::Want(Question question, Keys keys) {
  if (keys.empty() || over_) return false;
  const double stake_seconds = question.stake_seconds;
  const auto [known, added] =
      questions_.try_emplace(std::move(keys), std::move(question));
  if (!added) known->second.stake_seconds += stake_seconds;
  return true;
}

bool MeasuredTimes::Measure(double all_core_seconds) {
  const std::map<Keys, Question> questions = std::exchange(questions_, {});
  if (questions.empty() || over_) return false;
  std::vector<const std::pair<const Keys, Question>*> order;
  for (const auto& one : questions) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return a->second.stake_seconds > b->second.stake_seconds;
  });
  const double least =
      std::max(options_.least_stake * all_core_seconds,
               kShareOfRound * order.front()->second.stake_seconds);
  bool any = false;
  for (const auto* one : order) {
    const auto& [keys, question] = *one;
    if (question.stake_seconds < least || over_) break;
    any = true;
    if (question.interleaved) {
      AskInterleaved(keys, question.parts);
      continue;
    }
    // Groups with a wrong part are not compared with anything.
    bool right = true;
    for (const PlannedGroup& part : question.parts) {
      Ask({part});
      const absl::Status status = Of(part).status();
      right = right && (status.ok() || absl::IsNotFound(status));
    }
    if (right) Ask(question.variants);
  }
  return any;
}

void MeasuredTimes::Ask(absl::Span<const PlannedGroup> variants) {
  std::vector<const PlannedGroup*> open;
  std::vector<Group> groups;
  for (const PlannedGroup& one : variants) {
    const EstimateKey key = model_.KeyOf(one.group);
    if (over_ || !asked_.insert({key}).second) continue;
    const absl::Status made = generate_ && !one.group.stages.empty()
                                  ? generate_(one.group, *one.plan).status()
                                  : absl::OkStatus();
    if (!made.ok()) {
      times_.insert_or_assign(key, made);
    } else if (measured_ < options_.most_measured) {
      open.push_back(&one);
      groups.push_back(one.group);
      ++measured_;
    }
  }
  if (groups.empty()) return;
  const std::vector<absl::StatusOr<double>> seconds =
      options_.profiler->OneCoreSeconds(*open.front()->plan, groups);
  for (size_t i = 0; i < open.size(); ++i) {
    over_ = over_ || absl::IsResourceExhausted(seconds[i].status());
    measured_ -= absl::IsNotFound(seconds[i].status());
    if (!Tells(seconds[i].status())) continue;
    if (options_.cache != nullptr)
      options_.cache->Keep(Borrow(*open[i]), seconds[i]);
    times_.insert_or_assign(model_.KeyOf(groups[i]), seconds[i]);
  }
}

void MeasuredTimes::AskInterleaved(const Keys& keys,
                                   absl::Span<const PlannedGroup> groups) {
  if (!asked_.insert(keys).second) return;
  const std::vector<GroupOfPlan> borrowed = Borrow(groups);
  const absl::StatusOr<std::vector<double>> seconds =
      options_.profiler->Interleaved(borrowed);
  over_ = over_ || absl::IsResourceExhausted(seconds.status());
  if (!seconds.ok()) return;
  if (options_.cache != nullptr)
    options_.cache->KeepInterleaved(borrowed, *seconds);
  interleaved_[keys] = *seconds;
}

}  // namespace tilewright
