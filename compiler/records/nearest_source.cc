#include "compiler/records/nearest_source.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/records/record_choice.h"
#include "measure/record/record.pb.h"
#include "measure/record/workload_key.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"

namespace tilewright {
namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '.';
}

// Octaves between two shapes, summed over what differs.
double Distance(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  double octaves = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    octaves += std::abs(std::log2(1 + std::abs(static_cast<double>(a[i]))) -
                        std::log2(1 + std::abs(static_cast<double>(b[i]))));
  }
  return octaves;
}

}  // namespace

Structure StructureOf(std::string_view workload_text) {
  Structure structure;
  for (size_t i = 0; i < workload_text.size();) {
    size_t end = i;
    while (end < workload_text.size() && IsWordCharacter(workload_text[end]))
      ++end;
    const std::string word(workload_text.substr(i, end - i));
    const bool is_integer =
        !word.empty() && word.size() < 19 &&
        std::all_of(word.begin(), word.end(), [](char c) {
          return std::isdigit(static_cast<unsigned char>(c)) != 0;
        });
    if (is_integer) {
      structure.integers.push_back(std::strtoll(word.c_str(), nullptr, 10));
      structure.text += '#';
    } else if (!word.empty()) {
      structure.text += word;
    } else {
      structure.text += workload_text[end++];
    }
    i = end;
  }
  return structure;
}

namespace {

sketch::Generator FirstGenerator(const sketch::Workload& workload,
                                 const DeviceSpec& spec) {
  GroupWorkload group;
  group.workload = workload;
  return GeneratorsOf(group, spec).front();
}

}  // namespace

absl::Status NearestSource::ReadStore(const DeviceSpec& spec) {
  read_ = true;
  measure::StoreQuery query;
  query.structure_fingerprint = StructureFingerprint(spec).ToString();
  query.verified_only = true;
  std::map<std::string, std::vector<measure::Record>> records;
  TW_RETURN_IF_ERROR(store_.ForEach(query, [&](const measure::Record& record) {
    records[record.workload().text()].push_back(record);
    return absl::OkStatus();
  }));
  for (const auto& [text, of_workload] : records) {
    const absl::StatusOr<sketch::Workload> workload =
        sketch::ParseWorkload(text);
    if (!workload.ok()) continue;
    std::vector<std::string> notes;
    const std::optional<RecordChoice> choice = ChooseRecord(
        of_workload, *workload, FirstGenerator(*workload, spec), spec, notes);
    if (!choice || choice->schedule.decisions.empty()) continue;
    Structure structure = StructureOf(text);
    neighbours_.emplace(std::move(structure.text),
                        Neighbour{of_workload.front().workload().fingerprint(),
                                  std::move(structure.integers),
                                  sketch::AnswersOf(choice->schedule)});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SourcedSchedule>> NearestSource::Find(
    const sketch::Workload& workload, const sketch::Generator& generator,
    const DeviceSpec& spec) {
  if (!read_) TW_RETURN_IF_ERROR(ReadStore(spec));
  const Structure structure = StructureOf(workload.Text());
  const Neighbour* nearest = nullptr;
  double least = 0;
  const auto [begin, end] = neighbours_.equal_range(structure.text);
  for (auto it = begin; it != end; ++it) {
    const double distance = Distance(structure.integers, it->second.integers);
    if (nearest == nullptr || distance < least)
      nearest = &it->second, least = distance;
  }
  if (nearest == nullptr) return std::nullopt;
  PreferredPolicy rest;
  TablePolicy table(nearest->answers, rest);
  Decider decider(table);
  absl::StatusOr<sketch::Schedule> schedule =
      sketch::Generate(generator, workload, spec, decider);
  // Decisions of another shape may not be possible here.
  if (!schedule.ok()) return std::nullopt;
  return SourcedSchedule{*std::move(schedule), decider.decisions(),
                         absl::StrCat("nearest record [",
                                      nearest->fingerprint.substr(0, 12), "]")};
}

}  // namespace tilewright
