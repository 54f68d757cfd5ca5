#include "bench/kernels/cases.h"

#include <functional>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::bench {
namespace {

double Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0,
                         std::multiplies<double>());
}

double Square(int64_t size) { return static_cast<double>(size * size); }

std::string ImageName(int64_t kernel, const std::string& channels, int64_t size,
                      int64_t stride) {
  return absl::StrCat(kernel, "x", kernel, " ", channels, " @", size,
                      stride > 1 ? absl::StrCat(" /", stride) : "");
}

struct NameOf {
  std::string operator()(const Gemm& g) const {
    return absl::StrCat(g.m, "x", g.k, "x", g.n);
  }
  std::string operator()(const Conv& c) const {
    return ImageName(c.kernel,
                     c.groups > 1
                         ? absl::StrCat(c.channels_in)
                         : absl::StrCat(c.channels_in, "->", c.channels_out),
                     c.size, c.stride);
  }
  std::string operator()(const Softmax& s) const {
    return absl::StrCat(s.rows, " rows of ", s.columns);
  }
  std::string operator()(const LayerNorm& l) const {
    return absl::StrCat(l.rows, " rows of ", l.columns);
  }
  std::string operator()(const Transpose& t) const {
    return absl::StrCat(absl::StrJoin(t.shape, "x"), " by ",
                        absl::StrJoin(t.permutation, ""));
  }
  std::string operator()(const Pool& p) const {
    return absl::StrCat(
        p.op, " ",
        p.op == "GlobalAveragePool"
            ? absl::StrCat(p.channels, " @", p.size)
            : ImageName(p.kernel, absl::StrCat(p.channels), p.size, p.stride));
  }
  std::string operator()(const Resize& r) const {
    return absl::StrCat(r.mode, " x2 ", r.channels, " @", r.size);
  }
  std::string operator()(const Map& m) const {
    return absl::StrCat(m.op, " ", m.rows, "x", m.columns);
  }
};

struct FlopsOf {
  double operator()(const Gemm& g) const {
    return 2.0 * Product({g.m, g.k, g.n});
  }
  double operator()(const Conv& c) const {
    return 2.0 * Product({c.channels_in / c.groups, c.channels_out, c.kernel,
                          c.kernel, c.size_out(), c.size_out()});
  }
  template <typename Mover>
  double operator()(const Mover&) const {
    return 0;
  }
};

struct ElementsOf {
  double operator()(const Gemm& g) const {
    return Product({g.m, g.k}) + Product({g.k, g.n}) + Product({g.m, g.n});
  }
  double operator()(const Conv& c) const {
    return Product({c.channels_in, c.size, c.size}) +
           Product(
               {c.channels_in / c.groups, c.channels_out, c.kernel, c.kernel}) +
           static_cast<double>(c.channels_out) * (1 + Square(c.size_out()));
  }
  double operator()(const Softmax& s) const {
    return 2 * Product({s.rows, s.columns});
  }
  double operator()(const LayerNorm& l) const {
    return 2 * Product({l.rows + 1, l.columns});
  }
  double operator()(const Transpose& t) const { return 2 * Product(t.shape); }
  double operator()(const Pool& p) const {
    return static_cast<double>(p.channels) *
           (Square(p.size) + Square(p.size_out()));
  }
  double operator()(const Resize& r) const {
    return static_cast<double>(r.channels) * 5 * Square(r.size);
  }
  double operator()(const Map& m) const {
    return (m.op == "Add" ? 3 : 2) * Product({m.rows, m.columns});
  }
};

Case Depthwise(int64_t channels, int64_t size, int64_t kernel,
               int64_t stride = 1) {
  return {"depthwise",
          Conv{channels, channels, size, kernel, stride, channels}};
}

}  // namespace

