#include "tools/commands/daemon_records.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/kernels/version.h"
#include "tools/daemon/client.h"
#include "tools/daemon/job_commands.h"

namespace tilewright::tools {

absl::Status FetchDaemonRecords(const CommandLine& line,
                                const DeviceSpec& spec) {
  if (!line.Has("daemon")) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Store> store,
                      measure::Store::Open(UserPath(line.Get("records"))));
  daemon::QueryRequest which;
  which.mutable_device()->set_structure_fingerprint(
      StructureFingerprint(spec).ToString());
  which.set_code_generation(kCodeGeneration);
  int64_t added = 0;
  for (const absl::string_view address :
       absl::StrSplit(line.Get("daemon"), ',')) {
    TW_ASSIGN_OR_RETURN(
        const std::shared_ptr<grpc::Channel> channel,
        daemon::ConnectTo(std::string(address), line.Get("tls")));
    TW_ASSIGN_OR_RETURN(const measure::AddedRecords of_one,
                        daemon::ExportRecords(channel, which, *store));
    added += of_one.added;
  }
  std::fprintf(stderr,
               "tilewright: note: %lld records of the daemon are new in %s\n",
               static_cast<long long>(added), line.Get("records").c_str());
  return absl::OkStatus();
}

absl::Status SendComparisons(const std::shared_ptr<grpc::Channel>& channel,
                             measure::Store& store) {
  std::vector<measure::Record> compared;
  TW_RETURN_IF_ERROR(store.ForEach({}, [&](const measure::Record& record) {
    const measure::Method& method = record.measurement().method();
    if (record.lease().empty() &&
        (!method.turns().empty() || !method.model().empty())) {
      compared.push_back(record);
    }
    return absl::OkStatus();
  }));
  return daemon::AddRecords(channel, compared);
}

}  // namespace tilewright::tools
