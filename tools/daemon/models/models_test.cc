// Models that are submitted, with a program in place of tilewright that does
// what the model's file says: a daemon and its clients over a real socket.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/client.h"
#include "tools/daemon/models/child_program.h"
#include "tools/daemon/models/model_commands.h"
#include "tools/daemon/models/model_folder.h"
#include "tools/daemon/models/model_runs.h"
#include "tools/daemon/models/models_service.h"
#include "tools/daemon/server.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "tilewright tune MODEL ...", "tilewright compile MODEL ... -o OUT": writes
// its command line beside the model, then does what the model says.
constexpr char kProgram[] = R"SH(#!/bin/bash
echo "$@" >> "$(dirname "$2")/commands"
case "$1 $(cat "$2")" in
  "tune slow"*) echo "tune: begins"; exec sleep 60 ;;
  "tune gone once"*)
    [[ $(grep -c tune "$(dirname "$2")/commands") == 1 ]] && exec sleep 60 ;;
  "tune bad"*) echo "tune: begins"; echo "tilewright: no such operator" >&2; exit 1 ;;
  "tune dies"*) kill -9 $$ ;;
esac
echo "tune: the model: 0.9 of the time"
if [[ $1 == compile ]]; then echo "compiled $(cat "$2")" > "${@: -1}"; fi
)SH";

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class ModelsTest : public testing::Test {
 protected:
  ModelsTest() {
    char folder[] = "/tmp/tilewright_models_XXXXXX";
    folder_ = mkdtemp(folder);
    address_ = absl::StrCat("unix:", folder_, "/socket");
    WriteFile(folder_ + "/program", kProgram);
    chmod((folder_ + "/program").c_str(), 0700);
    Serve();
  }
  ~ModelsTest() override {
    End();
    std::filesystem::remove_all(folder_);
  }
  void Serve() {
    ModelRunsOptions how;
    how.folder = folder_ + "/models";
    how.program = folder_ + "/program";
    how.connect = {"--daemon=" + address_};
    how.most_waiting = 3;
    auto runs = ModelRuns::Start(how);
    TW_EXPECT_OK(runs);
    runs_ = *std::move(runs);
    service_ = std::make_unique<ModelsService>(*runs_, kMostBytes);
    ServerOptions options;
    options.listen = {address_};
    options.state = folder_ + "/state";
    options.more_services = {service_.get()};
    auto server = Server::Start(options, *RealClock());
    TW_EXPECT_OK(server);
    server_ = *std::move(server);
    channel_ = *ConnectTo(address_);
  }
  void End() {
    server_.reset();
    service_.reset();
    runs_.reset();
  }

  absl::StatusOr<ModelState> Submit(const std::string& says,
                                    ModelOrder order = {}) {
    order.path = absl::StrCat(folder_, "/",
                              order.path.empty() ? "a b.onnx" : order.path);
    WriteFile(order.path, says);
    return SubmitModel(channel_, order);
  }
  absl::StatusOr<ModelState> Wait(const absl::StatusOr<ModelState>& submitted) {
    TW_EXPECT_OK(submitted);
    return WaitForModel(channel_, submitted->id(), never_);
  }
  void WaitForState(int64_t id, ModelState::State state) {
    const auto stub = Models::NewStub(channel_);
    for (int i = 0; i < 1000; ++i) {
      grpc::ClientContext context;
      ListModelsReply reply;
      TW_ASSERT_OK(
          FromGrpc(stub->ListModels(&context, ListModelsRequest(), &reply)));
      for (const ModelState& model : reply.models()) {
        if (model.id() == id && model.state() == state) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    FAIL() << "model " << id << " is never " << ModelState::State_Name(state);
  }

  static constexpr int64_t kMostBytes = 5'000'000;
  Cancellation never_;
  std::string folder_, address_;
  std::unique_ptr<ModelRuns> runs_;
  std::unique_ptr<ModelsService> service_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ModelsTest, IsTunedCompiledAndFetched) {
  ModelOrder order;
  order.trials = 7;
  order.seconds = 30;
  order.priority = 2;
  // More than one part.
  const std::string model = "quick" + std::string(3'000'000, 'x');
  TW_ASSERT_OK_AND_ASSIGN(const ModelState done, Wait(Submit(model, order)));
  EXPECT_EQ(done.state(), ModelState::DONE);
  EXPECT_EQ(done.title(), "a b.onnx");
  EXPECT_EQ(done.message(), "the model: 0.9 of the time");
  const std::string out = folder_ + "/out.tw";
  TW_ASSERT_OK(FetchModel(channel_, done.id(), out));
  EXPECT_EQ(Contents(out), "compiled " + model + "\n");
  EXPECT_EQ(Contents(folder_ + "/models/1/commands"),
            absl::StrCat(
                "tune ", folder_, "/models/1/a_b.onnx --records=", folder_,
                "/models/1/records.db --daemon=", address_,
                " --trials=7 --time=30 --priority=2\ncompile ", folder_,
                "/models/1/a_b.onnx --records=", folder_,
                "/models/1/records.db -o ", folder_, "/models/1/model.tw\n"));
  TW_ASSERT_OK_AND_ASSIGN(const std::string table, ModelTable(channel_));
  EXPECT_THAT(table,
              HasSubstr("1 done             2 a b.onnx: the model: 0.9"));
}

TEST_F(ModelsTest, WhatFailsSaysWhy) {
  TW_ASSERT_OK_AND_ASSIGN(const ModelState bad, Wait(Submit("bad")));
  EXPECT_EQ(bad.state(), ModelState::FAILED);
  EXPECT_EQ(bad.message(), "tilewright: no such operator");
  EXPECT_THAT(
      FetchModel(channel_, bad.id(), folder_ + "/out.tw"),
      StatusIs(StatusCode::kFailedPrecondition, HasSubstr("no such operator")));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out.tw"));
  TW_ASSERT_OK_AND_ASSIGN(const ModelState dies, Wait(Submit("dies")));
  EXPECT_EQ(dies.state(), ModelState::FAILED);
  EXPECT_THAT(dies.message(), HasSubstr("signal 9"));
  EXPECT_THAT(FetchModel(channel_, 99, folder_ + "/out.tw"),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(ModelsTest, IsCancelledWhileItRunsAndWhileItWaits) {
  TW_ASSERT_OK_AND_ASSIGN(const ModelState runs, Submit("slow"));
  TW_ASSERT_OK_AND_ASSIGN(const ModelState waits, Submit("slow too"));
  WaitForState(runs.id(), ModelState::TUNING);
  TW_EXPECT_OK(CancelModel(channel_, waits.id()));
  TW_EXPECT_OK(CancelModel(channel_, runs.id()));
  EXPECT_EQ(Wait(runs)->state(), ModelState::CANCELLED);
  EXPECT_EQ(Wait(waits)->state(), ModelState::CANCELLED);
  // What is over stays so, and others go on.
  EXPECT_EQ(CancelModel(channel_, runs.id())->state(), ModelState::CANCELLED);
  EXPECT_EQ(Wait(Submit("quick"))->state(), ModelState::DONE);
  EXPECT_THAT(CancelModel(channel_, 99), StatusIs(StatusCode::kNotFound));
}

TEST_F(ModelsTest, TheLargestPriorityFirst) {
  TW_ASSERT_OK_AND_ASSIGN(const ModelState first, Submit("slow"));
  WaitForState(first.id(), ModelState::TUNING);
  ModelOrder late;
  late.priority = 5;
  TW_ASSERT_OK_AND_ASSIGN(const ModelState low, Submit("slow and low"));
  TW_ASSERT_OK_AND_ASSIGN(const ModelState high, Submit("slow, high", late));
  TW_EXPECT_OK(CancelModel(channel_, first.id()));
  WaitForState(high.id(), ModelState::TUNING);
  EXPECT_EQ(runs_->List("uid " + std::to_string(geteuid()))[1].state(),
            ModelState::WAITING);
  EXPECT_EQ(low.id(), 2);
}

TEST_F(ModelsTest, GoesOnAfterARestart) {
  TW_ASSERT_OK_AND_ASSIGN(const ModelState model, Submit("gone once"));
  WaitForState(model.id(), ModelState::TUNING);
  // Its program tells the first time from the second by what it has written.
  const std::string commands =
      absl::StrCat(folder_, "/models/", model.id(), "/commands");
  for (int i = 0; i < 1000 && Contents(commands).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // The same order is the same model, also while its client was away.
  EXPECT_EQ(Submit("gone once")->id(), model.id());
  absl::StatusOr<ModelState> watched;
  std::thread client([&] { watched = Wait(model); });
  End();
  WriteFile(folder_ + "/models/upload-9", "half of a mod");
  std::filesystem::create_directory(folder_ + "/models/77");
  Serve();
  client.join();
  TW_ASSERT_OK(watched);
  EXPECT_EQ(watched->state(), ModelState::DONE);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/models/upload-9"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/models/77"))
      << "nobody was told of it";
  // Once it is over, the same order is another one.
  EXPECT_NE(Submit("gone once")->id(), model.id());
}

TEST_F(ModelsTest, RefusesWhatIsTooMuch) {
  EXPECT_THAT(Submit(std::string(kMostBytes + 1, 'x')),
              StatusIs(StatusCode::kResourceExhausted, HasSubstr("5000000")));
  for (int i = 0; i < 3; ++i) TW_ASSERT_OK(Submit(absl::StrCat("slow ", i)));
  EXPECT_THAT(Submit("slow 3"), StatusIs(StatusCode::kResourceExhausted,
                                         HasSubstr("cancel one")));
}

// What no client of ours would send.
TEST_F(ModelsTest, RefusesWhatIsNoModel) {
  const auto stub = Models::NewStub(channel_);
  const auto send = [&](const std::vector<SubmitModelRequest>& requests) {
    grpc::ClientContext context;
    ModelState state;
    const auto writer = stub->SubmitModel(&context, &state);
    for (const SubmitModelRequest& request : requests) {
      if (!writer->Write(request)) break;
    }
    writer->WritesDone();
    return FromGrpc(writer->Finish());
  };
  EXPECT_THAT(send({}), StatusIs(StatusCode::kInvalidArgument));
  SubmitModelRequest request;
  EXPECT_THAT(send({request}),
              StatusIs(StatusCode::kFailedPrecondition, HasSubstr("version")));
  request.set_protocol_version(measure::kProtocolVersion);
  request.set_title("../../../etc/passwd");
  request.set_model_bytes(10);
  request.set_part("short");
  EXPECT_THAT(send({request}),
              StatusIs(StatusCode::kDataLoss, HasSubstr("5 came")));
  EXPECT_THAT(send({request, request, request}),
              StatusIs(StatusCode::kDataLoss, HasSubstr("15 came")));
  TW_EXPECT_OK(send({request, request}));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/models/1/passwd.onnx"));
  int left_over = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_ + "/models"))
    left_over += entry.path().filename().string().rfind("upload", 0) == 0;
  EXPECT_EQ(left_over, 0);
}

TEST_F(ModelsTest, ModelsOfOthersAreNotThere) {
  SubmittedModel model;
  model.set_owner("somebody else");
  model.set_key("k");
  model.mutable_state()->set_title("slow.onnx");
  TW_ASSERT_OK_AND_ASSIGN(const std::string upload, runs_->NewUpload());
  WriteFile(upload, "slow");
  TW_ASSERT_OK_AND_ASSIGN(const ModelState theirs,
                          runs_->Submit(upload, model));
  EXPECT_THAT(CancelModel(channel_, theirs.id()),
              StatusIs(StatusCode::kNotFound, HasSubstr("you have no model")));
  EXPECT_THAT(FetchModel(channel_, theirs.id(), folder_ + "/x"),
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(WaitForModel(channel_, theirs.id(), never_),
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(runs_->List("somebody else"), testing::SizeIs(1));
}

TEST_F(ModelsTest, OneProcessHasTheFolder) {
  EXPECT_THAT(ModelFolder::Open(folder_ + "/models"),
              StatusIs(StatusCode::kAlreadyExists));
  End();
  WriteFile(folder_ + "/models/about", "");
  std::filesystem::create_directory(folder_ + "/models/5");
  WriteFile(folder_ + "/models/5/about.pb", "\x0a\xff");
  EXPECT_THAT(ModelFolder::Open(folder_ + "/models"),
              StatusIs(StatusCode::kDataLoss, HasSubstr("5/about.pb")));
}

TEST(ChildProgramTest, EndsWithItsParent) {
  // A child of a child: the middle one is killed.
  char folder[] = "/tmp/tilewright_child_XXXXXX";
  const std::string path = mkdtemp(folder);
  const std::string pid_file = path + "/pid";
  Cancellation interrupt, end;
  std::thread middle([&] {
    (void)RunChild({"/proc/self/exe", "--run-sleeper", pid_file}, path + "/out",
                   interrupt, end);
  });
  std::string pid;
  for (int i = 0; i < 1000 && pid.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pid = Contents(pid_file);
  }
  ASSERT_FALSE(pid.empty());
  end.Cancel();
  middle.join();
  bool gone = false;
  for (int i = 0; i < 1000 && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // A zombie without a parent that waits counts as gone, too.
    const std::string state = Contents(absl::StrCat("/proc/", pid, "/stat"));
    gone = state.empty() || state.find(") Z") != std::string::npos;
  }
  EXPECT_TRUE(gone) << "the sleeper of process " << pid << " goes on";
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace tilewright::daemon

int main(int argc, char** argv) {
  using tilewright::Cancellation;
  tilewright::daemon::RunChildIfAsked(argc, argv);
  if (argc == 3 && std::string(argv[1]) == "--run-sleeper") {
    const Cancellation never;
    return tilewright::daemon::RunChild(
               {"/bin/sh", "-c",
                absl::StrCat("echo -n $$ > ", argv[2], ".new; mv ", argv[2],
                             ".new ", argv[2], "; exec sleep 60")},
               "/dev/null", never, never)
                   .ok()
               ? 0
               : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
