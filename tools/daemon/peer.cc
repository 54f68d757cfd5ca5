#include "tools/daemon/peer.h"

#include <grpc/grpc_security_constants.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tilewright::daemon {
namespace {

constexpr char kWorkerPrefix[] = "worker.";
constexpr char kWorkersService[] = "/tilewright.daemon.Workers/";

std::string NameIn(const grpc::AuthContext& context) {
  if (!context.IsPeerAuthenticated()) return "";
  const std::vector<grpc::string_ref> names =
      context.FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
  return names.size() == 1 ? std::string(names[0].data(), names[0].size())
                           : std::string();
}

// Why whoever has that name may not call `path`; empty if it may.
std::string WhyRefused(const std::string& name, absl::string_view path) {
  if (name.empty()) return "the certificate has no common name";
  const bool is_worker = absl::StartsWith(name, kWorkerPrefix);
  const bool for_workers = absl::StartsWith(path, kWorkersService);
  if (for_workers && !is_worker) {
    return absl::StrCat(name,
                        " is no worker: the names of workers begin with '",
                        kWorkerPrefix, "'");
  }
  if (!for_workers && is_worker)
    return absl::StrCat(name, " is a worker, and has no jobs");
  return "";
}

}  // namespace

std::string CertifiedName(const grpc::ServerContext& context) {
  return NameIn(*context.auth_context());
}

std::string OwnerOf(const grpc::ServerContext& context) {
  const std::string name = CertifiedName(context);
  return name.empty() ? absl::StrCat("uid ", geteuid())
                      : absl::StrCat("certificate ", name);
}

grpc::Status RoleGate::Process(const InputMetadata& metadata,
                               grpc::AuthContext* context, OutputMetadata*,
                               OutputMetadata*) {
  const auto path = metadata.find(":path");
  const absl::string_view method =
      path == metadata.end()
          ? ""
          : absl::string_view(path->second.data(), path->second.size());
  const std::string why = WhyRefused(NameIn(*context), method);
  if (why.empty()) return grpc::Status::OK;
  const grpc::Status refused(grpc::StatusCode::PERMISSION_DENIED, why);
  observer_.OnCall(method, refused);
  return refused;
}

}  // namespace tilewright::daemon
