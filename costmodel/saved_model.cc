#include "costmodel/saved_model.h"

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "costmodel/saved_model.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace tilewright::costmodel {
namespace {

std::string Serialize(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    TW_CHECK(message.SerializeToCodedStream(&coded));
  }
  return bytes;
}

absl::StatusOr<SavedModelProto> Open(std::string_view bytes) {
  SavedModelProto saved;
  if (!saved.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      saved.fingerprint() != Fingerprint::Of(saved.payload()).ToString()) {
    return absl::DataLossError(
        "the saved cost model is damaged, or no cost model: train it again");
  }
  return saved;
}

}  // namespace

std::string SaveModel(std::string_view kind, int version,
                      const google::protobuf::MessageLite& payload) {
  SavedModelProto saved;
  saved.set_kind(std::string(kind));
  saved.set_version(version);
  saved.set_payload(Serialize(payload));
  saved.set_fingerprint(Fingerprint::Of(saved.payload()).ToString());
  return Serialize(saved);
}

absl::Status LoadModel(std::string_view bytes, std::string_view kind,
                       int version, google::protobuf::MessageLite& payload) {
  TW_ASSIGN_OR_RETURN(const SavedModelProto saved, Open(bytes));
  if (saved.kind() != kind || saved.version() != version) {
    return absl::InvalidArgumentError(
        absl::StrCat("the saved cost model is a ", saved.kind(), " of version ",
                     saved.version(), ", not a ", ToAbsl(kind), " of version ",
                     version, ": train it again"));
  }
  if (!payload.ParseFromString(saved.payload())) {
    return absl::DataLossError(
        "the saved cost model cannot be read: train it again");
  }
  return absl::OkStatus();
}

}  // namespace tilewright::costmodel
