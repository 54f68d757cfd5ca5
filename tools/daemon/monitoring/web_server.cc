#include "tools/daemon/monitoring/web_server.h"

#include <fcntl.h>
#include <httplib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace tilewright::daemon {
namespace {

using httplib::Request;
using httplib::Response;

constexpr int kThreads = 4;
constexpr int kTimeoutS = 5;
constexpr size_t kMostRequestBytes = 1024;
constexpr int kWordsOfAToken = 4;
constexpr int64_t kMostTokenBytes = 256;
constexpr char kCookie[] = "tilewright_token";
// The page is one file, which asks for /state alone.
constexpr char kPolicy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src "
    "'unsafe-inline'; connect-src 'self'; img-src data:; frame-ancestors "
    "'none'";

// Takes as long wherever they differ.
bool Equal(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

bool HasToken(const Request& request, const std::string& token) {
  const std::string header = request.get_header_value("Authorization");
  absl::string_view bearer = header;
  if (absl::ConsumePrefix(&bearer, "Bearer ") &&
      Equal(std::string(bearer), token)) {
    return true;
  }
  const std::string cookies = request.get_header_value("Cookie");
  for (absl::string_view cookie : absl::StrSplit(cookies, "; ")) {
    if (absl::ConsumePrefix(&cookie, absl::StrCat(kCookie, "=")) &&
        Equal(std::string(cookie), token)) {
      return true;
    }
  }
  return false;
}

void Answer(const absl::StatusOr<std::string>& text, const char* type,
            Response& response) {
  response.status = text.ok() ? 200 : 500;
  response.set_content(text.ok() ? *text : std::string(text.status().message()),
                       text.ok() ? type : "text/plain; charset=utf-8");
}

struct HostPort {
  std::string host;
  int port = 0;
};

absl::StatusOr<HostPort> ParseLoopback(const std::string& address) {
  const size_t colon = address.rfind(':');
  HostPort parsed;
  if (colon != std::string::npos) parsed.host = address.substr(0, colon);
  if (parsed.host == "[::1]") parsed.host = "::1";
  const bool loopback = parsed.host == "127.0.0.1" || parsed.host == "::1" ||
                        parsed.host == "localhost";
  if (!loopback || !absl::SimpleAtoi(address.substr(colon + 1), &parsed.port) ||
      parsed.port < 0 || parsed.port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "web address ", address,
        ": give 127.0.0.1:PORT; from other hosts it is reached by 'ssh -L'"));
  }
  return parsed;
}

}  // namespace

absl::StatusOr<std::string> WebToken(const std::string& path) {
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) {
    std::random_device random;
    std::string token;
    for (int i = 0; i < kWordsOfAToken; ++i)
      absl::StrAppendFormat(&token, "%08x", random());
    const std::string line = token + "\n";
    const ssize_t written = write(descriptor, line.data(), line.size());
    if (close(descriptor) == 0 && written == static_cast<ssize_t>(line.size()))
      return token;
    unlink(path.c_str());
    return absl::ResourceExhaustedError(
        absl::StrCat("token ", path, ": cannot be written; is the disk full?"));
  }
  struct stat status;
  if (errno != EEXIST || stat(path.c_str(), &status) != 0) {
    return absl::NotFoundError(
        absl::StrCat("token ", path, ": cannot be made: ", strerror(errno)));
  }
  if ((status.st_mode & 077) != 0 || status.st_uid != geteuid()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "token ", path, ": others may read it; remove it for a new one"));
  }
  TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostTokenBytes));
  return std::string(absl::StripSuffix(text, "\n"));
}

WebServer::WebServer(const std::string& token, Site& site)
    : token_(token),
      site_(site),
      server_(std::make_unique<httplib::Server>()) {}

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(
    const std::string& address, const std::string& token, Site& site) {
  TW_ASSIGN_OR_RETURN(const HostPort where, ParseLoopback(address));
  std::unique_ptr<WebServer> web(new WebServer(token, site));
  web->AddPages();
  httplib::Server& server = *web->server_;
  const bool any_port = where.port == 0;
  const int port = any_port ? server.bind_to_any_port(where.host)
                            : server.bind_to_port(where.host, where.port);
  if (any_port ? port <= 0 : port == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("web address ", address,
                     ": cannot be listened at; is the "
                     "port taken?"));
  }
  web->port_ = any_port ? port : where.port;
  web->thread_ = std::thread([&server] { server.listen_after_bind(); });
  // What is stopped before it runs would run for ever.
  while (!server.is_running()) std::this_thread::yield();
  return web;
}

WebServer::~WebServer() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

void WebServer::AddPages() {
  httplib::Server& server = *server_;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_read_timeout(kTimeoutS);
  server.set_write_timeout(kTimeoutS);
  server.set_keep_alive_timeout(kTimeoutS);
  server.set_payload_max_length(kMostRequestBytes);
  // Not SO_REUSEPORT, with which two daemons would share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  server.set_default_headers({{"Content-Security-Policy", kPolicy},
                              {"Cache-Control", "no-store"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"}});
  server.set_pre_routing_handler([this](const Request& request,
                                        Response& response) {
    using Result = httplib::Server::HandlerResponse;
    if (request.path == "/" && request.has_param("token") &&
        Equal(request.get_param_value("token"), token_)) {
      response.set_header("Set-Cookie",
                          absl::StrCat(kCookie, "=", token_,
                                       "; HttpOnly; SameSite=Strict; Path=/"));
      response.set_redirect("/", 303);
      return Result::Handled;
    }
    if (HasToken(request, token_)) return Result::Unhandled;
    response.status = 401;
    response.set_content(
        "No token. 'tilewrightd serve' says where it is: open "
        "/?token=TOKEN, or send 'Authorization: Bearer TOKEN'.\n",
        "text/plain; charset=utf-8");
    return Result::Handled;
  });
  server.Get("/", [](const Request&, Response& response) {
    Answer(Site::Page(), "text/html; charset=utf-8", response);
  });
  server.Get("/state", [this](const Request&, Response& response) {
    Answer(site_.State(), "application/json", response);
  });
  server.Get("/metrics", [this](const Request&, Response& response) {
    Answer(site_.Metrics(), "text/plain; version=0.0.4; charset=utf-8",
           response);
  });
}

}  // namespace tilewright::daemon
