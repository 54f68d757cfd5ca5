// Loops that do nothing but arithmetic in registers, one per type that the CPU
// has instructions for: what bounds every kernel of that type.
#ifndef TILEWRIGHT_MEASURE_MACHINE_PEAK_LOOPS_H_
#define TILEWRIGHT_MEASURE_MACHINE_PEAK_LOOPS_H_

#include <string>
#include <vector>

namespace tilewright::measure {

struct PeakLoop {
  std::string dtype;         // of the operands: "f32", "f64", "bf16", "i8"
  std::string instructions;  // "AVX-512", "AVX2", "SSE2 (no FMA)"
  // One batch: tens of microseconds of independent multiply-adds. The result
  // keeps the loop alive.
  float (*batch)();
  double ops_per_batch = 0;  // a multiply-add counts two
};

// The loops that this CPU can run, the widest instructions of each type; f32
// first. `most_vector_bytes`: 32 leaves AVX-512 out, 16 AVX2 and FMA too.
std::vector<PeakLoop> PeakLoops(int most_vector_bytes = 64);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MACHINE_PEAK_LOOPS_H_
