// The page's server over a real socket: who is let in, and what it answers.
#include "tools/daemon/monitoring/web_server.h"

#include <httplib.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/jobs/job_queue.h"
#include "tools/daemon/monitoring/event_log.h"
#include "tools/daemon/monitoring/monitor.h"
#include "tools/daemon/shared_queue.h"

namespace tilewright::daemon {
namespace {

using ::absl::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "0123456789abcdef";

std::unique_ptr<measure::JobQueue> Queue(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name + ".db";
  std::remove(path.c_str());
  return *measure::JobQueue::Open(path, {}, 0);
}

class WebServerTest : public testing::Test {
 protected:
  WebServerTest()
      : queue_(Queue(
            testing::UnitTest::GetInstance()->current_test_info()->name())),
        web_(*WebServer::Start("127.0.0.1:0", kToken, site_)),
        client_("127.0.0.1", web_->port()) {}

  httplib::Headers WithToken(const std::string& token = kToken) {
    return {{"Authorization", "Bearer " + token}};
  }

  FakeClock clock_{1'700'000'000'000'000'000};
  std::unique_ptr<EventLog> log_ = *EventLog::Open("", clock_);
  Monitor monitor_{*log_, clock_};
  SharedQueue queue_;
  Site site_{queue_, monitor_, *log_};
  std::unique_ptr<WebServer> web_;
  httplib::Client client_;
};

TEST_F(WebServerTest, NobodyWithoutTheToken) {
  for (const char* path : {"/", "/state", "/metrics", "/nothing",
                           "/?token=", "/?token=0123456789abcdeg",
                           "/state?token=0123456789abcdef"}) {
    const auto answer = client_.Get(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 401) << path;
    EXPECT_THAT(answer->body, Not(HasSubstr(kToken)));
    EXPECT_FALSE(answer->has_header("Set-Cookie")) << path;
  }
  EXPECT_EQ(client_.Get("/state", WithToken("0123456789abcde"))->status, 401);
  EXPECT_EQ(client_.Get("/state", WithToken(""))->status, 401);
  EXPECT_EQ(
      client_.Get("/state", {{"Cookie", "tilewright_token=x; a=b"}})->status,
      401);
}

TEST_F(WebServerTest, ThePageWithACookie) {
  const auto first = client_.Get(absl::StrCat("/?token=", kToken));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 303);
  EXPECT_EQ(first->get_header_value("Location"), "/");
  const std::string cookie = first->get_header_value("Set-Cookie");
  EXPECT_THAT(cookie, HasSubstr("HttpOnly"));
  EXPECT_THAT(cookie, HasSubstr("SameSite=Strict"));
  const auto page = client_.Get(
      "/", {{"Cookie", "a=b; " + cookie.substr(0, cookie.find(';'))}});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body.rfind("<!doctype html>", 0), 0u);
  EXPECT_EQ(page->body.find("http"), std::string::npos) << "needs nothing else";
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"),
              HasSubstr("default-src 'none'"));
}

TEST_F(WebServerTest, StateAndMetrics) {
  measure::JobSpec spec;
  spec.owner = "ann";
  spec.title = "</script><b>resnet";
  spec.most_tasks = 10;
  queue_.Change([&](measure::JobQueue& queue) {
    const auto job = queue.OpenJob(spec);
    TW_EXPECT_OK(job);
    TW_EXPECT_OK(
        queue.AddTasks("ann", job->id, {{"a", "cpu", "conv", "request"}}));
    return true;
  });
  const auto state = client_.Get("/state", WithToken());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, 200);
  EXPECT_THAT(state->body, HasSubstr(R"("waiting": 1,)"));
  EXPECT_THAT(state->body, HasSubstr(R"("tasks": 1, "leased": 0, "ended": 0)"));
  EXPECT_EQ(client_.Get("/state?x", WithToken())->body, state->body);
  const auto metrics = client_.Get("/metrics", WithToken());
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->status, 200);
  EXPECT_THAT(metrics->body, HasSubstr("\ntilewrightd_open_jobs 1\n"));
  EXPECT_THAT(metrics->body, HasSubstr("\ntilewrightd_waiting_tasks 1\n"));
}

TEST_F(WebServerTest, NothingCanBeChanged) {
  for (const char* path : {"/", "/state", "/metrics"}) {
    EXPECT_EQ(client_.Post(path, WithToken(), "", "text/plain")->status, 404);
    EXPECT_EQ(client_.Delete(path, WithToken())->status, 404);
  }
  EXPECT_EQ(client_.Get("/nothing", WithToken())->status, 404);
}

TEST_F(WebServerTest, OnlyThisHost) {
  for (const char* address : {"0.0.0.0:8080", ":8080", "8080", "",
                              "example.org:80", "127.0.0.1:", "127.0.0.1:x",
                              "127.0.0.1:70000", "127.0.0.1.evil.org:1"}) {
    EXPECT_THAT(WebServer::Start(address, kToken, site_),
                StatusIs(StatusCode::kInvalidArgument, HasSubstr("ssh -L")))
        << address;
  }
  EXPECT_THAT(
      WebServer::Start(absl::StrCat("127.0.0.1:", web_->port()), kToken, site_),
      StatusIs(StatusCode::kAlreadyExists));
}

TEST(WebTokenTest, IsMadeOnceAndForItsOwnerAlone) {
  const std::string path = testing::TempDir() + "/token";
  std::remove(path.c_str());
  TW_ASSERT_OK_AND_ASSIGN(const std::string token, WebToken(path));
  EXPECT_EQ(token.size(), 32u);
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(*WebToken(path), token);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(WebToken(path), StatusIs(StatusCode::kPermissionDenied));
  EXPECT_THAT(WebToken("/nowhere/token"), StatusIs(StatusCode::kNotFound));
}

}  // namespace
}  // namespace tilewright::daemon
