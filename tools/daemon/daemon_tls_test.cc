// A daemon over TCP: who is let in, and what each may do. Certificates are made
// by the openssl program, for this run.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/task_id.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/address.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon.grpc.pb.h"
#include "tools/daemon/daemon_measurer.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/server.h"
#include "tools/daemon/status.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

using ::absl::StatusCode;
using measure::Measurement;
using ::testing::SizeIs;

bool Shell(const std::string& command) {
  return std::system(absl::StrCat("(", command, ") >/dev/null 2>&1").c_str()) ==
         0;
}

constexpr char kNewKey[] =
    " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ";

// An authority, in a folder of its own.
bool MakeAuthority(const std::string& folder) {
  mkdir(folder.c_str(), 0700);
  return Shell(absl::StrCat("openssl req -x509 -days 2 -subj /CN=authority",
                            kNewKey, "-keyout ", folder, "/ca.key -out ",
                            folder, "/ca.pem"));
}

// A certificate of that authority for `name`, in `folder`, as --tls wants it.
bool MakeCertificate(const std::string& authority, const std::string& folder,
                     const std::string& name, int days = 2) {
  mkdir(folder.c_str(), 0700);
  return Shell(absl::StrCat("openssl req -subj /CN=", name, kNewKey, "-keyout ",
                            folder, "/key.pem -out ", folder,
                            "/request.pem")) &&
         Shell(absl::StrCat("echo subjectAltName=IP:127.0.0.1 > ", folder,
                            "/names")) &&
         Shell(absl::StrCat("openssl x509 -req -CAcreateserial -days ", days,
                            " -CA ", authority, "/ca.pem -CAkey ", authority,
                            "/ca.key -extfile ", folder, "/names -in ", folder,
                            "/request.pem -out ", folder, "/cert.pem")) &&
         Shell(absl::StrCat("cp ", authority, "/ca.pem ", folder)) &&
         chmod((folder + "/key.pem").c_str(), 0600) == 0;
}

class DaemonTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Shell("openssl version"))
      GTEST_SKIP() << "there is no openssl program";
    char folder[] = "/tmp/tilewright_tls_XXXXXX";
    folder_ = mkdtemp(folder);
    ASSERT_TRUE(MakeAuthority(In("ca")));
    ASSERT_TRUE(MakeCertificate(In("ca"), In("server"), "daemon"));
    ServerOptions options;
    options.listen = {"tcp:127.0.0.1:0"};
    options.tls = In("server");
    options.state = In("state");
    options.queue.name = "test";
    TW_ASSERT_OK_AND_ASSIGN(server_, Server::Start(options, *RealClock()));
    address_ = absl::StrCat("tcp:127.0.0.1:", server_->tcp_port());
  }
  ~DaemonTlsTest() override {
    server_.reset();
    if (!folder_.empty()) Shell("rm -r " + folder_);
  }

  std::string In(const std::string& name) const { return folder_ + "/" + name; }
  // As who shows a certificate of that name.
  std::shared_ptr<grpc::Channel> As(const std::string& name) {
    EXPECT_TRUE(MakeCertificate(In("ca"), In(name), name));
    return *ConnectTo(address_, In(name));
  }
  // One attempt to list one's jobs.
  static absl::Status TryToList(const std::shared_ptr<grpc::Channel>& channel,
                                ListJobsReply* reply) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    return FromGrpc(
        Jobs::NewStub(channel)->ListJobs(&context, ListJobsRequest(), reply));
  }
  static absl::StatusOr<std::unique_ptr<DaemonMeasurer>> Client(
      const std::shared_ptr<grpc::Channel>& channel) {
    DaemonJob job;
    job.key = job.title = "resnet";
    job.most_tasks = 100;
    job.device = FakeMade().device();
    job.code_generation = FakeMade().versions().code_generation();
    return DaemonMeasurer::Open(channel, job);
  }

  std::string folder_, address_;
  std::unique_ptr<Server> server_;
};

TEST_F(DaemonTlsTest, AWorkerMeasuresForAClient) {
  FakeMeasurer measurer;
  Cancellation stop;
  const auto channel = As("worker.one");
  std::thread worker([&] {
    WorkerOptions options;
    options.name = "one";
    options.made = FakeMade();
    options.wait_s = 0.2;
    TW_EXPECT_OK(RunWorker(
        options, channel, [&](auto) { return &measurer; }, *RealClock(), stop));
  });
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DaemonMeasurer> client,
                          Client(As("ann")));
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      client->Measure(FakeKey("conv"), FakeCandidates(1, 5)));
  EXPECT_THAT(results, SizeIs(5));
  EXPECT_EQ(measurer.measured, 5);
  stop.Cancel();
  worker.join();
}

