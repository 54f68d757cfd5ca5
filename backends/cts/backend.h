// Describes a backend to the conformance suite.
#ifndef TILEWRIGHT_BACKENDS_CTS_BACKEND_H_
#define TILEWRIGHT_BACKENDS_CTS_BACKEND_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"

namespace tilewright::cts {

struct Backend {
  std::string name;  // of the test suite: letters, digits and '_'
  std::function<absl::StatusOr<std::unique_ptr<backends::Codegen>>()> codegen;
  // `num_threads` where that means something to the device.
  std::function<absl::StatusOr<std::unique_ptr<backends::Device>>(
      int num_threads)>
      device;
  // Test name -> reason. They are skipped and print the reason; a name that is
  // no test fails the suite.
  std::map<std::string, std::string> unsupported;
};

}  // namespace tilewright::cts

#endif  // TILEWRIGHT_BACKENDS_CTS_BACKEND_H_
