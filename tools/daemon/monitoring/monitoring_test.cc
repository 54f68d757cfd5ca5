// What is told of a daemon, piece by piece.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/monitoring/activity.h"
#include "tools/daemon/monitoring/event_log.h"
#include "tools/daemon/monitoring/job_history.h"
#include "tools/daemon/monitoring/metrics_text.h"
#include "tools/daemon/monitoring/monitor.h"

namespace tilewright::daemon {
namespace {

using measure::Completion;
using measure::Measurement;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

TEST(ActivityTest, NeighboursBecomeOneWhenThereAreTooMany) {
  Activity activity(1, /*most_points=*/4);
  const auto rates = [&] {
    std::vector<double> rates;
    for (const Activity::Point& point : activity.points())
      rates.push_back(point.results_a_second);
    return rates;
  };
  for (const double rate : {1, 3, 5, 7}) activity.Add({rate, 0, 0});
  EXPECT_THAT(rates(), ElementsAre(1, 3, 5, 7));
  activity.Add({9, 2, 4});
  EXPECT_THAT(rates(), ElementsAre(2, 6, 9)) << "the last is of one second";
  EXPECT_EQ(activity.interval_s(), 2);
  activity.Add({11, 4, 8});
  EXPECT_THAT(rates(), ElementsAre(2, 6, 10));
  EXPECT_EQ(activity.points().back().busy_workers, 3);
  EXPECT_EQ(activity.points().back().parallel, 6);
  // However long it goes on, the mean stays.
  for (int i = 0; i < 1000; ++i) activity.Add({10, 0, 0});
  EXPECT_LE(activity.points().size(), 4u);
  for (size_t i = 1; i < activity.points().size(); ++i)
    EXPECT_EQ(activity.points()[i].results_a_second, 10);
}

measure::TaskEvent Event(int64_t number, Measurement::Outcome outcome,
                         double ns, const std::string& message = "") {
  measure::Record record;
  record.mutable_workload()->set_fingerprint("f");
  record.mutable_workload()->set_text(
      "A: f32[4] = placeholder\nAB: f32[9] = compute {}\n"
      "B: f32[4, 2] = compute {}\nreturn B\n");
  record.mutable_measurement()->set_outcome(outcome);
  record.mutable_measurement()->set_message(message);
  record.mutable_measurement()->mutable_latency()->set_median_ns(ns);
  measure::TaskEvent event;
  event.number = number;
  event.result = record.SerializeAsString();
  return event;
}

TEST(JobHistoryTest, KeepsWhatBecameFasterAndWhyOthersFailed) {
  JobHistory history;
  history.Add(Event(1, Measurement::OK, 50));
  history.Add(Event(2, Measurement::OK, 60));
  history.Add(Event(5, Measurement::TIMEOUT, 0, "took 3 s"));
  history.Add(Event(6, Measurement::TIMEOUT, 0, "took 4 s"));
  history.Add(Event(7, Measurement::OK, 40));
  measure::TaskEvent given_up;
  given_up.number = 9;
  given_up.given_up = true;
  history.Add(given_up);
  measure::TaskEvent damaged = given_up;
  damaged.number = 10;
  damaged.given_up = false;
  damaged.result = "\x0a\xff";
  history.Add(damaged);
  EXPECT_EQ(history.last_event(), 10);
  ASSERT_THAT(history.curves(), SizeIs(1));
  const WorkloadCurve& curve = history.curves().at("f");
  EXPECT_EQ(curve.title, "B f32[4, 2]");
  EXPECT_EQ(curve.measured, 5);
  EXPECT_EQ(curve.failed, 2);
  ASSERT_THAT(curve.steps, SizeIs(2));
  EXPECT_EQ(curve.steps[1].measured, 5);
  EXPECT_EQ(curve.steps[1].best_ns, 40);
  EXPECT_EQ(history.failures().at("TIMEOUT").count, 2);
  EXPECT_EQ(history.failures().at("TIMEOUT").first_message, "took 3 s");
  EXPECT_EQ(history.failures().at("GIVEN_UP").count, 1);
  EXPECT_EQ(history.failures().at("DAMAGED").count, 1);
}

TEST(JobHistoryTest, TitlesOfTextsThatAreNone) {
  EXPECT_EQ(TitleOfWorkload(""), "");
  EXPECT_EQ(TitleOfWorkload("return"), "");
  EXPECT_EQ(TitleOfWorkload("return X"), "X");
  EXPECT_EQ(TitleOfWorkload("X: f32[2] = p\nY: f32[3] = p\nreturn Y, X"),
            "Y f32[3]");
}

TEST(EventLogTest, LinesOfJson) {
  FakeClock clock(1'700'000'000'250'000'000);
  const std::string path = testing::TempDir() + "/log.jsonl";
  std::remove(path.c_str());
  {
    TW_ASSERT_OK_AND_ASSIGN(const auto log, EventLog::Open(path, clock));
    log->Write(EventLog::Level::kWarning, "worker_failed",
               {{"worker", "a \"b\"\n"}, {"tasks", int64_t{7}}});
    log->Write(EventLog::Level::kInfo, "ended", {});
    EXPECT_THAT(log->Recent(), SizeIs(2));
    EXPECT_THAT(log->Recent()[0], HasSubstr("ended"));
  }
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(),
            R"({"time": "2023-11-14T22:13:20.250Z", "level": "warning", )"
            R"("event": "worker_failed", "worker": "a \"b\"\n", "tasks": 7})"
            "\n"
            R"({"time": "2023-11-14T22:13:20.250Z", "level": "info", )"
            R"("event": "ended"})"
            "\n");
  EXPECT_THAT(EventLog::Open("/nowhere/log", clock),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/log")));
}

