#include "bench/search/search_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/search/table_grid.h"
#include "measure/stats/median.h"
#include "search/candidate.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.pb.h"
#include "tilegraph/decision/space.h"

namespace tilewright::bench {
namespace {

constexpr double kStepsOfAnOctave = 1000;

absl::Status Damaged(const std::string& what) {
  return absl::DataLossError(absl::StrCat("search table: ", what));
}

absl::StatusOr<sketch::Schedule> ScheduleOf(
    const TableEntryProto& entry,
    const std::vector<sketch::InstructionProto>& instructions) {
  sketch::ScheduleProto proto;
  for (const uint32_t index : entry.instructions()) {
    if (index >= instructions.size()) return Damaged("no such instruction");
    *proto.add_instructions() = instructions[index];
  }
  return sketch::Schedule::FromProto(proto);
}

absl::StatusOr<TableEntry> EntryOf(
    const TableEntryProto& proto,
    const std::vector<sketch::InstructionProto>& instructions) {
  TableEntry entry;
  TW_ASSIGN_OR_RETURN(entry.schedule, ScheduleOf(proto, instructions));
  if (!measure::Measurement::Outcome_IsValid(proto.outcome()))
    return Damaged("no such outcome");
  entry.outcome = static_cast<measure::Measurement::Outcome>(proto.outcome());
  entry.build_ns = proto.build_ms() * 1e6;
  entry.overhead_ns = proto.overhead_ms() * 1e6;
  entry.samples_ns = UnpackSamples(proto.first_pass());
  const std::vector<double> second = UnpackSamples(proto.second_pass());
  entry.samples_ns.insert(entry.samples_ns.end(), second.begin(), second.end());
  const bool works = entry.outcome == measure::Measurement::OK;
  if (works != !entry.samples_ns.empty())
    return Damaged("executions without an entry that works, or the reverse");
  if (works) entry.ns = measure::Median(entry.samples_ns);
  return entry;
}

std::vector<double> LogarithmsIn(const std::string& text) {
  std::vector<double> logarithms;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    int64_t number = 0;
    if (end > i && absl::SimpleAtoi(text.substr(i, end - i), &number))
      logarithms.push_back(std::log2(static_cast<double>(number) + 1));
    i = end + 1;
  }
  return logarithms;
}

// Options without numbers are one apart.
double DistanceOf(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  const std::vector<double> of_a = LogarithmsIn(a), of_b = LogarithmsIn(b);
  double distance = 1;
  for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i)
    distance += std::abs(of_a[i] - of_b[i]);
  return distance;
}

int NearestValue(const KnobProto& knob, const std::string& text) {
  int nearest = 0;
  for (int i = 1; i < knob.values_size(); ++i) {
    if (DistanceOf(knob.values(i), text) <
        DistanceOf(knob.values(nearest), text))
      nearest = i;
  }
  return nearest;
}

}  // namespace

void PackSamples(absl::Span<const double> ns,
                 google::protobuf::RepeatedField<int32_t>& packed) {
  int32_t before = 0;
  for (const double one : ns) {
    const auto step = static_cast<int32_t>(
        std::lround(kStepsOfAnOctave * std::log2(std::max(one, 1.0))));
    packed.Add(step - before);
    before = step;
  }
}

std::vector<double> UnpackSamples(
    const google::protobuf::RepeatedField<int32_t>& packed) {
  std::vector<double> ns;
  int32_t step = 0;
  for (const int32_t difference : packed) {
    step += difference;
    ns.push_back(std::exp2(step / kStepsOfAnOctave));
  }
  return ns;
}