TEST_F(DaemonTlsTest, ClientsSeeTheirOwnJobs) {
  const auto ann = As("ann"), bob = As("bob");
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DaemonMeasurer> job,
                          Client(ann));
  ListJobsReply of_ann, of_bob;
  TW_ASSERT_OK(TryToList(ann, &of_ann));
  TW_ASSERT_OK(TryToList(bob, &of_bob));
  EXPECT_EQ(of_ann.jobs_size(), 1);
  EXPECT_EQ(of_bob.jobs_size(), 0);
  grpc::ClientContext context;
  JobRequest request;
  request.set_job(job->job_id());
  JobState state;
  EXPECT_THAT(
      FromGrpc(Jobs::NewStub(bob)->CancelJob(&context, request, &state)),
      StatusIs(StatusCode::kNotFound, ""));
}

TEST_F(DaemonTlsTest, RecordsOfOthersAreNotThere) {
  measure::Record record = FakeMade();
  *record.mutable_workload() = FakeKey("conv");
  record.mutable_measurement()->set_outcome(Measurement::TIMEOUT);
  const auto ann = As("ann"), bob = As("bob");
  const auto count = [&](const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    const auto reader = Jobs::NewStub(channel)->Query(&context, QueryRequest());
    int records = 0;
    QueryReply reply;
    while (reader->Read(&reply)) records += reply.records_size();
    TW_EXPECT_OK(FromGrpc(reader->Finish()));
    return records;
  };
  AddRecordsRequest request;
  *request.add_records() = record;
  AddRecordsReply reply;
  grpc::ClientContext context;
  TW_ASSERT_OK(
      FromGrpc(Jobs::NewStub(ann)->AddRecords(&context, request, &reply)));
  EXPECT_EQ(count(ann), 1);
  EXPECT_EQ(count(bob), 0);
}

TEST_F(DaemonTlsTest, WithoutARightCertificateNobodyIsLetIn) {
  ListJobsReply reply;
  const std::string target = address_.substr(4);
  EXPECT_THAT(
      TryToList(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()),
                &reply),
      StatusIs(StatusCode::kUnavailable, ""));
  // None, though it believes the daemon.
  TW_ASSERT_OK_AND_ASSIGN(const Certificates server,
                          ReadCertificates(In("server")));
  EXPECT_THAT(
      TryToList(grpc::CreateChannel(
                    target, grpc::SslCredentials({server.authority, "", ""})),
                &reply),
      StatusIs(StatusCode::kUnavailable, ""));
  // Another authority's, though it believes the daemon's.
  ASSERT_TRUE(MakeAuthority(In("other")));
  ASSERT_TRUE(MakeCertificate(In("other"), In("mallory"), "ann"));
  ASSERT_TRUE(Shell(absl::StrCat("cp ", In("ca"), "/ca.pem ", In("mallory"))));
  EXPECT_THAT(TryToList(*ConnectTo(address_, In("mallory")), &reply),
              StatusIs(StatusCode::kUnavailable, ""));
  // One of yesterday.
  ASSERT_TRUE(MakeCertificate(In("ca"), In("late"), "ann", /*days=*/-1));
  EXPECT_THAT(TryToList(*ConnectTo(address_, In("late")), &reply),
              StatusIs(StatusCode::kUnavailable, ""));
  // The right one, so that it is not the test that fails.
  TW_EXPECT_OK(TryToList(As("ann"), &reply));
}

TEST_F(DaemonTlsTest, ADaemonOfAnotherAuthorityIsNotBelieved) {
  ASSERT_TRUE(MakeAuthority(In("other")));
  ASSERT_TRUE(MakeCertificate(In("other"), In("ann"), "ann"));
  TW_ASSERT_OK_AND_ASSIGN(const auto channel, ConnectTo(address_, In("ann")));
  CallOptions once;
  once.patience_s = 0.5;
  EXPECT_THAT(CallPatiently(*channel, once,
                            [](grpc::ClientContext&) {
                              ADD_FAILURE() << "connected";
                              return grpc::Status::OK;
                            }),
              StatusIs(StatusCode::kUnavailable, "certificate"));
}

