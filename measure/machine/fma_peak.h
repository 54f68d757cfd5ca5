// Measures the machine's peak right now: multiply-adds in registers, 14
// accumulators, the widest vectors there are or that are asked for.
#ifndef TILEWRIGHT_MEASURE_MACHINE_FMA_PEAK_H_
#define TILEWRIGHT_MEASURE_MACHINE_FMA_PEAK_H_

#include <string>

namespace tilewright::measure {

// Samples the peak; interleave it with what is measured and take the best.
class FmaPeak {
 public:
  // `threads` loops run side by side, of vectors of at most so many bytes.
  explicit FmaPeak(int threads, int most_vector_bytes = 64)
      : threads_(threads), most_vector_bytes_(most_vector_bytes) {}

  // Runs for about `seconds`. A single thread is timed by its CPU time, several
  // by the wall clock. Returns GFLOP/s and remembers the best.
  double Sample(double seconds = 0.02);
  // As many samples as asked for.
  double Best(int samples = 50);
  double best_gflops() const { return best_gflops_; }

 private:
  int threads_;
  int most_vector_bytes_;
  double best_gflops_ = 0;
};

// "AVX-512", "AVX2", "SSE2 (no FMA)": what the loop uses.
std::string FmaPeakInstructions(int most_vector_bytes = 64);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MACHINE_FMA_PEAK_H_
