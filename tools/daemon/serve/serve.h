// 'tilewrightd serve': a server with its log, its page, the models it tunes and
// the workers it starts.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SERVE_SERVE_H_
#define TILEWRIGHT_TOOLS_DAEMON_SERVE_SERVE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/cancellation.h"

namespace tilewright::daemon {

struct ServeFlags {
  std::string listen, tls, state;  // addresses (address.h) with commas between
  double lease_s = 30;
  std::string log;  // a file of events (event_log.h)
  std::string web;  // an address of this host (web_server.h)
  // Whether clients may submit models.
  bool models = false;
  std::string tilewright;  // the program that tunes; empty: beside this one
  int64_t model_mib = 512;
  // Workers as jobs of Slurm (slurm_workers.h).
  std::string slurm, slurm_tls, slurm_options;
  int slurm_workers = 16;
};

// Serves until `stop` is cancelled.
absl::Status Serve(const ServeFlags& flags, const Cancellation& stop);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SERVE_SERVE_H_
