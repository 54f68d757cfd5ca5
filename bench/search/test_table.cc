#include "bench/search/test_table.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "bench/search/search_table.h"
#include "costmodel/feature_matrix.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.h"

namespace tilewright::bench {
namespace {

KnobProto Knob(const std::string& name, int values) {
  KnobProto knob;
  knob.set_name(name);
  for (int i = 0; i < values; ++i) knob.add_values(absl::StrCat(i));
  return knob;
}

}  // namespace

SearchTableProto MadeUpTable(int xs, int ys,
                             const std::function<double(int, int)>& ns) {
  SearchTableProto table;
  table.set_name("made-up");
  table.set_workload(
      "A: f32[4] = placeholder\n"
      "T: f32[4] = compute (i: 4) { A[i] + 1.0 }\n"
      "return T\n");
  table.set_candidate_ns(1e6);
  *table.add_knobs() = Knob("x", xs);
  *table.add_knobs() = Knob("y", ys);
  for (int x = 0; x < xs; ++x) {
    for (int y = 0; y < ys; ++y) {
      const double time_ns = ns(x, y);
      if (time_ns == 0) {
        table.add_entry_of_point(0);
        continue;
      }
      sketch::ScheduleWriter writer;
      writer.Block(absl::StrCat(x, " ", y));
      const sketch::ScheduleProto schedule =
          std::move(writer).Finish().ToProto();
      TableEntryProto& entry = *table.add_entries();
      entry.add_instructions(static_cast<uint32_t>(table.instructions_size()));
      table.add_instructions(schedule.instructions(0).SerializeAsString());
      entry.set_build_ms(2);
      entry.set_overhead_ms(1);
      if (std::isfinite(time_ns)) {
        entry.set_outcome(measure::Measurement::OK);
        PackSamples({time_ns, time_ns}, *entry.mutable_first_pass());
        PackSamples({time_ns, time_ns}, *entry.mutable_second_pass());
      } else {
        entry.set_outcome(measure::Measurement::BUILD_ERROR);
      }
      table.add_entry_of_point(static_cast<uint32_t>(table.entries_size()));
    }
  }
  return table;
}

search::Features MadeUpFeatures() {
  return [](const sketch::Workload&, const sketch::Schedule& schedule)
             -> absl::StatusOr<costmodel::FeatureMatrix> {
    const std::vector<std::string> words =
        absl::StrSplit(schedule.instructions[0].text, ' ');
    std::vector<float> row(words.size());
    for (size_t i = 0; i < words.size(); ++i)
      TW_CHECK(absl::SimpleAtof(words[i], &row[i]));
    costmodel::FeatureMatrix features(static_cast<int>(row.size()));
    features.AddRow(row);
    return features;
  };
}

}  // namespace tilewright::bench
