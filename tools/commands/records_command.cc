// tilewright records ls|best|stats|merge|export|import DB ...
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "measure/record/store_json.h"
#include "sketch/trace/schedule.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"
#include "tools/page/json.h"
#include "tools/record_groups.h"

namespace tilewright::tools {
namespace {

using measure::AddedRecords;
using measure::Measurement;
using measure::Record;
using measure::Store;

constexpr size_t kShortFingerprint = 12;

absl::StatusOr<std::unique_ptr<Store>> OpenToRead(const std::string& path) {
  measure::StoreOptions options;
  options.read_only = true;
  return Store::Open(UserPath(path), options);
}

absl::Status NoneFound(const CommandLine& line) {
  return absl::NotFoundError(absl::StrCat(
      line.positional()[1], ": no workload whose fingerprint starts with '",
      line.Get("workload"), "'; see 'tilewright records ls'"));
}

std::string GroupsJson(const std::vector<RecordGroup>& groups) {
  Json json;
  json.Open('[');
  for (const RecordGroup& group : groups) {
    json.Open('{').Key("workload").Text(group.workload.fingerprint());
    json.Key("device").Text(group.device.spec());
    json.Key("structure").Text(group.device.structure_fingerprint());
    json.Key("records").Int(group.records);
    json.Key("verified").Int(group.verified);
    json.Key("failed").Int(group.failed);
    if (group.best) {
      json.Key("best_median_ns")
          .Number(group.best->measurement().latency().median_ns());
    }
    json.Key("computes").Text(DescribeWorkload(group.workload.text()));
    json.Close('}');
  }
  return json.Close(']').text();
}

absl::Status List(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const auto store, OpenToRead(line.positional()[1]));
  std::vector<RecordGroup> groups;
  const absl::Status status =
      CollectRecordGroups(*store, line.Get("workload"), groups);
  if (groups.empty() && line.Has("workload")) return NoneFound(line);
  if (line.Has("json")) {
    std::printf("%s\n", GroupsJson(groups).c_str());
    return status;
  }
  std::printf("%-12s  %-18s %8s %8s %7s %10s  %s\n", "workload", "device",
              "records", "verified", "failed", "best", "computes");
  for (const RecordGroup& group : groups) {
    const std::string best =
        group.best
            ? DurationText(group.best->measurement().latency().median_ns())
            : "-";
    std::printf(
        "%-12s  %-18s %8lld %8lld %7lld %10s  %s\n",
        group.workload.fingerprint().substr(0, kShortFingerprint).c_str(),
        group.device.spec().c_str(), static_cast<long long>(group.records),
        static_cast<long long>(group.verified),
        static_cast<long long>(group.failed), best.c_str(),
        DescribeWorkload(group.workload.text()).c_str());
  }
  return status;
}

// "THREAD_CPU_TIME" as "thread cpu time".
std::string Words(std::string name) {
  for (char& c : name) c = c == '_' ? ' ' : absl::ascii_tolower(c);
  return name;
}

void PrintBest(const Record& record) {
  const auto& measurement = record.measurement();
  const auto& latency = measurement.latency();
  const auto& method = measurement.method();
  std::printf(
      "%s on %s: %s\n",
      record.workload().fingerprint().substr(0, kShortFingerprint).c_str(),
      record.device().spec().c_str(),
      DescribeWorkload(record.workload().text()).c_str());
  std::printf("  median %s, min %s, mean %s, deviation %s of %lld\n",
              DurationText(latency.median_ns()).c_str(),
              DurationText(latency.min_ns()).c_str(),
              DurationText(latency.mean_ns()).c_str(),
              DurationText(latency.stddev_ns()).c_str(),
              static_cast<long long>(latency.n()));
  std::printf("  %s, %s, %d thread%s, %d at the same time%s\n",
              Words(measure::Method::Timer_Name(method.timer())).c_str(),
              Words(measure::Method::Cache_Name(method.cache())).c_str(),
              method.threads(), method.threads() == 1 ? "" : "s",
              method.degree_of_parallelism(),
              method.remeasured() ? ", measured again alone" : "");
  std::printf("  verified against %s, largest error %.3g of the bound; %s\n",
              measurement.verification().reference().c_str(),
              measurement.verification().largest_error(),
              record.versions().toolchain().c_str());
  const auto schedule = sketch::Schedule::FromProto(record.schedule());
  std::istringstream text(schedule.ok() ? schedule->ToString()
                                        : schedule.status().ToString());
  for (std::string row; std::getline(text, row);) {
    std::printf("    %s\n", row.c_str());
  }
}

absl::Status Best(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const auto store, OpenToRead(line.positional()[1]));
  std::vector<RecordGroup> groups;
  const absl::Status status =
      CollectRecordGroups(*store, line.Get("workload"), groups);
  if (groups.empty() && line.Has("workload")) return NoneFound(line);
  std::string json = "[";
  for (const RecordGroup& group : groups) {
    if (!group.best) continue;
    if (line.Has("json")) {
      TW_ASSIGN_OR_RETURN(const std::string record,
                          measure::ToJsonLine(*group.best));
      absl::StrAppend(&json, json.size() > 1 ? ", " : "", record);
    } else {
      PrintBest(*group.best);
    }
  }
  if (line.Has("json")) std::printf("%s]\n", json.c_str());
  return status;
}

