// A device that several kernels share, in virtual time: how long each takes
// depends on what else runs. Deterministic; for tests and simulations of
// measuring in parallel.
#ifndef TILEWRIGHT_BACKENDS_FAKE_DEVICE_SHARED_DEVICE_H_
#define TILEWRIGHT_BACKENDS_FAKE_DEVICE_SHARED_DEVICE_H_

#include <optional>
#include <vector>

namespace tilewright::fake {

// The model's constants (design: measuring.md, "The fake device's constants").
// Fixed, so that the device cannot be tuned to what it should show.
struct DeviceConstants {
  double launch_ns = 5e3;  // between two executions, on the host
  double context_start_ns = 0.35e9;
  double interference = 0.02;   // per kernel that runs
  double outlier_share = 0.01;  // of executions
  double outlier_factor = 3;
};

// Shares of the device that a running kernel uses: its compute units, its
// bandwidth.
struct Demand {
  double compute = 0;    // u
  double bandwidth = 0;  // v
};

// How much longer than its base latency a kernel takes while these run, itself
// among them: max(1, sum u, sum v) (1 + 0.02 N).
double Slowdown(double sum_compute, double sum_bandwidth, int kernels,
                const DeviceConstants& constants = {});

// Executions of kernels: the slowdown is the same for all that run, and changes
// whenever one starts or ends. Times are ns since the device was made.
class SharedDevice {
 public:
  using KernelId = int;

  explicit SharedDevice(const DeviceConstants& constants = {})
      : constants_(constants) {}

  double now_ns() const { return now_ns_; }
  int running() const { return static_cast<int>(kernels_.size()); }

  // Starts an execution now; an infinite latency never ends.
  KernelId Start(const Demand& demand, double base_latency_ns);
  // Kills one. REQUIRES: it runs.
  void Stop(KernelId kernel);

  struct Completion {
    KernelId kernel = 0;
    double time_ns = 0;
  };
  // The kernel that ends next if nothing else happens; none if nothing runs.
  std::optional<Completion> Next() const;
  // Lets time pass up to then, at most up to Next(), which it does not end.
  void AdvanceTo(double time_ns);
  // Lets time pass up to Next(), and ends it. REQUIRES: there is one.
  Completion Finish();

 private:
  struct Kernel {
    KernelId id;
    Demand demand;
    // The value of work_ns_ at which it ends.
    double end_work_ns;
  };
  double CurrentSlowdown() const;

  DeviceConstants constants_;
  double now_ns_ = 0;
  // Base latency that each kernel running since time 0 would have completed:
  // grows by dt / slowdown.
  double work_ns_ = 0;
  KernelId next_id_ = 0;
  std::vector<Kernel> kernels_;
  double sum_compute_ = 0, sum_bandwidth_ = 0;
};

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_BACKENDS_FAKE_DEVICE_SHARED_DEVICE_H_
