// The envelope of trained models, so that a damaged file, or one that holds
// something else, is noticed before anything is predicted.
#ifndef TILEWRIGHT_COSTMODEL_SAVED_MODEL_H_
#define TILEWRIGHT_COSTMODEL_SAVED_MODEL_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message_lite.h"

namespace tilewright::costmodel {

// `payload` in its envelope; equal messages give equal bytes.
std::string SaveModel(std::string_view kind, int version,
                      const google::protobuf::MessageLite& payload);

// The inverse of SaveModel. DataLoss if the bytes are damaged; InvalidArgument
// if they hold a model of another kind or version.
absl::Status LoadModel(std::string_view bytes, std::string_view kind,
                       int version, google::protobuf::MessageLite& payload);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_SAVED_MODEL_H_