absl::Status Stats(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const auto store, OpenToRead(line.positional()[1]));
  TW_ASSIGN_OR_RETURN(const measure::StoreStats stats, store->Stats());
  if (line.Has("json")) {
    Json json;
    json.Open('{').Key("records").Int(stats.records);
    json.Key("tasks").Int(stats.workloads);
    json.Key("verified").Int(stats.verified);
    json.Key("failed").Int(stats.failed).Close('}');
    std::printf("%s\n", json.text().c_str());
  } else {
    std::printf("%lld records of %lld tasks, %lld verified, %lld failed\n",
                static_cast<long long>(stats.records),
                static_cast<long long>(stats.workloads),
                static_cast<long long>(stats.verified),
                static_cast<long long>(stats.failed));
  }
  return store->CheckIntegrity();
}

void PrintAdded(const CommandLine& line, const AddedRecords& added) {
  if (line.Has("json")) {
    Json json;
    json.Open('{').Key("added").Int(added.added);
    json.Key("present").Int(added.present).Close('}');
    std::printf("%s\n", json.text().c_str());
    return;
  }
  std::printf("%s: %lld records added, %lld were there\n",
              line.positional()[1].c_str(), static_cast<long long>(added.added),
              static_cast<long long>(added.present));
}

// Sources first: where one is missing no new store is left behind.
absl::Status Merge(const CommandLine& line) {
  std::vector<std::unique_ptr<Store>> sources;
  for (size_t i = 2; i < line.positional().size(); ++i) {
    TW_ASSIGN_OR_RETURN(auto source, OpenToRead(line.positional()[i]));
    sources.push_back(std::move(source));
  }
  TW_ASSIGN_OR_RETURN(const auto store,
                      Store::Open(UserPath(line.positional()[1])));
  AddedRecords all;
  for (const auto& source : sources) {
    TW_ASSIGN_OR_RETURN(const AddedRecords added, store->Merge(*source));
    all.added += added.added;
    all.present += added.present;
  }
  PrintAdded(line, all);
  return absl::OkStatus();
}

absl::Status Export(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const auto store, OpenToRead(line.positional()[1]));
  measure::StoreQuery query;
  query.verified_only = line.Has("verified");
  if (!line.Has("output")) {
    const absl::Status status =
        measure::ExportJsonLines(*store, query, std::cout);
    std::cout.flush();
    return status;
  }
  std::ostringstream lines;
  // The readable part of a damaged store is worth keeping.
  const absl::Status status = measure::ExportJsonLines(*store, query, lines);
  if (!status.ok() && !absl::IsDataLoss(status)) return status;
  TW_RETURN_IF_ERROR(
      WriteFileAtomically(UserPath(line.Get("output")), lines.str()));
  return status;
}

absl::Status Import(const CommandLine& line) {
  const std::string& path = line.positional()[2];
  std::ifstream file;
  if (path != "-") {
    file.open(UserPath(path));
    if (!file) {
      return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
    }
  }
  TW_ASSIGN_OR_RETURN(const auto store,
                      Store::Open(UserPath(line.positional()[1])));
  const auto added =
      measure::ImportJsonLines(path == "-" ? std::cin : file, *store);
  if (!added.ok()) {
    return absl::Status(added.status().code(),
                        absl::StrCat(path, ": ", added.status().message()));
  }
  PrintAdded(line, *added);
  return absl::OkStatus();
}

struct Action {
  const char* name;
  const char* arguments;
  size_t least, most;  // arguments
  absl::Status (*run)(const CommandLine&);
};

constexpr Action kActions[] = {
    {"ls", "DB", 1, 1, List},       {"best", "DB", 1, 1, Best},
    {"stats", "DB", 1, 1, Stats},   {"merge", "DB FROM...", 2, SIZE_MAX, Merge},
    {"export", "DB", 1, 1, Export}, {"import", "DB FILE.jsonl|-", 2, 2, Import},
};

}  // namespace

absl::Status RecordsCommand(const CommandLine& line) {
  const std::string name =
      line.positional().empty() ? "" : line.positional()[0];
  for (const Action& action : kActions) {
    if (name != action.name) continue;
    const size_t arguments = line.positional().size() - 1;
    if (arguments >= action.least && arguments <= action.most) {
      return action.run(line);
    }
    return Usage(absl::StrCat("'records ", name, "' takes ", action.arguments));
  }
  return Usage(
      absl::StrCat("'records' takes ls, best, stats, merge, export or "
                   "import, and a store; got '",
                   name, "'"));
}

}  // namespace tilewright::tools
