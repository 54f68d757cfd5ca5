#include "tools/plan/plan_picture.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/plan/picture_text.h"
#include "tools/plan/plan_report.h"

namespace tilewright::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Drawn {
  CompiledModel compiled;
  PlanReport report;
  Picture picture;
};

// Made once for each, but for `again`.
const Drawn& Draw(const std::string& model, PlanOptions::Connect connect,
                  int again = 0) {
  static auto& known =
      *new std::map<std::tuple<std::string, PlanOptions::Connect, int>,
                    std::unique_ptr<Drawn>>;
  std::unique_ptr<Drawn>& drawn = known[{model, connect, again}];
  if (drawn != nullptr) return *drawn;
  drawn = std::make_unique<Drawn>();
  const absl::StatusOr<DeviceSpec> spec = HostSpec();
  EXPECT_THAT(spec.status(), IsOk());
  const auto codegen = cpu::CreateCpuCodegen(*spec);
  const auto imported =
      ImportModel(absl::StrCat("testdata/", model, "/model.onnx"));
  EXPECT_THAT(imported.status(), IsOk());
  CompileOptions options;
  options.plan.connect = connect;
  auto compiled = Compile(*imported, **codegen, options);
  EXPECT_THAT(compiled.status(), IsOk());
  drawn->compiled = *std::move(compiled);
  drawn->report = ReportPlan(drawn->compiled, (*codegen)->spec());
  drawn->picture =
      MakePicture(drawn->compiled, drawn->report, (*codegen)->spec());
  return *drawn;
}

// Elements of XML that is well formed; empty if it is not.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
};
std::vector<Element> Parse(const std::string& xml) {
  std::vector<Element> elements;
  std::vector<std::string> open;
  size_t at = 0;
  while (at < xml.size()) {
    const size_t begin = xml.find('<', at);
    // Between tags: no mark that is not escaped.
    const std::string between = xml.substr(at, begin - at);
    if (absl::StrContains(between, ">")) return {};
    for (size_t i = between.find('&'); i != std::string::npos;
         i = between.find('&', i + 1)) {
      if (between.find(';', i) == std::string::npos) return {};
    }
    if (begin == std::string::npos) break;
    const size_t end = xml.find('>', begin);
    if (end == std::string::npos) return {};
    std::string tag = xml.substr(begin + 1, end - begin - 1);
    at = end + 1;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return {};
      open.pop_back();
      continue;
    }
    const bool closed = tag.back() == '/';
    if (closed) tag.pop_back();
    Element& element = elements.emplace_back();
    element.name = tag.substr(0, tag.find(' '));
    for (size_t i = element.name.size(); i < tag.size();) {
      const size_t equals = tag.find("=\"", i);
      const size_t quote = tag.find('"', equals + 2);
      if (equals == std::string::npos || quote == std::string::npos) return {};
      element.attributes[tag.substr(i + 1, equals - i - 1)] =
          tag.substr(equals + 2, quote - equals - 2);
      i = quote + 1;
    }
    if (!closed) open.push_back(element.name);
  }
  return open.empty() ? elements : std::vector<Element>();
}

class PlanPictureTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PlanPictureTest, ShowsEveryGroupOnce) {
  const Drawn& drawn = Draw(GetParam(), PlanOptions::Connect::kTileGraph);
  const std::string svg = PictureSvg(drawn.picture, /*alone=*/true);
  const std::vector<Element> elements = Parse(svg);
  ASSERT_THAT(elements, Not(IsEmpty()));
  std::set<std::string> ids;
  std::vector<int> shown(drawn.compiled.plan.groups.size(), 0);
  for (const Element& element : elements) {
    const auto id = element.attributes.find("id");
    if (id != element.attributes.end())
      EXPECT_TRUE(ids.insert(id->second).second) << id->second;
    const auto groups = element.attributes.find("data-groups");
    if (groups == element.attributes.end()) continue;
    for (const absl::string_view group : absl::StrSplit(groups->second, ' ')) {
      int g = -1;
      ASSERT_TRUE(absl::SimpleAtoi(group, &g));
      ++shown[g];
    }
  }
  for (size_t g = 0; g < shown.size(); ++g) EXPECT_EQ(shown[g], 1) << g;
  for (const Element& element : elements) {
    if (element.name != "path") continue;
    EXPECT_EQ(ids.count(element.attributes.at("data-from")), 1u);
    EXPECT_EQ(ids.count(element.attributes.at("data-to")), 1u);
  }
  for (const PictureArrow& arrow : drawn.picture.arrows)
    EXPECT_LT(arrow.from, arrow.to);
}

