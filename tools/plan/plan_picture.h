// A plan as a picture: groups as boxes in the order in which they run, their
// stages inside, the tensors that pass between them as arrows. Groups of one
// kernel side by side are one box, stretches of the model that repeat are drawn
// once, in a frame that says how often.
#ifndef TILEWRIGHT_TOOLS_PLAN_PLAN_PICTURE_H_
#define TILEWRIGHT_TOOLS_PLAN_PLAN_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/spec/device_spec.pb.h"
#include "compiler/compile.h"
#include "tools/plan/plan_report.h"
#include "tools/plan/repeats.h"

namespace tilewright::tools {

// Where bytes are, or what takes the longest: as GroupEvaluator names the
// levels.
enum class Limit { kCompute, kPrivate, kShared, kMemory, kUnknown };

struct PictureStage {
  std::string operators;
  std::vector<int64_t> tile;  // of its result, for one tile of the group
  int64_t bytes = 0;
};

struct PictureTensor {
  std::string name;
  double bytes = 0;
  Limit level = Limit::kMemory;
};

struct PictureBox {
  enum class Kind { kInput, kGroup, kOutput } kind = Kind::kGroup;
  std::string title;  // "matmul+add", or names of inputs and outputs
  std::string shape;
  // All that it stands for, ascending; facts are those of the first.
  std::vector<int> groups;
  int times = 1;  // side by side; frames repeat that
  Limit limit = Limit::kUnknown;
  std::string time;  // predicted, of one launch on one core
  std::vector<PictureStage> stages;
  // The tensors that leave it.
  std::vector<PictureTensor> tensors;
};

struct PictureArrow {
  int from = 0, to = 0;  // boxes
  Limit level = Limit::kMemory;
  double bytes = 0;
};

struct Picture {
  std::vector<PictureBox> boxes;  // inputs, groups, outputs; topological
  std::vector<PictureArrow> arrows;
  std::vector<Repeat> frames;  // of boxes, outer ones first
  // Names of the levels, as the spec has them, by Limit.
  std::vector<std::string> levels;
};

// All must outlive the call only.
Picture MakePicture(const CompiledModel& compiled, const PlanReport& report,
                    const DeviceSpec& spec);

// As SVG: with `alone` a document with its own colours, light or dark;
// otherwise an element for a page that defines them. Same plan, same bytes.
std::string PictureSvg(const Picture& picture, bool alone);

// A page that needs nothing else: the picture, sums over the model, and of
// every box why it is as it is and what was predicted.
std::string PlanPage(const CompiledModel& compiled, const PlanReport& report,
                     const Picture& picture, absl::string_view title);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PLAN_PLAN_PICTURE_H_
