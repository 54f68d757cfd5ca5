// How fast this machine moves bytes at most, right now: the best of loops that
// only read, that copy, and that copy past the caches.
#ifndef TILEWRIGHT_MEASURE_MACHINE_MEMORY_PEAK_H_
#define TILEWRIGHT_MEASURE_MACHINE_MEMORY_PEAK_H_

#include <cstdint>
#include <memory>

#include "measure/machine/memory_loops.h"

namespace tilewright::measure {

// Samples the bandwidth of one working set; its size decides which level of
// memory answers. Interleave it with what is measured and take the best.
class MemoryPeak {
 public:
  // `threads` loops side by side, each over its own part of the working set
  // (at least a page). The memory is touched here and kept.
  MemoryPeak(int threads, int64_t working_set_bytes);

  // Runs each loop for about a third of `seconds` and returns the best GB/s
  // (10^9 bytes, read plus written). A single thread is timed by its CPU time,
  // several by the wall clock.
  double Sample(double seconds = 0.03);
  // The C library's memcpy from one half of the working set to the other,
  // timed the same way.
  double SampleMemcpy(double seconds = 0.01);
  double best_gbytes_per_s() const { return best_gbytes_per_s_; }

 private:
  int threads_;
  int64_t part_bytes_;  // of one thread
  std::unique_ptr<char, FreeMemory> memory_;
  double best_gbytes_per_s_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MACHINE_MEMORY_PEAK_H_
