// Measures one table that can be replayed:
// make_table --out=TABLE [OPTIONS] FILE
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/measuring/named_workload.h"
#include "bench/measuring/workload_main.h"
#include "bench/search/live_search.h"
#include "bench/search/table_maker.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::bench {
namespace {

struct Flags {
  std::string policy = "sketch";
  std::string out;
  MakeTableOptions table;
};

absl::Status Run(const Flags& flags, const std::vector<std::string>& files) {
  if (flags.out.empty() || files.size() != 1)
    return absl::InvalidArgumentError("make_table: one FILE and --out=TABLE");
  TW_ASSIGN_OR_RETURN(const NamedWorkload named, ReadWorkload(files[0]));
  TW_ASSIGN_OR_RETURN(const sketch::Generator generator,
                      GeneratorOf(flags.policy, named));
  measure::ProcessPoolOptions options = OneThreadPool();
  options.workers = 1;
  TW_ASSIGN_OR_RETURN(const auto pool, measure::ProcessPool::Create(options));
  TW_ASSIGN_OR_RETURN(
      const SearchTableProto table,
      MakeTable(named, generator, flags.table, *pool, [](int done, int all) {
        std::fprintf(stderr, "%d of %d entries\n", done, all);
      }));
  return WriteFileAtomically(flags.out, table.SerializeAsString());
}

constexpr char kUsage[] =
    "--out=TABLE [--policy=rules|sketch|template] [--points=N] [--seed=N] "
    "[--executions=N] [--pass_seconds=S]";

int Main(int argc, char** argv) {
  Flags flags;
  OptionParser options;
  options.Text("out", &flags.out);
  options.Text("policy", &flags.policy);
  options.Number("points", &flags.table.points, 1);
  options.Number("seed", &flags.table.seed, 0);
  options.Number("executions", &flags.table.executions, 1);
  options.Number("pass_seconds", &flags.table.pass_seconds, 0.0);
  return RunOnFiles(
      argc, argv, "make_table", kUsage, options,
      [&](const std::vector<std::string>& files) { return Run(flags, files); });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
