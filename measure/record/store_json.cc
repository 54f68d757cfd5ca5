#include "measure/record/store_json.h"

#include <google/protobuf/util/json_util.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/record/check_record.h"

namespace tilewright::measure {
namespace {

namespace json = google::protobuf::util;

std::string Message(const json::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace

absl::StatusOr<std::string> ToJsonLine(const Record& record) {
  json::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  const json::Status status = json::MessageToJsonString(record, &line, options);
  if (!status.ok()) return absl::InvalidArgumentError(Message(status));
  TW_ASSIGN_OR_RETURN(const Record back, FromJsonLine(line));
  if (back.SerializeAsString() != record.SerializeAsString()) {
    return absl::FailedPreconditionError(
        "a record has fields that this version does not know; export it with "
        "the version that wrote it");
  }
  return line;
}

absl::StatusOr<Record> FromJsonLine(std::string_view line) {
  Record record;
  const json::Status status = json::JsonStringToMessage(
      google::protobuf::StringPiece(line.data(), line.size()), &record);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a record as JSON: ", Message(status)));
  }
  return record;
}

absl::Status ExportJsonLines(Store& store, const StoreQuery& query,
                             std::ostream& out) {
  return store.ForEach(query, [&](const Record& record) -> absl::Status {
    TW_ASSIGN_OR_RETURN(const std::string line, ToJsonLine(record));
    out << line << '\n';
    if (!out) {
      return absl::UnavailableError("cannot write the records: is there room?");
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<AddedRecords> ImportJsonLines(std::istream& in, Store& store) {
  std::vector<Record> records;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const auto about = [&](const absl::Status& status) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", status.message()));
    };
    absl::StatusOr<Record> record = FromJsonLine(line);
    if (!record.ok()) return about(record.status());
    if (absl::Status status = CheckRecord(*record); !status.ok()) {
      return about(status);
    }
    records.push_back(*std::move(record));
  }
  if (in.bad()) return absl::UnavailableError("cannot read the records");
  return store.Add(records);
}

}  // namespace tilewright::measure
