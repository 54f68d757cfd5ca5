// The conformance suite: what every backend must do, as tests. A backend's own
// test registers itself and runs; what it cannot do it lists with reasons.
//
//   int main(int argc, char** argv) {
//     testing::InitGoogleTest(&argc, argv);
//     tilewright::cts::RegisterConformanceTests(MyBackend());
//     return RUN_ALL_TESTS();
//   }
//
// Kernels are written by hand in the scalar tier and compared with its
// interpreter, bit for bit (all NaNs are equal). On devices with unified memory
// every buffer ends, in one run, and begins, in another, at an inaccessible
// page.
#ifndef TILEWRIGHT_BACKENDS_CTS_CONFORMANCE_H_
#define TILEWRIGHT_BACKENDS_CTS_CONFORMANCE_H_

#include <string>
#include <vector>

#include "backends/cts/backend.h"

namespace tilewright::cts {

// Registers one test per name of ConformanceTestNames(), in a suite of the
// backend's name. Call before RUN_ALL_TESTS.
void RegisterConformanceTests(const Backend& backend);

// All tests, in order.
std::vector<std::string> ConformanceTestNames();

}  // namespace tilewright::cts

#endif  // TILEWRIGHT_BACKENDS_CTS_CONFORMANCE_H_
