// The daemon's page and metrics over HTTP, for people and programs of this host
// who have the token.
//
//   /?token=T      sets a cookie and shows the page
//   /state         site.h, JSON
//   /metrics       for Prometheus; "Authorization: Bearer T" as everywhere
//
// Nothing can be changed through it.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_WEB_SERVER_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_WEB_SERVER_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "tools/daemon/monitoring/site.h"

namespace httplib {
class Server;
}

namespace tilewright::daemon {

// The token in that file, which its owner alone may read; made if it is not
// there. PermissionDenied: others may read it.
absl::StatusOr<std::string> WebToken(const std::string& path);

class WebServer {
 public:
  // Listens at "127.0.0.1:PORT", "localhost:PORT" or "[::1]:PORT"; port 0: any.
  // InvalidArgument: another address, as HTTP shows the token to everybody on
  // the way. AlreadyExists: the port is taken. `site` must outlive it.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(
      const std::string& address, const std::string& token, Site& site);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  int port() const { return port_; }

 private:
  WebServer(const std::string& token, Site& site);
  void AddPages();

  const std::string token_;
  Site& site_;
  const std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_WEB_SERVER_H_