std::vector<Case> Cases() {
  return {
      {"gemm", Gemm{512, 512, 512}},
      {"gemm", Gemm{1024, 1024, 1024}},
      {"gemm", Gemm{2048, 2048, 2048}},
      {"gemm", Gemm{128, 768, 768}},
      {"gemm", Gemm{128, 768, 3072}},
      {"gemm", Gemm{128, 3072, 768}},

      {"conv", Conv{64, 64, 56, 3}},
      {"conv", Conv{128, 128, 28, 3}},
      {"conv", Conv{256, 256, 14, 3}},
      {"conv", Conv{512, 512, 7, 3}},
      {"conv", Conv{64, 128, 56, 3, 2}},
      {"conv", Conv{128, 256, 28, 3, 2}},
      {"conv", Conv{256, 512, 14, 3, 2}},
      {"conv", Conv{64, 256, 56, 1}},
      {"conv", Conv{256, 64, 56, 1}},
      {"conv", Conv{1024, 256, 14, 1}},
      {"conv", Conv{64, 128, 56, 1, 2}},
      {"conv", Conv{512, 1024, 28, 1, 2}},

      Depthwise(384, 14, 3),
      Depthwise(576, 14, 3),
      Depthwise(960, 7, 3),
      Depthwise(144, 56, 3),
      Depthwise(32, 112, 3),
      Depthwise(96, 112, 3, 2),
      Depthwise(96, 56, 7),
      Depthwise(192, 28, 7),
      Depthwise(384, 14, 7),

      {"softmax", Softmax{1536, 128}},
      {"softmax", Softmax{9408, 49}},
      {"softmax", Softmax{256, 1024}},
      {"softmax", Softmax{131072, 128}},
      {"softmax", Softmax{16384, 1024}},

      {"layernorm", LayerNorm{128, 768}},
      {"layernorm", LayerNorm{3136, 96}},
      {"layernorm", LayerNorm{16384, 768}},

      {"transpose", Transpose{{1024, 1024}, {1, 0}}},
      {"transpose", Transpose{{128, 12, 64}, {1, 0, 2}}},
      {"transpose", Transpose{{12, 128, 64}, {0, 2, 1}}},
      {"transpose", Transpose{{1, 96, 56, 56}, {0, 2, 3, 1}}},
      {"transpose", Transpose{{1, 56, 56, 96}, {0, 3, 1, 2}}},
      {"transpose", Transpose{{1, 8, 7, 8, 7, 96}, {0, 1, 3, 2, 4, 5}}},

      {"transpose", Transpose{{4096, 4096}, {1, 0}}},
      {"transpose", Transpose{{64, 128, 12, 128}, {0, 2, 1, 3}}},
      {"transpose", Transpose{{8, 96, 112, 112}, {0, 2, 3, 1}}},
      {"transpose", Transpose{{8, 112, 112, 96}, {0, 3, 1, 2}}},

      {"pooling", Pool{"MaxPool", 64, 256, 2, 2}},
      {"pooling", Pool{"MaxPool", 256, 64, 2, 2}},
      {"pooling", Pool{"MaxPool", 64, 112, 3, 2}},
      {"pooling", Pool{"MaxPool", 512, 112, 3, 2}},
      {"pooling", Pool{"AveragePool", 256, 64, 2, 2}},
      {"pooling", Pool{"AveragePool", 128, 56, 3, 1}},
      {"pooling", Pool{"AveragePool", 512, 112, 3, 1}},
      {"pooling", Pool{"GlobalAveragePool", 2048, 7}},
      {"pooling", Pool{"GlobalAveragePool", 96, 56}},

      {"resize", Resize{"nearest", 64, 56}},
      {"resize", Resize{"linear", 64, 56}},
      {"resize", Resize{"nearest", 256, 112}},
      {"resize", Resize{"linear", 256, 112}},

      {"elementwise", Map{"Gelu", 128, 3072}},
      {"elementwise", Map{"Gelu", 3136, 384}},
      {"elementwise", Map{"Sigmoid", 1024, 1024}},
      {"elementwise", Map{"Add", 1024, 1024}},
      {"elementwise", Map{"Add", 8192, 2048}},
      {"elementwise", Map{"Sigmoid", 8192, 2048}},
  };
}

std::string Name(const Operator& op) { return std::visit(NameOf(), op); }

double Flops(const Operator& op) { return std::visit(FlopsOf(), op); }

double CompulsoryBytes(const Operator& op) {
  return sizeof(float) * std::visit(ElementsOf(), op);
}

}  // namespace tilewright::bench
