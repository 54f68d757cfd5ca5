// The points of a table: a few values of each decision that a generator asks
// for by its preferred schedule, all of them together.
#ifndef TILEWRIGHT_BENCH_SEARCH_TABLE_GRID_H_
#define TILEWRIGHT_BENCH_SEARCH_TABLE_GRID_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "bench/search/search_table.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {

// At most `points` of them: decisions with more values get more, in proportion
// to the logarithms of their numbers. The preferred value of each is among
// them, half of the others are near one that is. Errors are the generator's.
absl::StatusOr<std::vector<KnobProto>> ChooseKnobs(
    const sketch::Generator& generator, const sketch::Workload& workload,
    const DeviceSpec& spec, int64_t points, uint64_t seed);

// The number of points, and the answers of one: the last knob varies fastest.
size_t PointsOf(const std::vector<KnobProto>& knobs);
Answers AnswersAt(const std::vector<KnobProto>& knobs, size_t point);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_TABLE_GRID_H_
