// Sums of terms that are all alike, as of a plain surface in an image: in one
// accumulator each addition would round to the same side.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// What a kernel may err by, relative to a sum of so many like terms
// (docs/verifying.md).
double AllowedError(double terms) {
  return 4 * 0x1p-24 * (std::sqrt(terms) + 8);
}

// The name of a spec that the emulator runs; empty: the CPU, else a class of
// them.
class LikeSumsTest : public testing::TestWithParam<const char*> {
 protected:
  bool on_cpu() const { return absl::string_view(GetParam()) != "h100"; }

  void SetUp() override {
    if (on_cpu()) {
      TW_ASSERT_OK_AND_ASSIGN(device_, cpu::CreateCpuDevice({1}));
      DeviceSpec spec = device_->spec();
      if (*GetParam() != 0) {
        TW_ASSERT_OK_AND_ASSIGN(
            const std::vector<std::string> missing,
            MissingCpuFeatures(GetParam(), HostCpuFeatures()));
        if (!missing.empty())
          GTEST_SKIP() << "this CPU has no " << missing.front();
        TW_ASSERT_OK_AND_ASSIGN(spec,
                                CpuSpec(GetParam(), QueryHostStructure()));
      }
      TW_ASSERT_OK_AND_ASSIGN(codegen_, cpu::CreateCpuCodegen(spec));
    } else {
      TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(GetParam()));
      codegen_ = emulator::CreateEmulatorCodegen(spec);
      device_ = emulator::CreateEmulatorDevice(spec);
    }
  }

  // Each element of `text`'s result is the sum of `terms` times the value that
  // all of X has: it must be near, for several such values.
  void ExpectSums(const std::string& text, double terms) {
    TW_ASSERT_OK_AND_ASSIGN(TensorGraph graph, ParseText(text));
    const ImportedModel model = ModelOf(std::move(graph));
    TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                            Compile(model, *codegen_, {}));
    for (const float value : {0.9146f, 1.1f, 0.3f, 1e-3f / 3}) {
      HostTensor x(DType::kFloat32, model.inputs[0].shape);
      for (int64_t i = 0; i < x.num_elements(); ++i) x.Set(i, {value, 0});
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> found,
                              RunCompiled(compiled, device_, model, {x}));
      const double wanted = terms * static_cast<double>(value);
      for (int64_t i = 0; i < found[0].num_elements(); ++i)
        ASSERT_LE(std::fabs(found[0].Get(i).f / wanted - 1),
                  AllowedError(terms))
            << text << value;
    }
  }

 private:
  std::shared_ptr<backends::Device> device_;
  std::unique_ptr<backends::Codegen> codegen_;
};

TEST_P(LikeSumsTest, OfTheChannelsOfAnImage) {
  for (const int side : {12, 14, 20, 56, 112, 251}) {
    ExpectSums(
        absl::Substitute(
            "X: f32[1, 32, $0, $0] = placeholder\n"
            "A: f32[1, 32, $0, $0] = compute (n: 1, c: 32, y: $0, x: $0) "
            "{ X[n, c, y, x] * 2.0 }\n"
            "S: f32[1, 32, 1, 1] = compute (n: 1, c: 32, oy: 1, ox: 1) reduce "
            "(i: $0, j: $0) sum:f32 { A[n, c, oy + i, ox + j] } hint \"pool\"\n"
            "return S\n",
            side),
        2.0 * side * side);
  }
}

TEST_P(LikeSumsTest, OfRowsThatLieSideBySideAndOfRows) {
  for (const int terms : {100, 161, 1000, 16384}) {
    ExpectSums(
        absl::Substitute("X: f32[$0, 96] = placeholder\n"
                         "S: f32[96] = compute (c: 96) reduce (k: $0) sum:f32 "
                         "{ X[k, c] }\nreturn S\n",
                         terms),
        terms);
    ExpectSums(
        absl::Substitute("X: f32[96, $0] = placeholder\n"
                         "S: f32[96] = compute (c: 96) reduce (k: $0) sum:f32 "
                         "{ X[c, k] }\nreturn S\n",
                         terms),
        terms);
  }
}

// Lanes share the terms of a row, and each still gets thousands.
TEST_P(LikeSumsTest, OfRowsSoLongThatLanesGetMany) {
  if (!on_cpu()) GTEST_SKIP() << "there a thread has few of a row's terms";
  for (const int terms : {20011, 262144, 1 << 20}) {
    ExpectSums(
        absl::Substitute("X: f32[3, $0] = placeholder\n"
                         "S: f32[3] = compute (c: 3) reduce (k: $0) sum:f32 "
                         "{ X[c, k] }\nreturn S\n",
                         terms),
        terms);
    ExpectSums(absl::Substitute("X: f32[$0] = placeholder\n"
                                "S: f32[] = compute () reduce (k: $0) sum:f32 "
                                "{ X[k] }\nreturn S\n",
                                terms),
               terms);
  }
  // A plain image, and the variance of one: several axes, an odd one outside.
  ExpectSums(
      "X: f32[2, 3, 500, 501] = placeholder\n"
      "S: f32[2, 1, 1, 1] = compute (n: 2, c: 1, y: 1, x: 1) reduce (r: 3, i: "
      "500, j: 501) sum:f32 { X[n, c + r, y + i, x + j] }\nreturn S\n",
      3 * 500 * 501);
  ExpectSums(
      "X: f32[2, 600, 701] = placeholder\n"
      "S: f32[2, 1, 1] = compute (n: 2, y: 1, x: 1) reduce (i: 600, j: 701) "
      "sum:f32 { X[n, y + i, x + j] }\n"
      "V: f32[2, 1, 1] = compute (n: 2, y: 1, x: 1) reduce (i: 600, j: 701) "
      "sum:f32 { X[n, y + i, x + j] + S[n, y, x] * 0.0 }\n"
      "return V\n",
      600 * 701);
}

INSTANTIATE_TEST_SUITE_P(Devices, LikeSumsTest,
                         testing::Values("", "x86-64-v2", "x86-64-v3", "h100"));

}  // namespace
}  // namespace tilewright
