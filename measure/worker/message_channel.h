// Protocol buffers over a stream socket: a length of four bytes, then the
// message.
#ifndef TILEWRIGHT_MEASURE_WORKER_MESSAGE_CHANNEL_H_
#define TILEWRIGHT_MEASURE_WORKER_MESSAGE_CHANNEL_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"

namespace tilewright::measure {

// One end; owns the descriptor. A child reads with Receive, which waits; the
// measuring process, which has many, with Read and Next, which do not.
// Errors: Unavailable if the other end is gone, DataLoss if what came is no
// message. After one of them the channel is of no more use.
class MessageChannel {
 public:
  // -1: none.
  explicit MessageChannel(int descriptor = -1) : descriptor_(descriptor) {}
  ~MessageChannel() { Close(); }
  MessageChannel(MessageChannel&& other) noexcept;
  MessageChannel& operator=(MessageChannel&& other) noexcept;

  int descriptor() const { return descriptor_; }
  void Close();

  // Sends as much as goes without waiting; Flush sends the rest.
  absl::Status Send(const google::protobuf::MessageLite& message);
  absl::Status Flush();
  bool has_unsent() const { return sent_ < outgoing_.size(); }

  // Takes what has arrived.
  absl::Status Read();
  // The next whole message of what was taken; false if there is none.
  absl::StatusOr<bool> Next(google::protobuf::MessageLite& message);

  // Waits: sends all of a message; takes one.
  absl::Status SendAll(const google::protobuf::MessageLite& message);
  absl::Status Receive(google::protobuf::MessageLite& message);

 private:
  absl::Status ReadSome(bool wait);
  absl::Status WriteSome(bool wait);

  int descriptor_;
  std::string outgoing_, incoming_;
  size_t sent_ = 0, taken_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_MESSAGE_CHANNEL_H_
