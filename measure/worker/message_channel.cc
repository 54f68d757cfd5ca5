#include "measure/worker/message_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::measure {
namespace {

constexpr size_t kHeaderBytes = sizeof(uint32_t);
constexpr uint32_t kMaxMessageBytes = uint32_t{1} << 30;
constexpr size_t kReadBytes = size_t{1} << 16;

absl::Status Gone() {
  return absl::UnavailableError("the other process is gone");
}

}  // namespace

MessageChannel::MessageChannel(MessageChannel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      outgoing_(std::move(other.outgoing_)),
      incoming_(std::move(other.incoming_)),
      sent_(other.sent_),
      taken_(other.taken_) {}

MessageChannel& MessageChannel::operator=(MessageChannel&& other) noexcept {
  Close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  outgoing_ = std::move(other.outgoing_);
  incoming_ = std::move(other.incoming_);
  sent_ = other.sent_;
  taken_ = other.taken_;
  return *this;
}

void MessageChannel::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

absl::Status MessageChannel::Send(
    const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  if (size > kMaxMessageBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a message of ", size, " bytes is too large to send"));
  }
  const uint32_t header = static_cast<uint32_t>(size);
  outgoing_.append(reinterpret_cast<const char*>(&header), kHeaderBytes);
  message.AppendToString(&outgoing_);
  return Flush();
}

absl::Status MessageChannel::WriteSome(bool wait) {
  const ssize_t n =
      send(descriptor_, outgoing_.data() + sent_, outgoing_.size() - sent_,
           MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  if (n >= 0) {
    sent_ += static_cast<size_t>(n);
    if (!has_unsent()) {
      outgoing_.clear();
      sent_ = 0;
    }
    return absl::OkStatus();
  }
  return errno == EINTR || errno == EAGAIN ? absl::OkStatus() : Gone();
}

absl::Status MessageChannel::Flush() {
  while (has_unsent()) {
    const size_t before = sent_;
    TW_RETURN_IF_ERROR(WriteSome(/*wait=*/false));
    if (has_unsent() && sent_ == before) break;  // it would have to wait
  }
  return absl::OkStatus();
}

absl::Status MessageChannel::SendAll(
    const google::protobuf::MessageLite& message) {
  TW_RETURN_IF_ERROR(Send(message));
  while (has_unsent()) TW_RETURN_IF_ERROR(WriteSome(/*wait=*/true));
  return absl::OkStatus();
}

absl::Status MessageChannel::ReadSome(bool wait) {
  incoming_.erase(0, std::exchange(taken_, 0));
  const size_t size = incoming_.size();
  incoming_.resize(size + kReadBytes);
  const ssize_t n = recv(descriptor_, incoming_.data() + size, kReadBytes,
                         wait ? 0 : MSG_DONTWAIT);
  const int error = errno;
  incoming_.resize(size + (n > 0 ? static_cast<size_t>(n) : 0));
  if (n > 0) return absl::OkStatus();
  if (n < 0 && (error == EINTR || error == EAGAIN)) return absl::OkStatus();
  return Gone();
}

absl::Status MessageChannel::Read() {
  while (true) {
    const size_t before = incoming_.size() - taken_;
    TW_RETURN_IF_ERROR(ReadSome(/*wait=*/false));
    if (incoming_.size() - before < kReadBytes) return absl::OkStatus();
  }
}

absl::StatusOr<bool> MessageChannel::Next(
    google::protobuf::MessageLite& message) {
  const size_t arrived = incoming_.size() - taken_;
  if (arrived < kHeaderBytes) return false;
  uint32_t size = 0;
  std::memcpy(&size, incoming_.data() + taken_, kHeaderBytes);
  if (size > kMaxMessageBytes) {
    return absl::DataLossError("the other process sends no messages");
  }
  if (arrived < kHeaderBytes + size) return false;
  if (!message.ParseFromArray(incoming_.data() + taken_ + kHeaderBytes,
                              static_cast<int>(size))) {
    return absl::DataLossError("the other process sends no messages");
  }
  taken_ += kHeaderBytes + size;
  return true;
}

absl::Status MessageChannel::Receive(google::protobuf::MessageLite& message) {
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool received, Next(message));
    if (received) return absl::OkStatus();
    TW_RETURN_IF_ERROR(ReadSome(/*wait=*/true));
  }
}

}  // namespace tilewright::measure
