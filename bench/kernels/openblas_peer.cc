#include <dlfcn.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/kernels/drawn_values.h"
#include "bench/kernels/peer.h"

namespace tilewright::bench {
namespace {

// The constants of cblas.h.
constexpr int kRowMajor = 101;
constexpr int kNoTranspose = 111;
using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m,
                       int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);

class OpenBlasGemm : public PeerKernel {
 public:
  OpenBlasGemm(Sgemm sgemm, const Gemm& shape)
      : sgemm_(sgemm),
        m_(static_cast<int>(shape.m)),
        n_(static_cast<int>(shape.n)),
        k_(static_cast<int>(shape.k)),
        a_(DrawnValues(shape.m * shape.k)),
        b_(DrawnValues(shape.k * shape.n)),
        c_(DrawnValues(shape.m * shape.n)) {}

  absl::Status Run() override {
    sgemm_(kRowMajor, kNoTranspose, kNoTranspose, m_, n_, k_, 1, a_.get(), k_,
           b_.get(), n_, 0, c_.get(), n_);
    return absl::OkStatus();
  }

 private:
  Sgemm sgemm_;
  int m_, n_, k_;
  Values a_, b_, c_;
};

class OpenBlas : public Peer {
 public:
  OpenBlas(Sgemm sgemm, std::string name)
      : sgemm_(sgemm), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  absl::StatusOr<std::unique_ptr<PeerKernel>> Prepare(
      const Operator& op) override {
    const Gemm* gemm = std::get_if<Gemm>(&op);
    if (gemm == nullptr)
      return absl::UnimplementedError("OpenBLAS multiplies matrices only");
    return std::make_unique<OpenBlasGemm>(sgemm_, *gemm);
  }

 private:
  Sgemm sgemm_;
  std::string name_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Peer>> OpenOpenBlas(int threads) {
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return absl::NotFoundError("OpenBLAS is absent (Debian: libopenblas0)");
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(
      dlsym(library, "openblas_set_num_threads"));
  const auto config =
      reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"));
  if (sgemm == nullptr || set_threads == nullptr || config == nullptr)
    return absl::NotFoundError("libopenblas.so.0 lacks the functions wanted");
  set_threads(threads);
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": name and version.
  const std::string text = config();
  return std::make_unique<OpenBlas>(
      sgemm, text.substr(0, text.find(' ', text.find(' ') + 1)));
}

}  // namespace tilewright::bench
