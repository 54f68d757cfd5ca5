// A daemon, its workers and its clients in one process, over a real socket.
#include <grpcpp/generic/generic_stub.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/task_id.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon_measurer.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/file_lock.h"
#include "tools/daemon/server.h"
#include "tools/daemon/service.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

using ::absl::StatusCode;
using measure::Measurement;
using measure::Method;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Time passes when a test says so.
class ManualClock : public Clock {
 public:
  int64_t WallNs() override { return now_ns_; }
  int64_t ThreadCpuNs() override { return 0; }
  int64_t UnixNs() override { return now_ns_; }
  void Advance(int64_t ns) { now_ns_ += ns; }

 private:
  std::atomic<int64_t> now_ns_{1'700'000'000'000'000'000};
};

// A worker on a thread.
class TestWorker {
 public:
  TestWorker(const std::string& address, ManualClock& clock)
      : channel_(*ConnectTo(address)), clock_(clock) {}
  ~TestWorker() { Stop(); }

  void Start(bool until_idle = false) {
    WorkerOptions options;
    options.name = "test";
    options.made = FakeMade();
    options.most_tasks = 4;
    options.wait_s = 0.2;
    if (until_idle) options.most_idle_s = 0;
    thread_ = std::thread([this, options] {
      status = RunWorker(
          options, channel_,
          [this](Method::Cache cache) {
            if (asked.empty() || asked.back() != cache) asked.push_back(cache);
            return &measurer;
          },
          clock_, stop_);
    });
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  void Stop() {
    stop_.Cancel();
    Join();
  }

  FakeMeasurer measurer;
  std::vector<Method::Cache> asked;  // one after the other
  absl::Status status;               // once it has ended

 private:
  std::shared_ptr<grpc::Channel> channel_;
  ManualClock& clock_;
  Cancellation stop_;
  std::thread thread_;
};

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    char folder[] = "/tmp/tilewrightd_XXXXXX";  // TempDir may be too long
    folder_ = mkdtemp(folder);
    address_ = absl::StrCat("unix:", folder_, "/socket");
    Serve();
  }
  ~DaemonTest() override {
    server_.reset();
    for (const char* file : {"/state/queue.db", "/state/lock"}) {
      unlink((folder_ + file).c_str());
    }
    rmdir((folder_ + "/state").c_str());
    rmdir(folder_.c_str());
  }

  ServerOptions Options() const {
    ServerOptions options;
    options.listen = {address_};
    options.state = folder_ + "/state";
    options.queue.name = "test";
    return options;
  }
  void Serve() {
    absl::StatusOr<std::unique_ptr<Server>> server =
        Server::Start(Options(), clock_);
    TW_EXPECT_OK(server);
    server_ = *std::move(server);
  }
  std::unique_ptr<DaemonMeasurer> Client(const std::string& key,
                                         Method::Cache cache = Method::WARM) {
    DaemonJob job;
    job.cache = cache;
    job.key = job.title = key;
    job.most_tasks = 1000;
    job.device = FakeMade().device();
    job.code_generation = FakeMade().versions().code_generation();
    absl::StatusOr<std::unique_ptr<DaemonMeasurer>> client =
        DaemonMeasurer::Open(*ConnectTo(address_), job);
    TW_EXPECT_OK(client);
    return *std::move(client);
  }
  JobState Job(const DaemonMeasurer& client) {
    const auto stub = Jobs::NewStub(*ConnectTo(address_));
    grpc::ClientContext context;
    JobRequest request;
    request.set_job(client.job_id());
    JobState state;
    TW_EXPECT_OK(FromGrpc(stub->GetJob(&context, request, &state)));
    return state;
  }
  static void ExpectRight(const std::vector<Measurement>& results, int first) {
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].outcome(), Measurement::OK);
      EXPECT_EQ(results[i].latency().median_ns(), first + static_cast<int>(i));
    }
  }

  ManualClock clock_;
  std::string folder_, address_;
  std::unique_ptr<Server> server_;
};