class MonitorTest : public testing::Test {
 protected:
  FakeClock clock_{kSecond};
  std::unique_ptr<EventLog> log_ = *EventLog::Open("", clock_);
  Monitor monitor_{*log_, clock_};

  measure::LeaseOffer Offer(const std::string& name, int tasks) {
    measure::LeaseOffer offer;
    offer.name = name;
    offer.tasks.resize(static_cast<size_t>(tasks));
    return offer;
  }
  void Deliver(const std::string& lease, Completion completion,
               Measurement::Outcome outcome = Measurement::OK,
               Measurement::Fault fault = Measurement::FAULT_UNSPECIFIED) {
    measure::Record record;
    record.set_lease(lease);
    record.mutable_device()->set_spec("epyc");
    record.mutable_measurement()->set_outcome(outcome);
    record.mutable_measurement()->set_fault(fault);
    record.mutable_measurement()->mutable_method()->set_degree_of_parallelism(
        3);
    monitor_.OnResult(record, completion);
  }
};

TEST_F(MonitorTest, AWorkerComesWorksAndGoes) {
  monitor_.OnLease("w", "cpu.1", Offer("", 0));
  monitor_.OnLease("w", "cpu.1", Offer("l-1", 2));
  Deliver("l-1", Completion::kAccepted);
  monitor_.Sample();
  MonitorStats stats = monitor_.stats();
  EXPECT_EQ(stats.leases, 1);
  EXPECT_EQ(stats.results_a_second, 1);
  EXPECT_EQ(stats.activity.points().back().parallel, 3);
  EXPECT_EQ(stats.workers["w"].leased, 1);
  EXPECT_EQ(stats.workers["w"].device, "epyc");
  Deliver("l-1", Completion::kRepeated);
  Deliver("l-1", Completion::kAccepted, Measurement::TIMEOUT,
          Measurement::CANDIDATE);
  Deliver("of nobody that is known", Completion::kAccepted);
  monitor_.Sample();
  stats = monitor_.stats();
  EXPECT_EQ(stats.workers["w"].lease, "");
  EXPECT_EQ(stats.workers["w"].results, 2);
  EXPECT_EQ(stats.workers["w"].failures, 1);
  EXPECT_EQ(stats.completions["accepted"], 3);
  EXPECT_EQ(stats.completions["repeated"], 1);
  EXPECT_EQ(stats.outcomes["TIMEOUT"], 1);
  EXPECT_EQ(stats.activity.points().back().busy_workers, 0);
  clock_.AdvanceIdle(29 * kSecond);
  monitor_.Sample();
  EXPECT_THAT(monitor_.stats().workers, SizeIs(1));
  clock_.AdvanceIdle(2 * kSecond);
  monitor_.Sample();
  EXPECT_THAT(monitor_.stats().workers, IsEmpty());
  EXPECT_THAT(log_->Recent()[0], HasSubstr("worker_gone"));
  EXPECT_THAT(log_->Recent()[1], HasSubstr("worker_came"));
}

