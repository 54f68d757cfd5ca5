#include "bench/fuzz/fuzz_runs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "bench/fuzz/fuzz_answer.h"
#include "bench/fuzz/mutate_tw.h"
#include "bench/fuzz/ort_case.h"
#include "bench/fuzz/own_case.h"
#include "bench/fuzz/tw_case.h"
#include "google/protobuf/stubs/logging.h"

namespace tilewright::bench {
namespace {

// A child sets up what it needs with its first case.
const OwnCase& OwnCaseHere() {
  static const OwnCase& own = *[] {
    google::protobuf::SetLogHandler(nullptr);
    auto created = OwnCase::Create();
    TW_CHECK_OK(created.status());
    return created->release();
  }();
  return own;
}

void ShowProgress(const FuzzRunOptions& options, const FuzzReport& report,
                  int64_t done, size_t problems_before) {
  if (!options.progress) return;
  for (size_t i = problems_before; i < report.problems().size(); ++i)
    std::printf("%s\n", report.problems()[i].c_str());
  if (done % 1000 == 0)
    std::printf("%lld cases\n", static_cast<long long>(done));
  std::fflush(stdout);
}

std::string TemporaryFile() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = absl::StrCat(folder != nullptr ? folder : "/tmp",
                                  "/tilewright_fuzz_XXXXXX");
  const int file = mkstemp(path.data());
  TW_CHECK(file >= 0) << path;
  close(file);
  return path;
}

}  // namespace

FuzzReport FuzzOnnx(const std::vector<FuzzSeed>& seeds,
                    const FuzzRunOptions& options) {
  FuzzWorker ours(
      [&](int64_t index) {
        const FuzzMutant mutant = MakeMutant(seeds, index);
        return Encode(OwnCaseHere().Run(
            mutant.model, static_cast<uint64_t>(index), options.max_work));
      },
      options.limits);
  const bool has_peer = !options.ort_library.empty();
  const std::string path = has_peer ? TemporaryFile() : "";
  FuzzWorker theirs(
      [&](int64_t index) {
        return Encode(RunOrtCase(options.ort_library, path,
                                 MakeMutant(seeds, index).model,
                                 static_cast<uint64_t>(index)));
      },
      options.limits);
  FuzzReport report;
  for (int64_t i = 0; i < options.models; ++i) {
    const int64_t index = options.first + i;
    const FuzzMutant mutant = MakeMutant(seeds, index);
    const std::string about = absl::StrCat(mutant.origin, ": ", mutant.change);
    const size_t before = report.problems().size();
    const CaseEnd end = ours.Run(index);
    const FuzzAnswer answer = Decode(end.answer);
    report.Add(index, about, end, answer);
    if (has_peer && end.kind == CaseEnd::Kind::kAnswered) {
      const CaseEnd peer = theirs.Run(index);
      report.AddPeer(index, about, answer, peer, Decode(peer.answer));
    }
    ShowProgress(options, report, i + 1, before);
  }
  if (has_peer) unlink(path.c_str());
  return report;
}

FuzzReport FuzzTw(const std::vector<FuzzSeed>& seeds,
                  const FuzzRunOptions& options) {
  // Compiled in a child: compiling here would leave threads behind.
  FuzzWorker compiler(
      [&](int64_t index) {
        const auto tw =
            OwnCaseHere().CompileToTw(seeds[static_cast<size_t>(index)].model);
        return tw.ok() ? *tw : std::string();
      },
      options.limits);
  std::vector<std::string> files;
  constexpr size_t kMostFiles = 24;
  const size_t step = std::max<size_t>(1, seeds.size() / kMostFiles);
  for (size_t i = 0; i < seeds.size(); i += step) {
    const CaseEnd end = compiler.Run(static_cast<int64_t>(i));
    if (!end.answer.empty()) files.push_back(end.answer);
  }
  TW_CHECK(!files.empty()) << "no seed compiles";
  FuzzWorker worker(
      [&](int64_t index) {
        return Encode(
            RunTwCase(MakeTwMutant(files, index), OwnCaseHere().device()));
      },
      options.limits);
  FuzzReport report;
  for (int64_t i = 0; i < options.models; ++i) {
    const int64_t index = options.first + i;
    const size_t before = report.problems().size();
    const CaseEnd end = worker.Run(index);
    report.Add(index, MakeTwMutant(files, index).change, end,
               Decode(end.answer));
    ShowProgress(options, report, i + 1, before);
  }
  return report;
}

}  // namespace tilewright::bench
