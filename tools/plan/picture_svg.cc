#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/plan/layers.h"
#include "tools/plan/picture_text.h"
#include "tools/plan/plan_picture.h"

namespace tilewright::tools {
namespace {

constexpr double kWidth = 250, kPillWidth = 168, kStage = 36, kMargin = 16;
constexpr double kFrameTop = 24, kFrameSide = 12;
constexpr int kTitleChars = 25, kPillChars = 20, kStageChars = 30;

// The variables that a page defines for its own look (tools/page/style.css).
constexpr char kOwnColours[] =
    "svg{--card:#fff;--ink:#1d1d1b;--soft:#6b6b66;--faint:#e5e5df;"
    "--hover:#f1f1ec;--compute:#3167d6;--private:#2f9e58;--shared:#c98a10;"
    "--memory:#cf4b3c;font-family:system-ui,sans-serif;background:var(--card)}"
    "@media(prefers-color-scheme:dark){svg{--card:#1f1f22;--ink:#ececea;"
    "--soft:#9b9b97;--faint:#323236;--hover:#29292d;--compute:#6d9bff;"
    "--private:#6bcf8b;--shared:#eab54a;--memory:#f27a6a}}";
constexpr char kLook[] =
    ".plan text{font-size:12px;fill:var(--soft);stroke:none}"
    ".plan .name{fill:var(--ink);font-weight:600;font-size:12.5px}"
    ".plan .small{font-size:11px}.plan .end{text-anchor:end}"
    ".plan .middle{text-anchor:middle}"
    ".plan .label{font-size:11px;paint-order:stroke;stroke:var(--card);"
    "stroke-width:4px}"
    ".plan .body{fill:var(--card);stroke:var(--c);stroke-width:1.2}"
    ".plan .bar{fill:var(--c)}"
    ".plan .stage{fill:var(--hover);stroke:var(--faint)}"
    ".plan .pill .body{fill:var(--hover);stroke:var(--faint)}"
    ".plan .times{fill:var(--c);font-weight:650}"
    ".plan .frame{fill:none;stroke:var(--soft);stroke-dasharray:5 4;"
    "opacity:.7}"
    ".plan .arrow{fill:none;stroke:var(--c);opacity:.5}"
    ".plan .arrow.on{opacity:1}.plan .on .body{stroke-width:2.6}"
    ".plan .compute{--c:var(--compute)}.plan .private{--c:var(--private)}"
    ".plan .shared{--c:var(--shared)}.plan .memory{--c:var(--memory)}"
    ".plan .unknown{--c:var(--soft)}";

const char* ClassOf(Limit limit) {
  switch (limit) {
    case Limit::kCompute:
      return "compute";
    case Limit::kPrivate:
      return "private";
    case Limit::kShared:
      return "shared";
    case Limit::kMemory:
      return "memory";
    case Limit::kUnknown:
      return "unknown";
  }
  return "unknown";
}

bool IsGroup(const PictureBox& box) {
  return box.kind == PictureBox::Kind::kGroup;
}

double HeightOf(const PictureBox& box) {
  if (!IsGroup(box)) return 40;
  return 44 + (box.stages.empty() ? 0 : 6) +
         kStage * static_cast<double>(box.stages.size());
}

// Rows: boxes between frames by what they read, frames below each other.
class Rows {
 public:
  explicit Rows(const Picture& picture)
      : picture_(picture), rows(picture.boxes.size(), 0) {
    const int boxes = static_cast<int>(picture.boxes.size());
    int begin = 0, end = boxes;
    while (begin < end && !IsGroup(picture.boxes[begin])) ++begin;
    while (end > begin && !IsGroup(picture.boxes[end - 1])) --end;
    int row = begin > 0 ? 1 : 0;
    size_t frame = 0;
    row = Place(begin, end, row, frame);
    for (int box = end; box < boxes; ++box) rows[box] = row;
    count = end < boxes ? row + 1 : row;
  }

 private:
  // The next free row; `frame` is the next one that begins.
  int Place(int begin, int end, int row, size_t& frame) {
    int first = row;  // of the boxes since the last frame
    int since = begin;
    for (int box = begin; box < end;) {
      if (frame < picture_.frames.size() &&
          picture_.frames[frame].begin == box &&
          picture_.frames[frame].end <= end) {
        const int behind = picture_.frames[frame].end;
        ++frame;
        first = row = since = Place(box, behind, row, frame);
        box = since = behind;
        continue;
      }
      int at = first;
      for (const PictureArrow& arrow : picture_.arrows) {
        if (arrow.to == box && arrow.from >= since)
          at = std::max(at, rows[arrow.from] + 1);
      }
      rows[box] = at;
      row = std::max(row, at + 1);
      ++box;
    }
    return row;
  }

