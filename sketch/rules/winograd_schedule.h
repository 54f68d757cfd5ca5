// The default schedule of a convolution by Winograd
// (tilegraph/rewrite/winograd.h): input transform, products and output
// transform with its epilogue run for one block of tiles after the other, so
// that what passes between them stays in the second-level cache.
//
// A convolution that is marked for it takes two decisions first, which may
// change bits:
//
//   form        direct or winograd; the mark stands where that is faster
//   winograd.m  rows and columns of a tile of outputs, by estimated time
//
// A task is a few rows of tiles times some output channels. Everything is
// vectorised along channels; the products are register-tiled like any
// contraction. Decided are, beside "tile" (columns of tiles are its rows, rows
// of tiles its outer rows), the steps of a task (tile_decisions.h), "unroll"
// and "prefetch" (annotations.h):
//
//   block.vectors  register tiles along the channels whose products are there
//                  at a time; the input is transformed once for all of a task
//   input.layout   how the transformed input lies: as planes of vectors of
//                  channels, plain
//   input.prefetch  vectors of channels that its transform brings the data
//                  closer ahead of its use; of planes alone
//   order          loops of the products over the steps of a block, and over
//                  all positions in transformed tiles
//   pack           how the transformed filters lie: by block of channels, in
//                  panels of a register tile of each position, of all, plain
#ifndef TILEWRIGHT_SKETCH_RULES_WINOGRAD_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_WINOGRAD_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"

namespace tilewright::sketch {

// Whether the group has one: it is a chain around a convolution that is marked
// and has room for tiles.
bool OffersWinograd(const Workload& workload);

// Decides the form. REQUIRES: OffersWinograd.
bool DecideWinograd(Decider& decider);

// Padding in the same group is inlined into the input transform; for F(4, 3)
// that would be too large an expression: store it. REQUIRES: OffersWinograd.
absl::StatusOr<Schedule> WinogradSchedule(const Workload& workload,
                                          const DeviceSpec& spec,
                                          Decider& decider);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINOGRAD_SCHEDULE_H_
