// Tilewright beside itself: the case with the schedules that records found
// better than the rules'.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "bench/kernels/own_case.h"
#include "bench/kernels/peer.h"
#include "compiler/records/record_source.h"
#include "measure/record/store.h"

namespace tilewright::bench {
namespace {

class TunedKernel : public PeerKernel {
 public:
  explicit TunedKernel(std::unique_ptr<OwnCase> own) : own_(std::move(own)) {}

  absl::Status Run() override {
    TW_ASSIGN_OR_RETURN(const int64_t ns, own_->RunNs());
    times_us_.push_back(static_cast<double>(ns) * 1e-3);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<double>> OwnTimesUs() override {
    return std::move(times_us_);
  }

 private:
  std::unique_ptr<OwnCase> own_;
  std::vector<double> times_us_;
};

class Tuned : public Peer {
 public:
  Tuned(std::unique_ptr<measure::Store> store, int threads, TargetClass target)
      : store_(std::move(store)),
        threads_(threads),
        target_(std::move(target)) {}
  std::string name() const override { return "tuned"; }
  absl::StatusOr<std::unique_ptr<PeerKernel>> Prepare(
      const Operator& op) override {
    RecordSource records(*store_, "records");
    TW_ASSIGN_OR_RETURN(
        std::unique_ptr<OwnCase> own,
        OwnCase::Create(CaseModel(op), threads_, target_, &records));
    TW_RETURN_IF_ERROR(own->Check());
    return std::make_unique<TunedKernel>(std::move(own));
  }

 private:
  std::unique_ptr<measure::Store> store_;
  const int threads_;
  const TargetClass target_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Peer>> OpenTuned(const std::string& records_path,
                                                int threads,
                                                const TargetClass& target) {
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<measure::Store> store,
      measure::Store::Open(records_path, {/*read_only=*/true, ""}));
  return std::make_unique<Tuned>(std::move(store), threads, target);
}

}  // namespace tilewright::bench
