#include "tools/daemon/server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_posix.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "tools/daemon/address.h"
#include "tools/daemon/call_counter.h"
#include "tools/daemon/peer.h"

namespace tilewright::daemon {
namespace {

constexpr std::chrono::milliseconds kExpireInterval{500};
constexpr int kKeepaliveMs = 10'000;

// One daemon at a time has the folder.
absl::StatusOr<std::unique_ptr<FileLock>> LockState(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::NotFoundError(
        absl::StrCat("state ", folder, ": cannot be made: ", strerror(errno)));
  }
  return FileLock::Take(
      absl::StrCat(folder, "/lock"),
      absl::StrCat("state ", folder,
                   ": another daemon has it; stop that one first"));
}

// Who shows no certificate of the same authority is not connected; RoleGate
// says who may call what.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(
    const Certificates& certificates, Observer& observer) {
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = certificates.authority;
  options.pem_key_cert_pairs.push_back({certificates.key, certificates.own});
  const std::shared_ptr<grpc::ServerCredentials> credentials =
      grpc::SslServerCredentials(options);
  credentials->SetAuthMetadataProcessor(std::make_shared<RoleGate>(observer));
  return credentials;
}

}  // namespace

std::string RandomName() {
  std::random_device device;
  return absl::StrFormat("%08x%08x", device(), device());
}

Server::Server(const ServerOptions& options, Clock& clock, Observer* observer,
               std::unique_ptr<FileLock> lock,
               std::unique_ptr<measure::JobQueue> queue)
    : clock_(clock),
      observer_(observer == nullptr ? nobody_ : *observer),
      lock_(std::move(lock)),
      queue_(std::move(queue)),
      jobs_(queue_, options.limits, observer_),
      workers_(queue_, clock, options.queue.lease_ns, options.limits,
               observer_) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const ServerOptions& options, Clock& clock, Observer* observer) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<FileLock> lock, LockState(options.state));
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<measure::JobQueue> queue,
      measure::JobQueue::Open(absl::StrCat(options.state, "/queue.db"),
                              options.queue, clock.UnixNs()));
  std::unique_ptr<Server> server(
      new Server(options, clock, observer, std::move(lock), std::move(queue)));

  grpc::ServerBuilder builder;
  TW_RETURN_IF_ERROR(server->Listen(options, builder));
  builder.RegisterService(&server->jobs_);
  builder.RegisterService(&server->workers_);
  for (grpc::Service* service : options.more_services)
    builder.RegisterService(service);
  builder.SetMaxReceiveMessageSize(options.most_message_bytes);
  builder.SetResourceQuota(
      grpc::ResourceQuota().SetMaxThreads(options.most_threads));
  if (observer != nullptr) {
    std::vector<
        std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
        counters;
    counters.push_back(std::make_unique<CallCounter>(*observer));
    builder.experimental().SetInterceptorCreators(std::move(counters));
  }
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) {
    return absl::UnavailableError(
        "the server does not start; is the TCP port taken, or no certificate "
        "of --tls one?");
  }
  if (server->listener_ != nullptr) {
    server->listener_->Start([server = server->server_.get()](int descriptor) {
      grpc::AddInsecureChannelFromFd(server, descriptor);
    });
  }
  server->expirer_ =
      std::thread([server = server.get()] { server->ExpireLeases(); });
  return server;
}

absl::Status Server::Listen(const ServerOptions& options,
                            grpc::ServerBuilder& builder) {
  bool tcp = false;
  for (const std::string& text : options.listen) {
    TW_ASSIGN_OR_RETURN(const Address address, ParseAddress(text));
    const bool again = address.kind == Address::Kind::kTcp
                           ? std::exchange(tcp, true)
                           : listener_ != nullptr;
    if (again) {
      return absl::InvalidArgumentError(
          absl::StrCat("address ", text, ": there is one of its kind already"));
    }
    if (address.kind == Address::Kind::kUnix) {
      TW_ASSIGN_OR_RETURN(listener_, UnixListener::Listen(address.target));
      continue;
    }
    TW_ASSIGN_OR_RETURN(const Certificates certificates,
                        ReadCertificates(options.tls));
    builder.AddListeningPort(
        address.target, ServerCredentials(certificates, observer_), &tcp_port_);
  }
  // Connections whose other end is silent are closed.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMs / 2);
  return absl::OkStatus();
}

// So that whoever waits for work hears of it.
void Server::ExpireLeases() {
  while (!queue_.stopped()) {
    const absl::StatusOr<bool> any = queue_.Read([&](measure::JobQueue& queue) {
      return queue.Expire(clock_.UnixNs());
    });
    if (!any.ok()) {
      std::fprintf(stderr, "tilewrightd: %s\n",
                   std::string(any.status().message()).c_str());
    } else if (*any) {
      queue_.Change([](measure::JobQueue&) { return true; });
    }
    queue_.WaitForStop(kExpireInterval);
  }
}

Server::~Server() {
  queue_.Stop();
  if (listener_ != nullptr) listener_->Stop();
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() +
                      std::chrono::seconds(1));
  }
  if (expirer_.joinable()) expirer_.join();
  server_.reset();
}

}  // namespace tilewright::daemon
