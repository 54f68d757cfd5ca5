// Changes .tw files: their bytes, their header, and, with checksums that fit
// again, the program in them. Code bytes are only changed under the old
// checksum: loading a .tw runs its code, which nothing here can vouch for.
#ifndef TILEWRIGHT_BENCH_FUZZ_MUTATE_TW_H_
#define TILEWRIGHT_BENCH_FUZZ_MUTATE_TW_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::bench {

struct TwMutant {
  std::string bytes;
  std::string change;  // what is changed, on one line
  // Whether code and what the program says of the kernels are as they were: it
  // may be run, and must be safe whatever else is changed.
  bool may_run = false;
};

// Mutant number `index` of the .tw files. Same files and index, same mutant.
TwMutant MakeTwMutant(const std::vector<std::string>& files, int64_t index);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_MUTATE_TW_H_
