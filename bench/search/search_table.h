// A table that can be replayed: the product of a few values of some decisions
// of one workload, all of it measured once (design: measuring.md, "Tables that
// can be replayed"). A space over it draws, mutates and crosses candidates as
// any other does, and their features are those of the schedules that were
// measured; neither a generator nor a machine is needed.
//
//   TW_ASSIGN_OR_RETURN(const SearchTable table,
//                       SearchTable::FromProto(proto,
//                       ReplayedStoreFeatures()));
//   search::TaskSpace space = table.Space({});
#ifndef TILEWRIGHT_BENCH_SEARCH_SEARCH_TABLE_H_
#define TILEWRIGHT_BENCH_SEARCH_SEARCH_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "bench/search/search_table.pb.h"
#include "costmodel/feature_matrix.h"
#include "measure/record/record.pb.h"
#include "search/space.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {

struct TableEntry {
  sketch::Schedule schedule;
  costmodel::FeatureMatrix features;
  measure::Measurement::Outcome outcome = measure::Measurement::OK;
  double build_ns = 0, overhead_ns = 0;
  std::vector<double> samples_ns;  // of both passes; none if it failed
  double ns = 0;                   // their median: what it really takes
};

class SearchTable {
 public:
  // DataLoss says what is wrong with the proto; an error of `features` names
  // the entry.
  static absl::StatusOr<SearchTable> FromProto(
      const SearchTableProto& proto, const search::Features& features);

  const std::string& name() const { return data_->name; }
  const sketch::Workload& workload() const { return data_->workload; }
  const std::vector<TableEntry>& entries() const { return data_->entries; }
  // CPU time of making one candidate, on average, when the table was made.
  double candidate_ns() const { return data_->candidate_ns; }
  // Time of the fastest entry. 0 if none works.
  double best_ns() const { return data_->best_ns; }
  // The point that the generator prefers; null if it is not in the table.
  const TableEntry* preferred() const;
  // Null if the trace is not in the table.
  const TableEntry* Find(const Fingerprint& trace) const;

  // All of its points, one decision a knob: the index of its value. May outlive
  // the table.
  search::TaskSpace Space(const search::SpaceOptions& options) const;
  // Answers of that space: its points nearest to the `count` fastest of another
  // table, each once. Values are near whose numbers are, by their logarithms;
  // a knob that the other table lacks has its preferred value.
  std::vector<Answers> NearestTo(const SearchTable& other, int count) const;

 private:
  struct Data {
    std::string name;
    sketch::Workload workload;
    std::vector<KnobProto> knobs;
    std::vector<TableEntry> entries;
    std::vector<int> entry_of_point;  // -1: refused
    std::map<Fingerprint, size_t> index;
    double candidate_ns = 0, best_ns = 0;
  };
  explicit SearchTable(std::shared_ptr<const Data> data)
      : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

// Executions as the proto has them, and back; within 0.04 %.
void PackSamples(absl::Span<const double> ns,
                 google::protobuf::RepeatedField<int32_t>& packed);
std::vector<double> UnpackSamples(
    const google::protobuf::RepeatedField<int32_t>& packed);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_SEARCH_TABLE_H_
