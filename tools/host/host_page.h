#ifndef TILEWRIGHT_TOOLS_HOST_HOST_PAGE_H_
#define TILEWRIGHT_TOOLS_HOST_HOST_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "backends/spec/device_spec.pb.h"
#include "tools/host/host_facts.h"

namespace tilewright::tools {

// A page that needs nothing else: plots of the facts, and the levels of `spec`,
// which is MeasuredSpec of them.
std::string HostPage(const HostFacts& facts, const DeviceSpec& spec,
                     absl::string_view producer);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_HOST_PAGE_H_