  const Picture& picture_;

 public:
  std::vector<int> rows;
  int count = 0;
};

void AppendText(double x, double y, const char* classes,
                const std::string& text, std::string& out) {
  absl::StrAppendFormat(&out, "<text x=\"%g\" y=\"%g\" class=\"%s\">%s</text>",
                        x, y, classes, Escaped(text));
}

void AppendRect(double x, double y, double width, double height, double round,
                const char* classes, std::string& out) {
  absl::StrAppendFormat(&out,
                        "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
                        "rx=\"%g\" class=\"%s\"/>",
                        x, y, width, height, round, classes);
}

std::string WidthOf(double bytes) {
  return absl::StrFormat(
      "%.1f",
      std::clamp(1 + 0.55 * std::log2(std::max(1.0, bytes / 16384)), 1.0, 6.0));
}

// Falls straight through the rows that it passes, in curves between them.
void AppendArrow(const PictureArrow& arrow, const LayerLine& line, size_t index,
                 std::string& out) {
  std::string path;
  for (size_t i = 0; i < line.points.size(); ++i) {
    const auto& [x, y] = line.points[i];
    if (i == 0) {
      absl::StrAppendFormat(&path, "M%g %g", x, y);
    } else if (i % 2 == 0) {
      absl::StrAppendFormat(&path, "L%g %g", x, y);
    } else {
      const auto& [from_x, from_y] = line.points[i - 1];
      const double middle = (from_y + y) / 2;
      absl::StrAppendFormat(&path, "C%g %g %g %g %g %g", from_x, middle, x,
                            middle, x, y);
    }
  }
  absl::StrAppend(&out, "<path id=\"a", index, "\" class=\"arrow ",
                  ClassOf(arrow.level), "\" data-from=\"b", arrow.from,
                  "\" data-to=\"b", arrow.to, "\" stroke-width=\"",
                  WidthOf(arrow.bytes), "\" d=\"", path, "\"/>\n");
}

void AppendStages(const PictureBox& box, const LayerBox& at,
                  const std::string& level, std::string& out) {
  double y = at.y + 44;
  for (size_t s = 0; s < box.stages.size(); ++s, y += kStage) {
    const PictureStage& stage = box.stages[s];
    AppendRect(at.x + 14, y, kWidth - 24, kStage - 5, 4, "stage", out);
    AppendText(at.x + 21, y + 13, "small",
               Clipped(stage.operators, kStageChars), out);
    if (stage.tile.empty()) continue;
    // The last stage writes the result itself.
    const std::string where =
        s + 1 < box.stages.size()
            ? absl::StrCat(", ", BytesText(static_cast<double>(stage.bytes)),
                           " in ", level)
            : std::string();
    AppendText(at.x + 21, y + 26, "small",
               absl::StrCat("tile ", TileText(stage.tile), where), out);
  }
}

void AppendBox(const Picture& picture, size_t index, const LayerBox& at,
               std::string& out) {
  const PictureBox& box = picture.boxes[index];
  const bool group = IsGroup(box);
  absl::StrAppend(&out, "<g id=\"b", index, "\" class=\"",
                  group ? "group " : "pill ", ClassOf(box.limit), "\"");
  if (group)
    absl::StrAppend(&out, " data-groups=\"", absl::StrJoin(box.groups, " "),
                    "\"");
  absl::StrAppend(&out, "><title>", Escaped(box.title), "</title>");
  AppendRect(at.x, at.y, at.width, at.height, group ? 7 : 20, "body", out);
  if (!group) {
    const double middle = at.x + at.width / 2;
    AppendText(middle, at.y + 17, "name middle", Clipped(box.title, kPillChars),
               out);
    AppendText(middle, at.y + 31, "small middle",
               Clipped(box.shape, kPillChars + 4), out);
  } else {
    AppendRect(at.x, at.y, 6, at.height, 3, "bar", out);
    AppendText(
        at.x + 15, at.y + 18, "name",
        Clipped(box.title, box.times > 1 ? kTitleChars - 4 : kTitleChars), out);
    if (box.times > 1)
      AppendText(at.x + at.width - 9, at.y + 18, "times end",
                 absl::StrCat("×", box.times), out);
    AppendText(at.x + 15, at.y + 34, "", Clipped(box.shape, 24), out);
    AppendText(at.x + at.width - 9, at.y + 34, "end", box.time, out);
    AppendStages(box, at, picture.levels[static_cast<int>(Limit::kPrivate)],
                 out);
  }
  out += "</g>\n";
}

// "384 KiB in l2", under the box.
void AppendTensors(const Picture& picture, const PictureBox& box,
                   const LayerBox& at, std::string& out) {
  if (!IsGroup(box)) return;
  std::vector<std::string> texts;
  for (const PictureTensor& tensor : box.tensors)
    texts.push_back(
        absl::StrCat(BytesText(tensor.bytes), " in ",
                     picture.levels[static_cast<int>(tensor.level)]));
  AppendText(at.x + at.width / 2 + 8, at.y + at.height + 14, "label",
             absl::StrJoin(texts, ", "), out);
}

void AppendFrame(const Repeat& frame, double inset,
                 const std::vector<LayerBox>& boxes, std::string& out) {
  double left = 1e9, right = 0, top = 1e9, bottom = 0;
  for (int b = frame.begin; b < frame.end; ++b) {
    left = std::min(left, boxes[b].x);
    right = std::max(right, boxes[b].x + boxes[b].width);
    top = std::min(top, boxes[b].y);
    bottom = std::max(bottom, boxes[b].y + boxes[b].height);
  }
  left -= inset, right += inset;
  top -= inset / kFrameSide * kFrameTop, bottom += 20 + inset;
  AppendRect(left, top, right - left, bottom - top, 10, "frame", out);
  AppendText(left + 10, top + 16, "name",
             absl::StrCat(frame.times, " times, one after the other"), out);
}

}  // namespace

std::string PictureSvg(const Picture& picture, bool alone) {
  const Rows rows(picture);
  std::vector<LayerBox> boxes;
  for (size_t b = 0; b < picture.boxes.size(); ++b) {
    LayerBox& box = boxes.emplace_back();
    box.row = rows.rows[b];
    box.width = IsGroup(picture.boxes[b]) ? kWidth : kPillWidth;
    box.height = HeightOf(picture.boxes[b]);
  }
  std::vector<LayerLine> lines;
  for (const PictureArrow& arrow : picture.arrows)
    lines.push_back({arrow.from, arrow.to, {}});
  LayerOptions options;
  options.space_above.assign(rows.count + 1, 0);
  // How many frames lie within each.
  std::vector<int> within(picture.frames.size(), 0);
  for (size_t f = picture.frames.size(); f-- > 0;) {
    const Repeat& frame = picture.frames[f];
    for (size_t inner = f + 1; inner < picture.frames.size(); ++inner) {
      if (picture.frames[inner].begin < frame.end)
        within[f] = std::max(within[f], within[inner] + 1);
    }
    int first = rows.count, last = 0;
    for (int b = frame.begin; b < frame.end; ++b) {
      first = std::min(first, rows.rows[b]);
      last = std::max(last, rows.rows[b]);
    }
    options.space_above[first] += kFrameTop;
    options.space_above[last + 1] += kFrameSide;
  }
  const LayerSize size = PlaceLayers(boxes, lines, options);
  const double side = kMargin + 3 * kFrameSide;
  const double width = size.width + 2 * side, height = size.height + 50;
  std::string out = absl::StrFormat(
      "<svg%s viewBox=\"%g %g %g %g\" width=\"%g\" height=\"%g\" "
      "class=\"plan\">\n<style>%s%s</style>\n",
      alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", -side, -kMargin,
      width, height, width, height, alone ? kOwnColours : "", kLook);
  for (size_t f = 0; f < picture.frames.size(); ++f)
    AppendFrame(picture.frames[f], kFrameSide * (within[f] + 1), boxes, out);
  for (size_t a = 0; a < picture.arrows.size(); ++a)
    AppendArrow(picture.arrows[a], lines[a], a, out);
  for (size_t b = 0; b < boxes.size(); ++b) {
    AppendTensors(picture, picture.boxes[b], boxes[b], out);
    AppendBox(picture, b, boxes[b], out);
  }
  return out + "</svg>\n";
}

}  // namespace tilewright::tools
