// Runs code that may crash or hang in a child process, and says what became of
// it.
#ifndef TILEWRIGHT_MEASURE_VERIFY_ISOLATED_RUN_H_
#define TILEWRIGHT_MEASURE_VERIFY_ISOLATED_RUN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace tilewright::measure {

struct IsolatedOutcome {
  enum class Kind : uint8_t { kReturned, kFault, kTimeout, kDied };

  Kind kind = Kind::kReturned;
  absl::Status status;  // kReturned: what the work returned; otherwise what
                        // happened, in one line
  int signal = 0;       // kFault, kDied: that ended it, if any
  const void* address = nullptr;  // kFault: what was accessed, if known
  bool is_write = false;          // kFault
};

// Forks; the child runs `work` and ends. The child has a copy of all memory but
// shared mappings, and only the calling thread: `work` must start the threads
// it needs. Status payloads are lost. Unavailable in `status` (kind kDied) if
// no child could be made.
IsolatedOutcome RunIsolated(const std::function<absl::Status()>& work,
                            double timeout_seconds);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_ISOLATED_RUN_H_
