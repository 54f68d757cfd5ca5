#include "compiler/kernels/decision_file.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "sketch/rules/decision_names.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/plan/kernel_key.h"
#include "tilegraph/plan/plan_decisions.h"

namespace tilewright {
namespace {

absl::Status AtLine(const std::string& name, size_t line,
                    absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ":", line + 1, ": ", what));
}

}  // namespace

absl::StatusOr<DecisionFile> DecisionFile::Parse(std::string name,
                                                 std::string_view text) {
  std::map<std::string, Answers> sections;
  Answers* section = nullptr;
  const std::vector<std::string> lines =
      absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const absl::string_view line = absl::StripAsciiWhitespace(
        absl::string_view(lines[i]).substr(0, lines[i].find('#')));
    if (line.empty()) continue;
    if (line.front() == '[') {
      const std::string key(line.substr(1, line.find(']') - 1));
      if (line.back() != ']' || !Fingerprint::FromString(key).ok())
        return AtLine(name, i,
                      "expected [FINGERPRINT] of the model or a workload, as "
                      "'inspect --what=decisions' prints it");
      const auto [place, is_new] = sections.try_emplace(key);
      if (!is_new)
        return AtLine(name, i, "this fingerprint has a section already");
      section = &place->second;
      continue;
    }
    if (section == nullptr)
      return AtLine(name, i, "a decision before the first [FINGERPRINT]");
    const absl::StatusOr<Answers> answer =
        ParseAnswers({line.data(), line.size()});
    if (!answer.ok()) return AtLine(name, i, "expected NAME = VALUE");
    for (const auto& [decision, value] : *answer) {
      if (!section->emplace(decision, value).second)
        return AtLine(name, i,
                      absl::StrCat("'", decision,
                                   "' has a value already in this section"));
    }
  }
  return DecisionFile(std::move(name), std::move(sections));
}

absl::StatusOr<std::optional<SourcedPlan>> DecisionFile::FindPlan(
    const std::string& model, const PlanOptions& options,
    const DeviceSpec& spec) {
  const auto section = sections_.find(model);
  if (section == sections_.end()) return std::nullopt;
  used_.insert(model);
  PreferredPolicy preferred;
  TablePolicy table(section->second, preferred);
  Decider decider(table);
  const PlanOptions decided = DecidePlan(options, spec, decider);
  const std::vector<std::string> rounded = table.Rounded(),
                                 unused = table.Unused();
  if (rounded.empty() && unused.empty())
    return SourcedPlan{decided, decider.decisions(), name_};
  return absl::InvalidArgumentError(absl::StrCat(
      name_, ": [", model, "] ",
      rounded.empty()
          ? absl::StrCat("'", unused.front(), "' is no decision about a model")
          : rounded.front()));
}

absl::StatusOr<std::optional<SourcedSchedule>> DecisionFile::Find(
    const sketch::Workload& workload, const sketch::Generator& generator,
    const DeviceSpec& spec) {
  const std::string key = KernelKey(workload.Text()).fingerprint().ToString();
  const auto section = sections_.find(key);
  if (section == sections_.end()) return std::nullopt;
  used_.insert(key);
  const auto refused = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": [", key, "] ", why));
  };
  PreferredPolicy preferred;
  TablePolicy table(section->second, preferred);
  Decider decider(table);
  absl::StatusOr<sketch::Schedule> schedule =
      sketch::Generate(generator, workload, spec, decider);
  const std::vector<std::string> rounded = table.Rounded();
  if (!rounded.empty()) return refused(rounded.front());
  const std::set<std::string> known =
      sketch::DecisionNames(generator, workload, spec);
  for (const std::string& unused : table.Unused()) {
    if (known.count(unused) == 0)
      return refused(absl::StrCat("'", unused, "' is no decision of a ",
                                  generator.name, "; those are ",
                                  absl::StrJoin(known, ", ")));
    notes_.insert(absl::StrCat(name_, ": [", key, "] ", unused,
                               " has no effect beside the other decisions"));
  }
  if (!schedule.ok()) return refused(schedule.status().message());
  return SourcedSchedule{*std::move(schedule), decider.decisions(), name_,
                         /*required=*/true};
}

std::vector<std::string> DecisionFile::Notes() const {
  std::vector<std::string> notes(notes_.begin(), notes_.end());
  for (const auto& [key, section] : sections_) {
    if (used_.count(key) == 0)
      notes.push_back(absl::StrCat(
          name_, ": [", key, "] is neither this model nor a workload of it"));
  }
  return notes;
}

}  // namespace tilewright
