// Measuring that loses nothing: every result is in a store before anything else
// happens with it, and what the store has of the same run already is answered
// from there. A run that was interrupted is repeated with its seed: it proposes
// the same candidates, has the same answers, and goes on where it was.
#ifndef TILEWRIGHT_SEARCH_RECORDED_MEASURER_H_
#define TILEWRIGHT_SEARCH_RECORDED_MEASURER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::search {

class RecordedMeasurer : public measure::Measurer {
 public:
  // `header`: device, versions and seed of the records. All must outlive it.
  RecordedMeasurer(measure::Measurer& measurer, measure::Store& store,
                   measure::Record header, Clock& clock)
      : measurer_(measurer),
        store_(store),
        header_(std::move(header)),
        clock_(clock) {}

  // Records a comparison of candidates (interleaved_rounds.h), failures too:
  // all of it or, with an error of the store, nothing. As many schedules as
  // measurements.
  absl::Status KeepComparison(
      const measure::WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      absl::Span<const measure::Measurement> measurements);

  // Results so far that were measured, and that were in the store.
  int measured() const { return measured_; }
  int replayed() const { return replayed_; }

 protected:
  // The store's error, once what was begun is measured. What says nothing about
  // its candidate (NOT_MEASURED, faults of device or infrastructure) is not
  // recorded. Records count if workload, device, versions and seed are these.
  // What is measured alone is recorded, but never answered from the store:
  // final comparisons.
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override;

 private:
  absl::StatusOr<std::vector<measure::Measurement>> MeasureAndKeep(
      const measure::MeasureBatch& batch);

  // By instructions, as the store had them first.
  using Known = std::map<std::string, measure::Measurement>;
  absl::StatusOr<const Known*> KnownOf(const measure::WorkloadKey& workload);
  measure::Record RecordOf(const measure::WorkloadKey& workload,
                           const sketch::ScheduleProto& schedule,
                           const measure::Measurement& measurement) const;
  void Keep(const measure::WorkloadKey& workload,
            const sketch::ScheduleProto& schedule,
            const measure::Measurement& measurement);

  measure::Measurer& measurer_;
  measure::Store& store_;
  const measure::Record header_;
  Clock& clock_;
  std::map<std::string, Known> known_;  // by workload text
  absl::Status trouble_;                // the store's first error
  int measured_ = 0, replayed_ = 0;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_RECORDED_MEASURER_H_
