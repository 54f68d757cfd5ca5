#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_NAMES_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::gpu_text {

// Identifiers of C++ that are unique among those in scope.
class Names {
 public:
  Names() : scopes_(1) {}
  void Open() { scopes_.emplace_back(); }
  void Close() { scopes_.pop_back(); }

  // `wish` with '_' for what identifiers cannot hold, and with a number behind
  // it if it is taken, or means something to the compiler or the prelude.
  std::string Take(std::string_view wish);
  // `stem` with the next number that makes it unique: "t1", "t2", ...
  std::string Number(std::string_view stem);

 private:
  bool Free(const std::string& name) const;

  std::vector<std::set<std::string>> scopes_;
  std::map<std::string, int> next_number_;  // by stem
};

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_NAMES_H_
