// Daemons and workers as processes of a test that kills them: its own binary,
// with other arguments.
#ifndef TILEWRIGHT_TOOLS_DAEMON_DAEMON_PROCESSES_H_
#define TILEWRIGHT_TOOLS_DAEMON_DAEMON_PROCESSES_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/record/record.pb.h"

namespace tilewright::daemon {

// What a worker's device does before each candidate.
using Behaviour =
    std::function<void(int candidate, measure::Measurement& result)>;

// Becomes the daemon or the worker that ServeCommand and WorkCommand name, and
// does not return then. Called first in main.
void RunProcessIfAsked(int argc, char** argv, const Behaviour& behaviour);

// A daemon whose leases run out after 0.3 s, and which gives no task up.
std::vector<std::string> ServeCommand(const std::string& address,
                                      const std::string& state);
std::vector<std::string> WorkCommand(const std::string& address);

// Starts this binary; the process ends with the thread that started it.
pid_t Spawn(const std::vector<std::string>& command);
// kill -9. Whether it was still running.
bool Kill(pid_t pid);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_DAEMON_PROCESSES_H_
