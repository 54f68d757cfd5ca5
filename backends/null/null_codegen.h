// The code half of a backend that does nothing yet: where a new one starts. See
// README.md.
#ifndef TILEWRIGHT_BACKENDS_NULL_NULL_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_NULL_NULL_CODEGEN_H_

#include <memory>

#include "backends/codegen.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::null {

// Every method returns Unimplemented, but spec(), which returns `spec`.
std::unique_ptr<backends::Codegen> CreateNullCodegen(const DeviceSpec& spec);

}  // namespace tilewright::null

#endif  // TILEWRIGHT_BACKENDS_NULL_NULL_CODEGEN_H_
