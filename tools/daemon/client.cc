#include "tools/daemon/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <thread>

#include "base/status_macros.h"
#include "tools/daemon/address.h"

namespace tilewright::daemon {
namespace {

using std::chrono::system_clock;

constexpr int kMostMessageBytes = 64 << 20;
constexpr int kReconnectMs = 100, kLongestReconnectMs = 1000;
constexpr int kKeepaliveMs = 10'000;
constexpr std::chrono::milliseconds kSlice{250}, kPause{10};

std::chrono::microseconds Micros(double seconds) {
  return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(
    const std::string& text, const std::string& tls) {
  TW_ASSIGN_OR_RETURN(const Address address, ParseAddress(text));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  if (address.kind == Address::Kind::kUnix) {
    return grpc::CreateCustomChannel(text, grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  TW_ASSIGN_OR_RETURN(const Certificates certificates, ReadCertificates(tls));
  // A host that is gone says nothing.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  return grpc::CreateCustomChannel(
      address.target,
      grpc::SslCredentials(
          {certificates.authority, certificates.key, certificates.own}),
      arguments);
}

absl::Status CallPatiently(
    grpc::Channel& channel, const CallOptions& options,
    const std::function<grpc::Status(grpc::ClientContext&)>& call) {
  const auto until = system_clock::now() + Micros(options.patience_s);
  while (true) {
    // Connections are made while somebody waits for them.
    if (channel.WaitForConnected(system_clock::now() + kSlice)) {
      grpc::ClientContext context;
      context.set_deadline(system_clock::now() + Micros(options.deadline_s));
      const grpc::Status status = call(context);
      // A server that ends cancels its calls.
      if (status.error_code() != grpc::StatusCode::UNAVAILABLE &&
          status.error_code() != grpc::StatusCode::CANCELLED) {
        return FromGrpc(status);
      }
    }
    if (options.cancellation != nullptr && options.cancellation->cancelled()) {
      return absl::CancelledError("cancelled");
    }
    if (system_clock::now() >= until) {
      return absl::UnavailableError(
          "the daemon cannot be reached; is 'tilewrightd serve' running, and "
          "does each end believe the other's certificate?");
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace tilewright::daemon
