// Confines a process that runs candidates: it loses what it does not need.
#ifndef TILEWRIGHT_MEASURE_WORKER_CONFINEMENT_H_
#define TILEWRIGHT_MEASURE_WORKER_CONFINEMENT_H_

#include <cstdint>

#include "absl/status/status.h"

namespace tilewright::measure {

// Limits of this process and its children: no core files, and at most so much
// address space; 0, or where kHasShadowMemory: no limit.
void LimitResources(int64_t address_space_bytes);

// From now on this process and its children may not execute programs, reach the
// network, trace, or change the file system: the call ends them with SIGSYS.
// Opening a file for writing fails with EACCES, unless `may_open_devices` (a
// GPU's driver does). Cannot be undone. Unimplemented if this kernel, or this
// architecture's table of calls, does not allow it.
absl::Status ForbidSystemCalls(bool may_open_devices);

// Exit status of a process that ran out of its address space.
inline constexpr int kOutOfMemoryExit = 112;
// From now on a failing `new` ends this process with it.
void ExitWhenOutOfMemory();

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_CONFINEMENT_H_