absl::StatusOr<SearchTable> SearchTable::FromProto(
    const SearchTableProto& proto, const search::Features& features) {
  auto data = std::make_shared<Data>();
  data->name = proto.name();
  data->candidate_ns = proto.candidate_ns();
  TW_ASSIGN_OR_RETURN(data->workload, sketch::ParseWorkload(proto.workload()));
  std::vector<sketch::InstructionProto> instructions(
      static_cast<size_t>(proto.instructions_size()));
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (!instructions[i].ParseFromString(
            proto.instructions(static_cast<int>(i))))
      return Damaged("an instruction does not parse");
  }
  for (const TableEntryProto& one : proto.entries()) {
    TW_ASSIGN_OR_RETURN(TableEntry entry, EntryOf(one, instructions));
    TW_ASSIGN_OR_RETURN(entry.features,
                        features(data->workload, entry.schedule));
    const size_t place = data->entries.size();
    if (!data->index.emplace(search::TraceOf(entry.schedule), place).second)
      return Damaged("a trace stands twice");
    if (entry.ns > 0 && (data->best_ns == 0 || entry.ns < data->best_ns))
      data->best_ns = entry.ns;
    data->entries.push_back(std::move(entry));
  }
  size_t points = 1;
  for (const KnobProto& knob : proto.knobs()) {
    if (knob.values().empty() || knob.preferred() < 0 ||
        knob.preferred() >= knob.values_size())
      return Damaged(absl::StrCat("no preferred value of ", knob.name()));
    points *= static_cast<size_t>(knob.values_size());
    data->knobs.push_back(knob);
  }
  if (static_cast<size_t>(proto.entry_of_point_size()) != points)
    return Damaged("points are not the product of the knobs");
  for (const uint32_t place : proto.entry_of_point()) {
    if (place > data->entries.size()) return Damaged("no such entry");
    data->entry_of_point.push_back(static_cast<int>(place) - 1);
  }
  return SearchTable(std::move(data));
}

const TableEntry* SearchTable::preferred() const {
  size_t point = 0;
  for (const KnobProto& knob : data_->knobs) {
    point = point * static_cast<size_t>(knob.values_size()) +
            static_cast<size_t>(knob.preferred());
  }
  const int entry = data_->entry_of_point[point];
  return entry < 0 ? nullptr : &data_->entries[static_cast<size_t>(entry)];
}

const TableEntry* SearchTable::Find(const Fingerprint& trace) const {
  const auto found = data_->index.find(trace);
  return found == data_->index.end() ? nullptr : &data_->entries[found->second];
}

std::vector<Answers> SearchTable::NearestTo(const SearchTable& other,
                                            int count) const {
  std::vector<std::pair<double, size_t>> points;  // by time
  for (size_t point = 0; point < other.data_->entry_of_point.size(); ++point) {
    const int entry = other.data_->entry_of_point[point];
    if (entry < 0) continue;
    const double ns = other.data_->entries[static_cast<size_t>(entry)].ns;
    if (ns > 0) points.emplace_back(ns, point);
  }
  std::sort(points.begin(), points.end());
  std::set<Answers> nearest;
  std::vector<Answers> found;
  for (const auto& [ns, point] : points) {
    if (static_cast<int>(found.size()) == count) break;
    const Answers theirs = AnswersAt(other.data_->knobs, point);
    Answers ours;
    for (const KnobProto& knob : data_->knobs) {
      const auto value = theirs.find(knob.name());
      ours[knob.name()] = absl::StrCat(value == theirs.end()
                                           ? knob.preferred()
                                           : NearestValue(knob, value->second));
    }
    if (nearest.insert(ours).second) found.push_back(std::move(ours));
  }
  return found;
}

search::TaskSpace SearchTable::Space(
    const search::SpaceOptions& options) const {
  const auto write = [data = data_](
                         const sketch::Workload&, const DeviceSpec&,
                         Decider& decider) -> absl::StatusOr<sketch::Schedule> {
    size_t point = 0;
    for (const KnobProto& knob : data->knobs) {
      const int64_t value = decider.DecideNumber(
          knob.name(), tilewright::Space::Integers(0, knob.values_size() - 1),
          [&] { return int64_t{knob.preferred()}; });
      point = point * static_cast<size_t>(knob.values_size()) +
              static_cast<size_t>(value);
    }
    const int entry = data->entry_of_point[point];
    if (entry < 0)
      return absl::InvalidArgumentError("the generator refused this point");
    return data->entries[static_cast<size_t>(entry)].schedule;
  };
  const auto features = [data = data_](const sketch::Workload&,
                                       const sketch::Schedule& schedule)
      -> absl::StatusOr<costmodel::FeatureMatrix> {
    const auto found = data->index.find(search::TraceOf(schedule));
    if (found == data->index.end())
      return absl::NotFoundError("not a schedule of the table");
    return data->entries[found->second].features;
  };
  return search::TaskSpace(data_->workload, {{"table", write}}, DeviceSpec(),
                           features, options);
}

}  // namespace tilewright::bench