TEST_F(DaemonTest, WorkersMeasureWhatAClientAsksFor) {
  TestWorker one(address_, clock_), two(address_, clock_);
  one.Start();
  two.Start();
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  std::vector<int> told(20);
  measure::MeasureOptions options;
  options.on_result = [&](int index, const Measurement&) {
    ++told[static_cast<size_t>(index)];
  };
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      client->Measure(FakeKey("conv"), FakeCandidates(1, 20), options));
  ASSERT_THAT(results, SizeIs(20));
  ExpectRight(results, 1);
  EXPECT_THAT(told, testing::Each(1));
  EXPECT_EQ(one.measurer.measured + two.measurer.measured, 20);
  // Another job that asks for some of them has the results at once.
  const std::unique_ptr<DaemonMeasurer> other = Client("resnet again");
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> again,
      other->Measure(FakeKey("conv"), FakeCandidates(11, 20)));
  ExpectRight(again, 11);
  EXPECT_EQ(one.measurer.measured + two.measurer.measured, 30);
  TW_ASSERT_OK(client->Close());
  EXPECT_EQ(Job(*client).state(), JobState::CLOSED);
  EXPECT_EQ(Job(*client).ended(), 20);
}

TEST_F(DaemonTest, ClientAndWorkerOutliveTheDaemon) {
  TestWorker worker(address_, clock_);
  std::atomic<bool> again{false};
  worker.measurer.before = [&](int candidate, Measurement&) {
    if (candidate != 5) return;
    server_.reset();  // with the client waiting, and a lease under way
    Serve();
    again = true;
  };
  worker.Start();
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      client->Measure(FakeKey("conv"), FakeCandidates(1, 12)));
  ExpectRight(results, 1);
  EXPECT_TRUE(again);
  EXPECT_EQ(worker.measurer.measured, 12) << "nothing was measured twice";
}

TEST_F(DaemonTest, WorkOfASilentWorkerGoesToAnother) {
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  // Takes all, and is never heard of again.
  const auto silent = Workers::NewStub(*ConnectTo(address_));
  std::thread silence([&] {
    LeaseRequest request;
    request.set_protocol_version(measure::kProtocolVersion);
    request.set_worker("silent");
    request.set_device_class(
        absl::StrCat(FakeMade().device().structure_fingerprint(), ".1"));
    request.set_most_tasks(10);
    request.set_wait_s(10);
    grpc::ClientContext context;
    LeaseReply lease;
    TW_EXPECT_OK(FromGrpc(silent->Lease(&context, request, &lease)));
    EXPECT_THAT(lease.tasks(), SizeIs(3));
    clock_.Advance(31'000'000'000);
    TestWorker worker(address_, clock_);
    worker.Start();
    while (Job(*client).ended() < 3) usleep(10'000);
    // What it delivers now does not count.
    CompleteRequest late;
    late.set_lease(lease.lease());
    late.set_task_id(lease.tasks(0).task_id());
    measure::Record& record = *late.mutable_record();
    record = FakeMade();
    *record.mutable_workload() = lease.tasks(0).task().workload();
    *record.mutable_schedule() = lease.tasks(0).task().schedule();
    record.mutable_measurement()->set_outcome(Measurement::TIMEOUT);
    record.set_task_id(lease.tasks(0).task_id());
    record.set_lease(lease.lease());
    CompleteReply reply;
    grpc::ClientContext again;
    TW_EXPECT_OK(FromGrpc(silent->Complete(&again, late, &reply)));
    EXPECT_TRUE(reply.stale());
  });
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      client->Measure(FakeKey("conv"), FakeCandidates(1, 3)));
  ExpectRight(results, 1);
  silence.join();
}

TEST_F(DaemonTest, ADeviceThatFailsIsDrained) {
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  TestWorker bad(address_, clock_), good(address_, clock_);
  bad.measurer.before = [](int, Measurement& result) {
    result.Clear();
    result.set_outcome(Measurement::RUN_ERROR);
    result.set_fault(Measurement::DEVICE);
    result.set_message("fell off the bus");
  };
  std::vector<Measurement> results;
  std::thread waiting([&] {
    absl::StatusOr<std::vector<Measurement>> measured =
        client->Measure(FakeKey("conv"), FakeCandidates(1, 3));
    TW_EXPECT_OK(measured);
    if (measured.ok()) results = *std::move(measured);
  });
  bad.Start();
  bad.Join();
  EXPECT_THAT(bad.status,
              StatusIs(StatusCode::kUnavailable, "fell off the bus"));
  EXPECT_EQ(Job(*client).ended(), 0);
  good.Start();
  waiting.join();
  ExpectRight(results, 1);
}

TEST_F(DaemonTest, CancellingEndsTheWaitAndTheWork) {
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  Cancellation cancellation;
  TestWorker worker(address_, clock_);
  worker.measurer.before = [&](int candidate, Measurement&) {
    if (candidate == 2) cancellation.Cancel();
  };
  measure::MeasureOptions options;
  options.cancellation = &cancellation;
  worker.Start();
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      client->Measure(FakeKey("conv"), FakeCandidates(1, 500), options));
  EXPECT_EQ(results.back().outcome(), Measurement::NOT_MEASURED);
  TW_ASSERT_OK(client->Cancel());
  worker.Stop();
  TW_EXPECT_OK(worker.status);
  const JobState job = Job(*client);
  EXPECT_EQ(job.state(), JobState::CANCELLED);
  EXPECT_LT(job.ended(), 500);
  EXPECT_EQ(job.leased(), 0);
}

