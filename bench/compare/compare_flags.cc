#include "bench/compare/compare_flags.h"

#include <optional>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "compiler/rewrite_model.h"

namespace tilewright::bench {

absl::StatusOr<CompareFlags> ParseCompareFlags(
    const std::vector<std::string>& arguments, const char* environment_ort,
    const char* working_directory) {
  CompareFlags flags;
  if (environment_ort != nullptr) flags.ort = environment_ort;
  OptionParser parser;
  parser.Value("ort", [&](absl::string_view path) {
    flags.ort = UserPath(path, working_directory);
    return absl::OkStatus();
  });
  parser.List("threads", &flags.threads, 1);
  parser.Number("seconds", &flags.seconds, 0.0);
  parser.Value("connect", [&](absl::string_view how) {
    const std::optional<PlanOptions::Connect> connect =
        ParseConnect(ToStd(how));
    if (!connect)
      return absl::InvalidArgumentError("give tilegraph, register or none");
    flags.connect = *connect;
    return absl::OkStatus();
  });
  parser.Value("allow", [&](absl::string_view list) -> absl::Status {
    for (const absl::string_view name :
         absl::StrSplit(list, ',', absl::SkipWhitespace())) {
      TW_RETURN_IF_ERROR(CheckChoice(name, {kAllowWinograd4, kAllowBf16}));
      flags.allow.emplace_back(name);
    }
    return absl::OkStatus();
  });
  parser.Value("huge-pages", [&](absl::string_view which) {
    const std::optional<HugePages> parsed = ParseHugePages(ToStd(which));
    if (!parsed) return absl::InvalidArgumentError("give both, none or own");
    flags.huge_pages = *parsed;
    return absl::OkStatus();
  });
  parser.Value("target", [&](absl::string_view name) {
    const absl::StatusOr<TargetClass> target = ParseTargetClass(ToStd(name));
    if (target.ok()) flags.target = *target;
    return target.status();
  });
  parser.Flag("verify", &flags.verify);
  parser.Flag("json", &flags.json);
  TW_ASSIGN_OR_RETURN(flags.folders, parser.Parse(arguments));
  if (flags.folders.empty())
    return absl::InvalidArgumentError("no folder with a model.onnx was given");
  for (std::string& folder : flags.folders)
    folder = UserPath(folder, working_directory);
  return flags;
}

}  // namespace tilewright::bench
