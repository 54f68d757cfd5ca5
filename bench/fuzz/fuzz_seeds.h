// The valid models that mutants are made of.
#ifndef TILEWRIGHT_BENCH_FUZZ_FUZZ_SEEDS_H_
#define TILEWRIGHT_BENCH_FUZZ_FUZZ_SEEDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace tilewright::bench {

struct FuzzSeed {
  std::string name;  // path below the folder, or "network 17"
  onnx::ModelProto model;
};

// Every .onnx file below the folders, in the order of its path, that is no
// larger than `max_bytes` and that the importer accepts. Folders that do not
// exist are passed over.
std::vector<FuzzSeed> ReadFuzzSeeds(const std::vector<std::string>& folders,
                                    int64_t max_bytes);

// Drawn networks, of the blocks that models are made of
// (frontends/onnx/testing/random_network.h). Equal arguments, equal networks.
std::vector<FuzzSeed> RandomNetworkSeeds(int64_t count);

struct FuzzMutant {
  onnx::ModelProto model;
  std::string origin;  // the seed's name
  std::string change;
};

// Mutant number `index`. Same seeds and index, same mutant.
FuzzMutant MakeMutant(const std::vector<FuzzSeed>& seeds, int64_t index);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_FUZZ_SEEDS_H_
