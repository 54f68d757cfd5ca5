// Cases in threads for tests of everything below schedules: groups of every
// family by the generator "simt" in drawn block tiles, and by Ansor's rules.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_SIMT_CASE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_SIMT_CASE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/simt/block_tile.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::lowering {

// The GPU that schedules are made for.
const DeviceSpec& SimtSpec();

// A tile in threads, vectors along its last axis, and steps of the terms.
sketch::BlockTile TileOf(std::vector<int64_t> extents,
                         std::vector<int64_t> threads, int64_t vector,
                         int64_t step);

// The workload under the schedule that the generator prefers for `tile`, but
// for what `answers` decides. InvalidArgument or Unimplemented where it
// refuses.
absl::StatusOr<RandomCase> SimtCase(sketch::Workload workload,
                                    std::optional<sketch::BlockTile> tile,
                                    uint64_t seed, const Answers& answers = {});

inline constexpr std::array<const char*, 4> kSimtFamilies = {"moves", "rows",
                                                             "windows", "any"};
// A group of the family in a drawn tile of 64 threads at most (interpreters run
// every thread), or in the default one if it has several outputs. Errors as
// above. Same seed, same case.
absl::StatusOr<RandomCase> DrawSimtCase(const std::string& family,
                                        uint64_t seed);
// A small workload under a drawn sketch of Ansor's rules for GPUs.
absl::StatusOr<RandomCase> DrawGpuSketchCase(uint64_t seed);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_SIMT_CASE_H_
