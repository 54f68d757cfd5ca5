// kill -9 of a process that writes, for tests of what survives it.
#ifndef TILEWRIGHT_MEASURE_RECORD_KILL_WRITER_H_
#define TILEWRIGHT_MEASURE_RECORD_KILL_WRITER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>

#include "absl/status/status.h"

namespace tilewright::measure {

// Runs `write` in a child, which tells the number of each batch that was
// acknowledged by writing it, a uint64_t, to the pipe it is given. Kills the
// child after `acknowledged_before` of them and `delay_ns` more, and adds all
// that it told. Gives the child's id; a fatal failure if it ended by itself.
void KillWriter(const std::function<absl::Status(int pipe)>& write,
                int acknowledged_before, int64_t delay_ns,
                std::set<uint64_t>& acknowledged, pid_t& child);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_KILL_WRITER_H_