TEST_F(DaemonTest, AJobIsFoundAgainByItsKey) {
  TestWorker worker(address_, clock_);
  worker.Start();
  int64_t id = 0;
  {
    const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
    TW_ASSERT_OK(client->Measure(FakeKey("conv"), FakeCandidates(1, 5)));
    id = client->job_id();
  }  // the client is killed
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  EXPECT_EQ(client->job_id(), id);
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      client->Measure(FakeKey("conv"), FakeCandidates(1, 8)));
  ExpectRight(results, 1);
  EXPECT_EQ(worker.measurer.measured, 8);
}

TEST_F(DaemonTest, OtherVersionsAreRefused) {
  const auto jobs = Jobs::NewStub(*ConnectTo(address_));
  grpc::ClientContext one, two;
  OpenJobRequest open;
  open.set_protocol_version(measure::kProtocolVersion + 1);
  JobState state;
  EXPECT_THAT(
      FromGrpc(jobs->OpenJob(&one, open, &state)),
      StatusIs(StatusCode::kFailedPrecondition, "the client speaks version 3"));
  const auto workers = Workers::NewStub(*ConnectTo(address_));
  LeaseRequest request;
  LeaseReply lease;
  EXPECT_THAT(
      FromGrpc(workers->Lease(&two, request, &lease)),
      StatusIs(StatusCode::kFailedPrecondition, "the worker speaks version 0"));
}

TEST_F(DaemonTest, WhatIsNoResultIsRefused) {
  const auto workers = Workers::NewStub(*ConnectTo(address_));
  CompleteRequest request;
  request.set_lease("test-1");
  *request.mutable_record() = FakeMade();
  *request.mutable_record()->mutable_workload() = FakeKey("conv");
  CompleteReply reply;
  grpc::ClientContext one, two;
  EXPECT_THAT(FromGrpc(workers->Complete(&one, request, &reply)),
              StatusIs(StatusCode::kInvalidArgument, "outcome"));
  request.mutable_record()->mutable_measurement()->set_outcome(
      Measurement::TIMEOUT);
  EXPECT_THAT(FromGrpc(workers->Complete(&two, request, &reply)),
              StatusIs(StatusCode::kInvalidArgument, "another task or lease"));
}