TEST_F(MonitorTest, ALeaseThatIsGivenBackOrReplacedIsNoMore) {
  monitor_.OnLease("w", "cpu.1", Offer("l-1", 2));
  monitor_.OnGiveBack("l-1", /*lost=*/true);
  EXPECT_EQ(monitor_.stats().workers["w"].leased, 0);
  EXPECT_THAT(log_->Recent()[0], HasSubstr("worker_failed"));
  monitor_.OnLease("w", "cpu.1", Offer("l-2", 5));
  monitor_.OnLease("w", "cpu.1", Offer("l-3", 1));  // l-2 ran out
  Deliver("l-2", Completion::kStale);
  EXPECT_EQ(monitor_.stats().workers["w"].leased, 1);
  EXPECT_EQ(monitor_.stats().workers["w"].lease, "l-3");
  clock_.AdvanceIdle(20 * kSecond);
  monitor_.OnHeartbeat("l-3");
  clock_.AdvanceIdle(20 * kSecond);
  monitor_.Sample();
  EXPECT_THAT(monitor_.stats().workers, SizeIs(1)) << "it was heard of";
}

TEST_F(MonitorTest, RefusalsAreCountedAllAndToldNowAndThen) {
  const grpc::Status refused(grpc::StatusCode::PERMISSION_DENIED, "no");
  for (int i = 0; i < 50; ++i)
    monitor_.OnCall("/tilewright.daemon.Workers/Lease", refused);
  monitor_.OnCall("/tilewright.daemon.Jobs/Watch", grpc::Status::CANCELLED);
  EXPECT_THAT(log_->Recent(), SizeIs(1));
  clock_.AdvanceIdle(11 * kSecond);
  monitor_.OnCall("/tilewright.daemon.Workers/Lease", refused);
  EXPECT_THAT(log_->Recent(), SizeIs(2));
  // A peer may call what it likes.
  for (int i = 0; i < 5000; ++i) {
    monitor_.OnCall("/x/" + std::to_string(i), refused);
    monitor_.OnCall("/tilewright.daemon." + std::to_string(i), refused);
  }
  const MonitorStats stats = monitor_.stats();
  EXPECT_EQ(stats.calls.at({"Workers/Lease", "PERMISSION_DENIED"}), 51);
  EXPECT_LE(stats.calls.size(), 202u);
  int64_t all = 0;
  for (const auto& [call, count] : stats.calls) all += count;
  EXPECT_EQ(all, 52 + 10'000);
}

TEST_F(MonitorTest, ADeviceThatFailsIsAnEvent) {
  monitor_.OnLease("w", "cpu.1", Offer("l-1", 2));
  Deliver("l-1", Completion::kAccepted, Measurement::RUN_ERROR,
          Measurement::DEVICE);
  EXPECT_THAT(log_->Recent()[0], HasSubstr("device_failed"));
}

TEST_F(MonitorTest, MetricsAreInPrometheusFormat) {
  monitor_.OnLease("a\"b", "cpu.1", Offer("l-1", 2));
  Deliver("l-1", Completion::kAccepted);
  monitor_.OnCall("/tilewright.daemon.Jobs/OpenJob", grpc::Status::OK);
  Gauges gauges;
  gauges.waiting_tasks = 12'345'678;
  const std::string text = MetricsText(monitor_.stats(), gauges);
  EXPECT_THAT(text, HasSubstr("# TYPE tilewrightd_waiting_tasks gauge\n"
                              "tilewrightd_waiting_tasks 12345678\n"));
  EXPECT_THAT(text, HasSubstr("tilewrightd_results_total{outcome=\"ok\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tilewrightd_calls_total{method=\"Jobs/OpenJob\","
                              "code=\"OK\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{worker=\"a\\\"b\"} 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("e+")));
  // Every line is a comment, or a name, perhaps labels, and a number.
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    EXPECT_TRUE(testing::internal::RE::FullMatch(
        line,
        R"(# (HELP|TYPE) tilewrightd_[a-z_]+ .+|tilewrightd_[a-z_]+(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? [-0-9.]+)"))
        << line;
  }
  EXPECT_GT(ResidentBytes(), 1 << 20);
  EXPECT_GE(OpenDescriptors(), 3);
}

}  // namespace
}  // namespace tilewright::daemon
