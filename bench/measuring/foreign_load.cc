#include "bench/measuring/foreign_load.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string>

namespace tilewright::bench {
namespace {

// CPU seconds of a process if it is this one or a child of it, else 0. Ended
// children of its own are part of a process's time.
double OwnTicks(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  // "pid (name) state parent ...": the name may hold anything.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  double ticks = 0;
  bool own = pid == std::to_string(getpid());
  constexpr int kParent = 4, kUserTime = 14, kChildrenSystemTime = 17;
  for (int number = 3; number <= kChildrenSystemTime && fields >> field;
       ++number) {
    if (number == kParent && field == std::to_string(getpid())) own = true;
    if (number >= kUserTime) ticks += std::stod(field);
  }
  return own ? ticks : 0;
}

double OwnTicks() {
  double ticks = 0;
  DIR* const directory = opendir("/proc");
  if (directory == nullptr) return 0;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (std::all_of(name.begin(), name.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; })) {
      ticks += OwnTicks(name);
    }
  }
  closedir(directory);
  return ticks;
}

}  // namespace

ForeignLoad::ForeignLoad() : start_(Now()) {}

ForeignLoad::Seconds ForeignLoad::Now() {
  std::ifstream file("/proc/stat");
  std::string label;
  file >> label;
  double total = 0, idle = 0;
  // user nice system idle iowait irq softirq steal
  for (int column = 0; column < 8; ++column) {
    double ticks = 0;
    file >> ticks;
    total += ticks;
    if (column == 3 || column == 4) idle += ticks;
  }
  const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {total / per_second, (total - idle - OwnTicks()) / per_second};
}

double ForeignLoad::Percent() const {
  const Seconds now = Now();
  const double total = now.total - start_.total;
  if (total <= 0) return 0;
  return std::max(0.0, 100 * (now.foreign - start_.foreign) / total);
}

}  // namespace tilewright::bench