TEST_F(DaemonTlsTest, ClientsAreNoWorkersAndWorkersHaveNoJobs) {
  grpc::ClientContext context;
  LeaseRequest request;
  request.set_protocol_version(measure::kProtocolVersion);
  LeaseReply lease;
  EXPECT_THAT(
      FromGrpc(Workers::NewStub(As("ann"))->Lease(&context, request, &lease)),
      StatusIs(StatusCode::kPermissionDenied, "ann is no worker"));
  ListJobsReply reply;
  EXPECT_THAT(TryToList(As("worker.one"), &reply),
              StatusIs(StatusCode::kPermissionDenied, "has no jobs"));
}

TEST_F(DaemonTlsTest, ALeaseIsOfItsWorkerAlone) {
  const auto ann = As("ann"), one = As("worker.one"), two = As("worker.two");
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DaemonMeasurer> client,
                          Client(ann));
  Cancellation stop;
  std::thread asking([&] {
    measure::MeasureOptions options;
    options.cancellation = &stop;
    (void)client->Measure(FakeKey("conv"), FakeCandidates(1, 1), options);
  });
  grpc::ClientContext context, foreign, own;
  LeaseRequest request;
  request.set_protocol_version(measure::kProtocolVersion);
  request.set_device_class(
      measure::DeviceClass(FakeMade().device(), FakeMade().versions()));
  request.set_most_tasks(1);
  request.set_wait_s(20);
  LeaseReply lease;
  TW_ASSERT_OK(
      FromGrpc(Workers::NewStub(one)->Lease(&context, request, &lease)));
  ASSERT_EQ(lease.tasks_size(), 1);

  HeartbeatRequest beat;
  beat.set_lease(lease.lease());
  HeartbeatReply wanted;
  EXPECT_THAT(
      FromGrpc(Workers::NewStub(two)->Heartbeat(&foreign, beat, &wanted)),
      StatusIs(StatusCode::kPermissionDenied, "another worker's"));
  TW_EXPECT_OK(FromGrpc(Workers::NewStub(one)->Heartbeat(&own, beat, &wanted)));

  // What is no result of that task is not taken for one.
  CompleteRequest forged;
  forged.set_lease(lease.lease());
  forged.set_task_id(lease.tasks(0).task_id());
  measure::Record& record = *forged.mutable_record();
  record = FakeMade();
  *record.mutable_workload() = FakeKey("another");
  *record.mutable_schedule() = lease.tasks(0).task().schedule();
  record.set_task_id(forged.task_id());
  record.set_lease(forged.lease());
  record.mutable_measurement()->set_outcome(Measurement::TIMEOUT);
  CompleteReply reply;
  grpc::ClientContext complete;
  EXPECT_THAT(
      FromGrpc(Workers::NewStub(one)->Complete(&complete, forged, &reply)),
      StatusIs(StatusCode::kInvalidArgument, "not that of its workload"));
  stop.Cancel();
  asking.join();
}

TEST(DaemonTcpTest, NeedsCertificatesThatNobodyElseCanRead) {
  EXPECT_THAT(ConnectTo("tcp:localhost:7000").status(),
              StatusIs(StatusCode::kInvalidArgument, "give --tls=DIR"));
  EXPECT_THAT(ConnectTo("localhost:7000").status(),
              StatusIs(StatusCode::kInvalidArgument, "give unix:PATH"));
  EXPECT_THAT(ConnectTo("tcp:localhost:7000", "/nowhere").status(),
              StatusIs(StatusCode::kNotFound, "/nowhere/ca.pem"));
  char folder[] = "/tmp/tilewright_tls_XXXXXX";
  const std::string tls = mkdtemp(folder);
  for (const char* file : {"/ca.pem", "/cert.pem", "/key.pem"})
    ASSERT_TRUE(Shell(absl::StrCat("echo > ", tls, file)));
  chmod((tls + "/key.pem").c_str(), 0644);
  EXPECT_THAT(ConnectTo("tcp:localhost:7000", tls).status(),
              StatusIs(StatusCode::kFailedPrecondition, "others may read it"));
  Shell("rm -r " + tls);
}

}  // namespace
}  // namespace tilewright::daemon
