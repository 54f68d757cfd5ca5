// How long the outermost cache keeps what nobody here uses: others may fill it
// too, such as neighbours of a virtual machine.
#ifndef TILEWRIGHT_TOOLS_HOST_RETENTION_H_
#define TILEWRIGHT_TOOLS_HOST_RETENTION_H_

#include <cstdint>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tools/host/host_facts.h"

namespace tilewright::tools {

// A quarter of the outermost cache is read, left alone for each of some waits
// up to 64 ms, and read again: the share that is still there is where the time
// of the second read lies between that without a wait and that after reading
// all of `memory`. Medians of several rounds, 1.5 s. Empty if there is no cache
// that `memory` exceeds.
std::vector<HostFacts::Retention> RetentionsOf(const DeviceSpec& structure,
                                               char* memory,
                                               int64_t memory_bytes);

// The wait after which half is gone, between those that were tried; 0 if more
// than that was still there after all of them, or nothing was tried.
double RetentionNs(const std::vector<HostFacts::Retention>& retentions);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_RETENTION_H_
