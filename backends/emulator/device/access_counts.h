// What a GPU's memory would do in a launch, place by place of the kernel's
// text: sectors of memory and turns of the shared memory's banks, as
// tilegraph/gpu/hardware/warp_access.h says.
//
// Lanes of a warp, 32 threads side by side, make one access if they are at the
// same place of the text, in the same iteration of every loop around it,
// between the same barriers and exchanges: as if they met again behind every
// statement. Elements of a vector that is not aligned are accesses of their
// own. A kernel without threads has a lane a block. Counted is what the text
// says: a GPU's compiler may keep in registers what it reads twice, or join
// what lies side by side.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_ACCESS_COUNTS_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_ACCESS_COUNTS_H_

#include <string>
#include <vector>

#include "backends/emulator/module_abi.h"

namespace tilewright::emulator {

struct CountedPlace {
  PlaceCount count;
  std::string text;  // of its line
};

struct KernelCounts {
  std::string kernel;
  std::vector<CountedPlace> places;  // by line and column

  // Of all places.
  PlaceCount Total() const;
};

// For people: a line each for the whole kernel and for every line of its text
// whose accesses take more sectors or turns than they might, worst first.
std::string ToString(const KernelCounts& counts);

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_ACCESS_COUNTS_H_
