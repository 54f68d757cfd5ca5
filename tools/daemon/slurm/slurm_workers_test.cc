// With programs that stand for Slurm's and write down what they were asked.
#include "tools/daemon/slurm/slurm_workers.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/slurm/run_program.h"

namespace tilewright::daemon {
namespace {

using ::absl::StatusCode;
using ::testing::HasSubstr;

class SlurmWorkersTest : public testing::Test {
 protected:
  SlurmWorkersTest() {
    folder_ = testing::TempDir() + "/slurm" + std::to_string(getpid());
    mkdir(folder_.c_str(), 0700);
    unlink((folder_ + "/asked").c_str());
    path_ = getenv("PATH");
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
    // A job is a line of the file "jobs": its state.
    Program("squeue", "cat " + folder_ + "/jobs");
    Program("sbatch", "echo PENDING >> " + folder_ + "/jobs; echo \"$@\" >> " +
                          folder_ + "/asked; echo 7");
    Program("scancel", "sed -i /PENDING/d " + folder_ +
                           "/jobs; echo scancel >> " + folder_ + "/asked");
    Jobs("");
    options_.name = "tilewright-farm";
    options_.command = "tilewrightd worker";
    options_.options = {"--gres=gpu:1"};
    options_.most_workers = 3;
    options_.tasks_of_a_worker = 10;
  }
  ~SlurmWorkersTest() override { setenv("PATH", path_.c_str(), 1); }

  void Program(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0700);
  }
  void Jobs(const std::string& states) {
    std::ofstream(folder_ + "/jobs") << states;
  }
  std::string Asked() {
    std::ifstream file(folder_ + "/asked");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::string folder_, path_;
  SlurmOptions options_;
};

TEST_F(SlurmWorkersTest, ThereAreAsManyAsTheQueueHasWorkFor) {
  SlurmWorkers workers(options_);
  TW_ASSERT_OK_AND_ASSIGN(SlurmJobs jobs, workers.Adjust(11));
  EXPECT_EQ(jobs.pending, 2);
  EXPECT_THAT(Asked(), HasSubstr("--job-name=tilewright-farm --gres=gpu:1 "
                                 "--wrap=exec tilewrightd worker"));
  TW_ASSERT_OK_AND_ASSIGN(jobs, workers.Adjust(11));  // they are on their way
  EXPECT_EQ(jobs.pending, 2);
  Jobs("RUNNING\nPENDING\n");
  TW_ASSERT_OK_AND_ASSIGN(jobs, workers.Adjust(1000));
  EXPECT_EQ(jobs.running, 1);
  EXPECT_EQ(jobs.pending, 2);  // no more than three in all
}

TEST_F(SlurmWorkersTest, WithoutWorkNoneWaits) {
  Jobs("RUNNING\nPENDING\nPENDING\n");
  SlurmWorkers workers(options_);
  TW_ASSERT_OK_AND_ASSIGN(SlurmJobs jobs, workers.Adjust(0));
  EXPECT_EQ(jobs.pending, 0);
  EXPECT_EQ(jobs.running, 1);
  TW_ASSERT_OK_AND_ASSIGN(jobs, workers.Adjust(0));
  EXPECT_EQ(Asked(), "scancel\n");
}

TEST_F(SlurmWorkersTest, SaysWhatSlurmSays) {
  Program("sbatch", "echo 'sbatch: error: invalid partition'; exit 1");
  SlurmWorkers workers(options_);
  EXPECT_THAT(workers.Adjust(1).status(),
              StatusIs(StatusCode::kUnavailable, "invalid partition"));
  unlink((folder_ + "/squeue").c_str());
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_THAT(workers.Adjust(1).status(),
              StatusIs(StatusCode::kUnavailable, "squeue: No such file"));
}

TEST(ShellWordTest, IsOneWordWhateverItHolds) {
  for (const std::string bytes : {"", "a b", "it's", "$HOME;`x`\\\"\n*"})
    EXPECT_THAT(RunProgram({"sh", "-c", "printf %s " + ShellWord(bytes)}),
                IsOkAndHolds(bytes));
}

}  // namespace
}  // namespace tilewright::daemon
