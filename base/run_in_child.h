// Runs what may end its process in a process of its own.
#ifndef TILEWRIGHT_BASE_RUN_IN_CHILD_H_
#define TILEWRIGHT_BASE_RUN_IN_CHILD_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace tilewright {

// What `work` returns in a forked child, or its error. Aborted, naming `what`
// and the signal, if the child is ended by one; DeadlineExceeded after
// `limit_seconds`; ResourceExhausted if there is no child to be had. Nothing
// that `work` changes or prints is seen here. Thread-safe.
absl::StatusOr<std::string> RunInChild(
    const std::string& what, unsigned limit_seconds,
    const std::function<absl::StatusOr<std::string>()>& work);

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_RUN_IN_CHILD_H_
