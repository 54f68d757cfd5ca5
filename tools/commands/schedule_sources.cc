#include "tools/commands/schedule_sources.h"

#include <utility>

#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"

namespace tilewright::tools {
namespace {

constexpr int64_t kMostFileBytes = int64_t{64} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<ScheduleSources>> ScheduleSources::From(
    const CommandLine& line) {
  if (!line.Has("decisions") && !line.Has("records")) return nullptr;
  std::unique_ptr<ScheduleSources> sources(new ScheduleSources);
  if (line.Has("decisions")) {
    const std::string path = UserPath(line.Get("decisions"));
    TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
    TW_ASSIGN_OR_RETURN(sources->file_, DecisionFile::Parse(path, text));
  }
  if (line.Has("records")) {
    const std::string path = UserPath(line.Get("records"));
    TW_ASSIGN_OR_RETURN(sources->store_,
                        measure::Store::Open(path, {/*read_only=*/true, ""}));
    sources->records_.emplace(*sources->store_, path);
    if (line.Has("nearest")) sources->nearest_.emplace(*sources->store_);
  }
  return sources;
}

absl::StatusOr<std::optional<SourcedPlan>> ScheduleSources::FindPlan(
    const std::string& model, const PlanOptions& options,
    const DeviceSpec& spec) {
  if (!file_) return std::nullopt;
  return file_->FindPlan(model, options, spec);
}

absl::StatusOr<std::optional<SourcedSchedule>> ScheduleSources::Find(
    const sketch::Workload& workload, const sketch::Generator& generator,
    const DeviceSpec& spec) {
  if (file_) {
    TW_ASSIGN_OR_RETURN(std::optional<SourcedSchedule> found,
                        file_->Find(workload, generator, spec));
    if (found) return found;
  }
  if (records_) {
    TW_ASSIGN_OR_RETURN(std::optional<SourcedSchedule> found,
                        records_->Find(workload, generator, spec));
    if (found) return found;
  }
  if (nearest_) return nearest_->Find(workload, generator, spec);
  return std::nullopt;
}

std::vector<std::string> ScheduleSources::Notes() const {
  std::vector<std::string> notes;
  if (file_) notes = file_->Notes();
  if (!records_) return notes;
  for (std::string& note : records_->Notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace tilewright::tools