std::vector<measure::Record> Find(const std::string& address,
                                  const QueryRequest& which) {
  const auto jobs = Jobs::NewStub(*ConnectTo(address));
  grpc::ClientContext context;
  const auto reader = jobs->Query(&context, which);
  std::vector<measure::Record> records;
  QueryReply reply;
  while (reader->Read(&reply))
    records.insert(records.end(), reply.records().begin(),
                   reply.records().end());
  TW_EXPECT_OK(FromGrpc(reader->Finish()));
  return records;
}

TEST_F(DaemonTest, AClientFindsItsRecordsWithoutKnowingTheJobs) {
  TestWorker worker(address_, clock_);
  worker.Start();
  for (const char* key : {"one", "two"}) {  // the same tasks twice
    const std::unique_ptr<DaemonMeasurer> client = Client(key);
    TW_ASSERT_OK(client->Measure(FakeKey("conv"), FakeCandidates(1, 70)));
    TW_ASSERT_OK(client->Measure(FakeKey("pool"), FakeCandidates(1, 3)));
  }
  QueryRequest which;
  EXPECT_THAT(Find(address_, which), SizeIs(73));
  which.set_workload(FakeKey("pool").fingerprint());
  EXPECT_THAT(Find(address_, which), SizeIs(3));
  *which.mutable_device() = FakeMade().device();
  EXPECT_THAT(Find(address_, which), IsEmpty()) << "of no code generation";
  which.set_code_generation(FakeMade().versions().code_generation());
  EXPECT_THAT(Find(address_, which), SizeIs(3));

  // What it measured itself is found in the same way, once.
  AddRecordsRequest request;
  measure::Record& own = *request.add_records();
  own = Find(address_, which)[0];
  own.clear_lease();
  own.clear_task_id();
  const auto jobs = Jobs::NewStub(*ConnectTo(address_));
  AddRecordsReply reply;
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    TW_ASSERT_OK(FromGrpc(jobs->AddRecords(&context, request, &reply)));
  }
  EXPECT_THAT(Find(address_, which), SizeIs(4));
  EXPECT_THAT(Find(address_, QueryRequest()), SizeIs(74));
}

TEST_F(DaemonTest, WhatIsNoRecordOfOnesOwnIsRefused) {
  const auto jobs = Jobs::NewStub(*ConnectTo(address_));
  AddRecordsRequest request;
  *request.add_records() = FakeMade();
  AddRecordsReply reply;
  grpc::ClientContext one, two;
  EXPECT_THAT(FromGrpc(jobs->AddRecords(&one, request, &reply)),
              StatusIs(StatusCode::kInvalidArgument));
  // A lease is of a worker.
  measure::Record& record = *request.mutable_records(0);
  *record.mutable_workload() = FakeKey("conv");
  record.mutable_measurement()->set_outcome(Measurement::TIMEOUT);
  record.set_task_id(measure::TaskIdOf(record));
  record.set_lease("test-1");
  EXPECT_THAT(FromGrpc(jobs->AddRecords(&two, request, &reply)),
              StatusIs(StatusCode::kInvalidArgument, "a record of a lease"));
  EXPECT_THAT(Find(address_, QueryRequest()), IsEmpty());
}

// With operands found in another way it is another task.
TEST_F(DaemonTest, FreshConstantsAreMeasuredApart) {
  TestWorker worker(address_, clock_);
  worker.Start();
  const std::unique_ptr<DaemonMeasurer> warm = Client("warm");
  const std::unique_ptr<DaemonMeasurer> fresh =
      Client("fresh", Method::FRESH_CONSTANTS);
  TW_ASSERT_OK(warm->Measure(FakeKey("conv"), FakeCandidates(1, 5)));
  TW_ASSERT_OK(fresh->Measure(FakeKey("conv"), FakeCandidates(1, 5)));
  EXPECT_EQ(worker.measurer.measured, 10);
  EXPECT_THAT(worker.asked,
              testing::ElementsAre(Method::WARM, Method::FRESH_CONSTANTS));
  QueryRequest which;
  which.set_workload(FakeKey("conv").fingerprint());
  int fresh_records = 0;
  for (const measure::Record& record : Find(address_, which)) {
    fresh_records +=
        record.measurement().method().cache() == Method::FRESH_CONSTANTS;
  }
  EXPECT_EQ(fresh_records, 5);
  const auto jobs = Jobs::NewStub(*ConnectTo(address_));
  AddTasksRequest cold;
  cold.set_job(warm->job_id());
  *cold.mutable_workload() = FakeKey("conv");
  *cold.mutable_device() = FakeMade().device();
  cold.set_cache(Method::COLD);
  AddTasksReply reply;
  grpc::ClientContext context;
  EXPECT_THAT(FromGrpc(jobs->AddTasks(&context, cold, &reply)),
              StatusIs(StatusCode::kInvalidArgument, "fresh constants"));
}

