// Malformed models: each gives one line that says what is wrong and what to do.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "testdata/bad";

// A copy, since what a test sees are symbolic links, and those are refused.
std::string CopyOfModels() {
  const std::string root = testing::TempDir() + "/models";
  fs::remove_all(root);
  fs::create_directories(root + "/bad");
  fs::create_directories(root + "/mlp_odd");
  fs::copy_file("testdata/mlp_odd/model.onnx", root + "/mlp_odd/model.onnx");
  for (const auto& entry : fs::directory_iterator(kData)) {
    const std::string name = entry.path().filename().string();
    if (name == "link.bin") continue;
    std::ifstream from(entry.path(), std::ios::binary);
    std::ofstream to(root + "/bad/" + name, std::ios::binary);
    if (from.peek() != EOF) to << from.rdbuf();
  }
  fs::create_symlink("../mlp_odd/model.onnx", root + "/bad/link.bin");
  return root + "/bad/";
}

class BadModelsTest : public testing::Test {
 protected:
  absl::Status Import(const std::string& name) {
    const absl::Status status = ImportModel(folder_ + name).status();
    return absl::Status(status.code(),
                        absl::StrReplaceAll(status.message(), {{folder_, ""}}));
  }
  const std::string folder_ = CopyOfModels();
};

TEST_F(BadModelsTest, EveryOneIsRefusedInOneLineWithTheExpectedWords) {
  std::ifstream table(std::string(kData) + "/expected.tsv");
  std::string line;
  int count = 0;
  while (std::getline(table, line)) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    ASSERT_EQ(fields.size(), 3) << line;
    ++count;
    const absl::Status status = Import(fields[0]);
    EXPECT_FALSE(status.ok()) << fields[0];
    EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "; ")) << status;
    for (const auto& word : absl::StrSplit(fields[2], ' ')) {
      EXPECT_TRUE(absl::StrContains(status.message(), word))
          << fields[0] << " should say " << word << ": " << status;
    }
  }
  EXPECT_GE(count, 40);
}

TEST_F(BadModelsTest, SaysExactlyThis) {
  const std::map<std::string, std::string> messages = {
      {"truncated.onnx",
       "model 'truncated.onnx' (1104 bytes) is no ONNX model, is truncated or "
       "nests deeper than 64; export or copy it again"},
      {"garbage.onnx",
       "model 'garbage.onnx' (4096 bytes) is no ONNX model, is truncated or "
       "nests deeper than 64; export or copy it again"},
      {"external_absolute.onnx",
       "tensor 'B': external data '/etc/hostname' is an absolute path; only "
       "files inside the model's folder are read, move it there"},
      {"external_parent.onnx",
       "tensor 'B': external data '../mlp_odd/model.onnx' contains '..'; only "
       "files inside the model's folder are read, move it there"},
      {"external_symlink.onnx",
       "tensor 'B': external data 'link.bin' is or passes a symbolic link; "
       "only files inside the model's folder are read, move it there"},
      {"cycle.onnx",
       "the graph has a cycle: 'U' -> 'V' -> 'U'; export the model again"},
      {"undefined_name.onnx",
       "node of 'Y' (MatMul) reads 'ghost', which no input, initializer or "
       "node defines; export the model again"},
      {"duplicate_name.onnx",
       "value 'T' of node of 'T' (Relu) is defined twice; names must be "
       "unique, export the model again"},
      {"shapes_matmul.onnx",
       "node of 'T' (MatMul): shapes [8, 16] and [15, 24] do not multiply; fix "
       "the model"},
      {"shapes_broadcast.onnx",
       "node of 'Y' (Add): shapes [8, 3] and [8, 4] do not broadcast; fix the "
       "model"},
      {"shapes_declared.onnx",
       "node of 'Y' (Relu): value 'Y' has shape [8, 24] but the model declares "
       "[8, 25]; export it again"},
      {"operators_unknown.onnx",
       "the model uses what is not supported: operators Frobnicate, Quuxify, "
       "com.example.Widget; domains com.example; export it with supported "
       "operators"},
      {"opset_too_new.onnx",
       "the model uses what is not supported: opset 99 of ai.onnx (supported "
       "are 6 to 25); export it with supported operators"},
      {"dynamic_dimension.onnx",
       "dimension 'N' of input 'A' has no value; give it one with "
       "--dim=N=VALUE"},
  };
  for (const auto& [name, message] : messages) {
    EXPECT_EQ(Import(name).message(), message) << name;
  }
}

}  // namespace
}  // namespace tilewright
