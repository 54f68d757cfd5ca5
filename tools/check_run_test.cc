#include "tools/check_run.h"

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/cpu_features.h"
#include "base/status_matchers.h"
#include "frontends/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session.h"
#include "tools/commands/command_line.h"
#include "tools/commands/model_source.h"
#include "tools/model_io.h"

namespace tilewright::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckRunTest : public testing::Test {
 protected:
  void Load(const std::string& model, std::vector<std::string> flags = {}) {
    LoadFile("testdata/" + model + "/model.onnx", std::move(flags));
  }
  void LoadFile(const std::string& path, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"run", path});
    TW_ASSERT_OK_AND_ASSIGN(const CommandLine line, CommandLine::Parse(flags));
    TW_ASSERT_OK_AND_ASSIGN(source_, LoadSource(line, path));
    TW_ASSERT_OK_AND_ASSIGN(session_, Session::Create(source_.model));
    TW_ASSERT_OK_AND_ASSIGN(inputs_,
                            MakeInputs(source_.model->program(), {}, 1,
                                       DrawnFrom(*source_.imported)));
    TW_ASSERT_OK_AND_ASSIGN(outputs_, RunOnce(*session_, inputs_));
  }
  measure::RunVerdict Check() {
    absl::StatusOr<measure::RunVerdict> verdict =
        CheckRun(source_, *session_, inputs_, outputs_);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? *std::move(verdict) : measure::RunVerdict();
  }

  Source source_;
  std::unique_ptr<Session> session_;
  std::vector<HostTensor> inputs_, outputs_;
};

// The oracle is what was imported, whatever became of the graph.
TEST_F(CheckRunTest, EveryKernelsResultIsVerified) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{},
                                             {"--connect=none"},
                                             {"--connect=register"},
                                             {"--allow=winograd4"},
                                             {"--level-cap=dram:1M"}}) {
    Load("resnet18_small", flags);
    const measure::RunVerdict verdict = Check();
    EXPECT_EQ(verdict.reason, "") << testing::PrintToString(flags);
    EXPECT_LE(verdict.largest_error, verdict.limit);
    EXPECT_EQ(verdict.unverified, 0);
    if (flags == std::vector<std::string>{"--connect=register"}) {
      // A tensor for every group, or nearly.
      EXPECT_GE(verdict.tensors, 20);
      EXPECT_EQ(verdict.wide, 0);
      EXPECT_EQ(verdict.limit, 4);
    }
  }
}

// A mask is drawn as one and words are words of the table: nothing overflows.
TEST_F(CheckRunTest, OfInputsThatAreMasksEverythingIsVerified) {
  Load("bert_small");
  EXPECT_FALSE(DrawnFrom(*source_.imported).empty());
  const measure::RunVerdict verdict = Check();
  EXPECT_EQ(verdict.reason, "");
  EXPECT_EQ(verdict.unverified, 0);
}

// Of exp(x - 90).
TEST_F(CheckRunTest, FlushedDenormalsAreRightWhereTheyWereAskedFor) {
  ModelBuilder b;
  b.Input("X", {64}).Floats("shift", {}, {-90}).Output("Y");
  b.Node("Add", {"X", "shift"}, {"A"});
  b.Node("Exp", {"A"}, {"Y"});
  const std::string path = testing::TempDir() + "/denormals.onnx";
  std::ofstream file(path, std::ios::binary);
  ASSERT_TRUE(b.model().SerializeToOstream(&file));
  file.close();
  LoadFile(path, {"--flush-denormals"});
  EXPECT_EQ(Check().reason, "");
  source_.flush_denormals = false;
  EXPECT_THAT(Check().reason, HasSubstr("is 0, expected"));
}

TEST_F(CheckRunTest, OperandsRoundedToBf16AreVerifiedAsTheTensorsTheyWere) {
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<std::string> missing,
      MissingCpuFeatures("x86-64-v4-bf16", HostCpuFeatures()));
  if (!missing.empty()) GTEST_SKIP() << "this CPU has no products of bf16";
  Load("resnet18_small",
       {"--allow=bf16", "--target=cpu:x86-64-v4-bf16", "--connect=none"});
  const measure::RunVerdict verdict = Check();
  EXPECT_EQ(verdict.reason, "");
  EXPECT_GT(verdict.tensors, 20);
}

TEST_F(CheckRunTest, AModelThatComputesSomethingElseIsNamedByItsFirstTensor) {
  Load("resnet18_small");
  // As if a kernel had another weight than the model.
  TensorGraph& graph = source_.imported->graph;
  TensorGraph other;
  int constants = 0;
  std::string changed;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kPlaceholder) {
      other.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
    } else if (tensor.kind == TensorKind::kCompute) {
      other.AddCompute(tensor.name, tensor.dtype, tensor.compute, tensor.hint);
    } else {
      auto value = std::make_shared<HostTensor>(*tensor.value);
      if (++constants == 9) {
        for (float& weight : value->as<float>()) weight *= 1.001F;
        changed = tensor.name;
      }
      other.AddConstant(tensor.name, value);
    }
  }
  other.SetOutputs({graph.outputs().begin(), graph.outputs().end()});
  graph = std::move(other);
  const measure::RunVerdict verdict = Check();
  EXPECT_THAT(verdict.reason, HasSubstr("expected")) << changed;
  EXPECT_LT(verdict.tensors, 20);
  EXPECT_THAT(CheckText(verdict, false), HasSubstr("check: wrong: '"));
}

TEST_F(CheckRunTest, RunsThatDifferAreWrong) {
  Load("mlp_odd");
  EXPECT_THAT(Check().reason, IsEmpty());
  outputs_[0].data()[0] ^= 1;
  EXPECT_THAT(Check().reason, HasSubstr("two runs"));
}

TEST_F(CheckRunTest, TheTextSaysWhatACapWeakens) {
  const measure::RunVerdict right;
  EXPECT_THAT(CheckText(right, /*capped=*/true), HasSubstr("check: weak: "));
  EXPECT_THAT(CheckText(right, /*capped=*/false),
              testing::Not(HasSubstr("weak")));
}

}  // namespace
}  // namespace tilewright::tools
