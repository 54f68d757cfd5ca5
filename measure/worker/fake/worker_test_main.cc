// main of the tests whose binaries start workers: of themselves, again.
#include "gtest/gtest.h"
#include "measure/worker/fake/fake_worker.h"
#include "measure/worker/run_worker.h"

int main(int argc, char** argv) {
  tilewright::measure::RunWorkerIfAsked(
      argc, argv,
      {tilewright::fake::FakeWorker(), tilewright::fake::FakeGpuWorker()});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