TEST_F(DaemonTest, WhatIsTooLargeOrNoMessageIsRefused) {
  const std::unique_ptr<DaemonMeasurer> client = Client("resnet");
  const auto jobs = Jobs::NewStub(*ConnectTo(address_));
  AddTasksRequest large;
  large.set_job(client->job_id());
  large.mutable_workload()->set_text(std::string(size_t{65} << 20, 'x'));
  AddTasksReply added;
  grpc::ClientContext one, two;
  EXPECT_THAT(FromGrpc(jobs->AddTasks(&one, large, &added)),
              StatusIs(StatusCode::kResourceExhausted, "larger than max"));
  AddTasksRequest many;
  many.set_job(client->job_id());
  for (int i = 0; i <= ServiceLimits().most_tasks_of_a_call; ++i)
    many.add_schedules();
  EXPECT_THAT(FromGrpc(jobs->AddTasks(&two, many, &added)),
              StatusIs(StatusCode::kInvalidArgument, "make several"));
  // Bytes that are no message, and no HTTP/2 at all.
  grpc::GenericStub generic(*ConnectTo(address_));
  grpc::ClientContext three;
  grpc::CompletionQueue queue;
  grpc::Slice slice("\xff\xff\xff\xff no message");
  grpc::ByteBuffer bytes(&slice, 1), answer;
  const auto call = generic.PrepareUnaryCall(
      &three, "/tilewright.daemon.Jobs/OpenJob", bytes, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
  const int raw = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  address_.substr(5).copy(name.sun_path, sizeof(name.sun_path) - 1);
  ASSERT_EQ(connect(raw, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  const std::string garbage(100'000, 'g');
  (void)send(raw, garbage.data(), garbage.size(), MSG_NOSIGNAL);
  close(raw);
  // Nobody else noticed.
  TestWorker worker(address_, clock_);
  worker.Start();
  TW_EXPECT_OK(client->Measure(FakeKey("conv"), FakeCandidates(1, 5)));
}

TEST_F(DaemonTest, OnlyItsUserMayConnectAndOneDaemonHasTheState) {
  struct stat socket = {};
  ASSERT_EQ(stat((folder_ + "/socket").c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode & 0777, 0600);
  ServerOptions options = Options();
  EXPECT_THAT(Server::Start(options, clock_).status(),
              StatusIs(StatusCode::kAlreadyExists, "another daemon has it"));
  options.state = folder_ + "/other";
  EXPECT_THAT(Server::Start(options, clock_).status(),
              StatusIs(StatusCode::kAlreadyExists, "a daemon listens there"));
  for (const char* file : {"/queue.db", "/lock", ""}) {
    (void)remove((options.state + file).c_str());
  }
  options.listen = {"localhost:7000"};
  EXPECT_THAT(Server::Start(options, clock_).status(),
              StatusIs(StatusCode::kInvalidArgument, "give unix:PATH"));
}

TEST_F(DaemonTest, AFileIsLockedByOneAtATime) {
  const std::string path = folder_ + "/lock";
  for (int round = 0; round < 2; ++round) {
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<FileLock> lock,
                            FileLock::Take(path, "taken"));
    EXPECT_THAT(FileLock::Take(path, "taken"),
                StatusIs(StatusCode::kAlreadyExists, "taken"));
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace tilewright::daemon
