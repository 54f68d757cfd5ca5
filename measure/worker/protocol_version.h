// The version of the messages between those who want something measured and
// those who measure it. Numbers are raised when an older peer would
// misunderstand a message; whoever meets another number refuses to work.
#ifndef TILEWRIGHT_MEASURE_WORKER_PROTOCOL_VERSION_H_
#define TILEWRIGHT_MEASURE_WORKER_PROTOCOL_VERSION_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace tilewright::measure {

inline constexpr int32_t kProtocolVersion = 2;

// FailedPrecondition unless the peer's version is ours: one line that names
// both and says what to do. `peer`: "the worker". A peer from before there were
// versions has 0.
absl::Status CheckProtocolVersion(int32_t version, std::string_view peer);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_PROTOCOL_VERSION_H_