// Whatever is folded: as many groups as the frames around a box say.
TEST_P(PlanPictureTest, FramesCountTheirGroups) {
  const Drawn& drawn = Draw(GetParam(), PlanOptions::Connect::kRegister);
  const Picture& picture = drawn.picture;
  for (size_t b = 0; b < picture.boxes.size(); ++b) {
    const PictureBox& box = picture.boxes[b];
    if (box.kind != PictureBox::Kind::kGroup) continue;
    int times = box.times;
    for (const Repeat& frame : picture.frames) {
      if (frame.begin <= static_cast<int>(b) && static_cast<int>(b) < frame.end)
        times *= frame.times;
    }
    EXPECT_EQ(static_cast<int>(box.groups.size()), times) << box.title;
    for (const int g : box.groups)
      EXPECT_EQ(drawn.compiled.kernel_of_group[g],
                drawn.compiled.kernel_of_group[box.groups[0]]);
  }
}

TEST_P(PlanPictureTest, PagesNeedNothingElse) {
  const Drawn& drawn = Draw(GetParam(), PlanOptions::Connect::kTileGraph);
  const std::string page = PlanPage(drawn.compiled, drawn.report, drawn.picture,
                                    "a </script> @DATA@ b");
  EXPECT_THAT(page, HasSubstr("a <\\/script> @DATA@ b"));
  for (const char* const no : {"http", "@PICTURE@", "@STYLE@", "src=", "nan"})
    EXPECT_THAT(page, Not(HasSubstr(no)));
  EXPECT_LT(page.size(), 400u << 10);
  for (const Group& group : drawn.compiled.plan.groups)
    EXPECT_THAT(page, HasSubstr(absl::StrJoin(group.why, "; ")));
}

INSTANTIATE_TEST_SUITE_P(Models, PlanPictureTest,
                         ::testing::Values("tiny/gemm_relu", "mlp64_small",
                                           "mobilenet_v2_small", "bert_small",
                                           "swin_small"));

TEST(PlanPictureTest, SamePlanSameBytes) {
  std::string pages[2];
  for (int again = 0; again < 2; ++again) {
    const Drawn& drawn =
        Draw("mobilenet_v2_small", PlanOptions::Connect::kTileGraph, again);
    pages[again] =
        PlanPage(drawn.compiled, drawn.report, drawn.picture, "model");
  }
  EXPECT_EQ(pages[0], pages[1]);
}

TEST(PlanPictureTest, LayersOfBertAreDrawnOnce) {
  const Drawn& drawn = Draw("bert_small", PlanOptions::Connect::kRegister);
  ASSERT_THAT(drawn.picture.frames, Not(IsEmpty()));
  EXPECT_GE(drawn.picture.frames[0].times, 2);
  EXPECT_GE(drawn.picture.frames[0].end - drawn.picture.frames[0].begin, 5);
}

TEST(PlanPictureTest, StagesHaveTiles) {
  const Drawn& drawn = Draw("mlp_odd", PlanOptions::Connect::kTileGraph);
  int stages = 0;
  for (const PictureBox& box : drawn.picture.boxes) {
    for (const PictureStage& stage : box.stages) {
      ++stages;
      EXPECT_THAT(stage.tile, Not(IsEmpty()));
      EXPECT_GT(stage.bytes, 0);
    }
  }
  EXPECT_GE(stages, 2);
}

TEST(PlanPictureTest, NamesCannotBreakOut) {
  Picture picture;
  picture.levels = {"compute", "<l2>", "l3", "dram", ""};
  PictureBox box;
  box.title = "</svg><script>&\"\n";
  box.shape = "<b>";
  box.groups = {0};
  box.tensors = {{"t", 5000, Limit::kPrivate}};
  picture.boxes = {box};
  const std::string svg = PictureSvg(picture, /*alone=*/false);
  EXPECT_THAT(Parse(svg), Not(IsEmpty())) << svg;
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;/svg&gt;&lt;script&gt;&amp;&quot; "));
}

TEST(PictureTextTest, Numbers) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(393216), "384 KiB");
  EXPECT_EQ(BytesText(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(BytesText(1023.99 * 1024), "1.00 MiB");
  EXPECT_EQ(SecondsText(612.4e-6), "612 µs");
  EXPECT_EQ(SecondsText(2), "2 s");
  EXPECT_EQ(FlopsText(22.42e9), "22.4 GFLOP");
  EXPECT_EQ(TileText({1, 48, 2}), "1×48×2");
}

TEST(PictureTextTest, ClipsWholeCharacters) {
  EXPECT_EQ(Clipped("abcd", 4), "abcd");
  EXPECT_EQ(Clipped("abcde", 4), "abc…");
  EXPECT_EQ(Clipped("1×2×3", 5), "1×2×3");
  EXPECT_EQ(Clipped("1×2×3×4", 5), "1×2×…");
}

}  // namespace
}  // namespace tilewright::tools
