#include "bench/compare/compare_flags.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/string_view.h"

namespace tilewright::bench {

absl::StatusOr<CompareFlags> ParseCompareFlags(
    const std::vector<std::string>& arguments, const char* environment_ort,
    const char* working_directory) {
  const auto user_path = [&](absl::string_view path) {
    return working_directory == nullptr || absl::StartsWith(path, "/")
               ? std::string(path)
               : absl::StrCat(working_directory, "/", path);
  };
  CompareFlags flags;
  if (environment_ort != nullptr) flags.ort = environment_ort;
  for (const std::string& text : arguments) {
    absl::string_view argument = text;
    if (absl::ConsumePrefix(&argument, "--ort=")) {
      flags.ort = user_path(argument);
    } else if (absl::ConsumePrefix(&argument, "--threads=")) {
      flags.threads.clear();
      for (const absl::string_view part : absl::StrSplit(argument, ',')) {
        int threads = 0;
        if (!absl::SimpleAtoi(part, &threads) || threads < 1)
          return absl::InvalidArgumentError(
              absl::StrCat("--threads: '", part,
                           "' is no thread count; give e.g. --threads=1,2"));
        flags.threads.push_back(threads);
      }
    } else if (absl::ConsumePrefix(&argument, "--seconds=")) {
      if (!absl::SimpleAtod(argument, &flags.seconds) || flags.seconds < 0)
        return absl::InvalidArgumentError(absl::StrCat(
            "--seconds: '", argument, "' is no number of seconds"));
    } else if (absl::ConsumePrefix(&argument, "--connect=")) {
      const std::optional<PlanOptions::Connect> connect =
          ParseConnect(ToStd(argument));
      if (!connect)
        return absl::InvalidArgumentError(absl::StrCat(
            "--connect: '", argument, "'; give tilegraph, register or none"));
      flags.connect = *connect;
    } else if (argument == "--judge") {
      flags.judge = true;
    } else if (argument == "--json") {
      flags.json = true;
    } else if (absl::StartsWith(argument, "-")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown flag ", argument,
          "; known: --ort=LIB --threads=1,2 --seconds=S --connect=HOW --judge "
          "--json"));
    } else {
      flags.folders.push_back(user_path(argument));
    }
  }
  if (flags.folders.empty())
    return absl::InvalidArgumentError("no folder with a model.onnx was given");
  return flags;
}

}  // namespace tilewright::bench
