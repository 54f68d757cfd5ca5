// Measures candidates of a table without a machine: their outcomes are the
// table's, their executions are drawn from those that it holds, and time passes
// on a clock that the caller reads.
#ifndef TILEWRIGHT_BENCH_SEARCH_TABLE_MEASURER_H_
#define TILEWRIGHT_BENCH_SEARCH_TABLE_MEASURER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/search/search_table.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/measurer.h"

namespace tilewright::bench {

class TableMeasurer : public measure::Measurer {
 public:
  // One that was measured, in order: when that was done, what was seen, and
  // what it really takes. Infinity if it failed.
  struct Seen {
    double seconds;
    double seen_ns, true_ns;
  };

  // `table` must outlive it. `search_ns`, if set, is asked before each batch
  // how long it took to find: that passes as well.
  TableMeasurer(const SearchTable& table,
                const measure::AdaptiveEvaluatorOptions& repeats, uint64_t seed,
                std::function<double()> search_ns = nullptr);

  const std::vector<Seen>& seen() const { return seen_; }
  Clock& clock() { return clock_; }

 protected:
  // NotFound for a schedule that the table has not. A batch is built first, by
  // two builders; then candidates are measured one after the other.
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override;

 private:
  double Execute(const TableEntry& entry);

  const SearchTable& table_;
  const measure::AdaptiveEvaluatorOptions repeats_;
  const std::function<double()> search_ns_;
  Random random_;
  FakeClock clock_;
  std::vector<Seen> seen_;
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_TABLE_MEASURER_H_
