#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/kernels/drawn_values.h"
#include "bench/kernels/onednn_api.h"
#include "bench/kernels/peer.h"

namespace tilewright::bench {
namespace {

using dnnl::Dims;
using dnnl::MemoryDescriptor;
using dnnl::OpDescriptor;

absl::Status ToStatus(dnnl::Status status, absl::string_view what) {
  return status == 0 ? absl::OkStatus()
                     : absl::InternalError(
                           absl::StrCat("oneDNN: ", what, " gives ", status));
}

Dims ToDims(std::initializer_list<int64_t> extents) {
  Dims dims = {};
  int rank = 0;
  for (const int64_t extent : extents) dims.extents[rank++] = extent;
  return dims;
}

// The positions that the last window reaches beyond an image padded by `pad` on
// the left.
int64_t PadRight(int64_t size, int64_t size_out, int64_t kernel, int64_t stride,
                 int64_t pad) {
  return std::max<int64_t>(0, (size_out - 1) * stride + kernel - size - pad);
}

// The library with an engine and a stream; never closed.
struct Library {
  dnnl::Api api;
  dnnl::Engine* engine = nullptr;
  dnnl::Stream* stream = nullptr;

  // A descriptor with a layout that the primitive chooses, or plain.
  MemoryDescriptor Describe(std::initializer_list<int64_t> extents,
                            int tag) const {
    MemoryDescriptor descriptor = {};
    api.memory_desc_init_by_tag(&descriptor, static_cast<int>(extents.size()),
                                ToDims(extents), dnnl::kF32, tag);
    return descriptor;
  }
  MemoryDescriptor Plain(const std::vector<int64_t>& extents,
                         const std::vector<int64_t>& order = {}) const {
    Dims dims = {}, strides = {};
    int64_t stride = 1;
    for (size_t i = extents.size(); i-- > 0;) {
      const size_t axis =
          order.empty() ? i : static_cast<size_t>(order[i]);  // as they lie
      dims.extents[axis] = extents[axis];
      strides.extents[axis] = stride;
      stride *= extents[axis];
    }
    MemoryDescriptor descriptor = {};
    api.memory_desc_init_by_strides(&descriptor,
                                    static_cast<int>(extents.size()), dims,
                                    dnnl::kF32, strides);
    return descriptor;
  }
};

// A primitive with its arguments in the layouts it wants.
class OneDnnKernel : public PeerKernel {
 public:
  explicit OneDnnKernel(const Library& library) : library_(library) {}
  ~OneDnnKernel() override {
    for (const dnnl::ExecArgument& argument : arguments_)
      library_.api.memory_destroy(argument.memory);
    if (primitive_ != nullptr) library_.api.primitive_destroy(primitive_);
    if (descriptor_ != nullptr)
      library_.api.primitive_desc_destroy(descriptor_);
  }

  absl::Status Init(const OpDescriptor& op, const std::vector<int>& arguments) {
    TW_RETURN_IF_ERROR(
        ToStatus(library_.api.primitive_desc_create(&descriptor_, &op, nullptr,
                                                    library_.engine, nullptr),
                 "primitive_desc_create"));
    return InitPrimitive(arguments);
  }
  absl::Status InitReorder(const MemoryDescriptor& from,
                           const MemoryDescriptor& to) {
    TW_RETURN_IF_ERROR(ToStatus(library_.api.reorder_primitive_desc_create(
                                    &descriptor_, &from, library_.engine, &to,
                                    library_.engine, nullptr),
                                "reorder_primitive_desc_create"));
    return InitPrimitive({dnnl::kArgSrc, dnnl::kArgDst});
  }

  absl::Status Run() override {
    TW_RETURN_IF_ERROR(ToStatus(
        library_.api.primitive_execute(primitive_, library_.stream,
                                       static_cast<int>(arguments_.size()),
                                       arguments_.data()),
        "primitive_execute"));
    return ToStatus(library_.api.stream_wait(library_.stream), "stream_wait");
  }

 private:
  absl::Status InitPrimitive(const std::vector<int>& arguments) {
    TW_RETURN_IF_ERROR(
        ToStatus(library_.api.primitive_create(&primitive_, descriptor_),
                 "primitive_create"));
    for (const int argument : arguments) {
      const MemoryDescriptor* const layout =
          library_.api.primitive_desc_query_md(descriptor_,
                                               dnnl::kQueryExecArgMd, argument);
      const size_t bytes = library_.api.memory_desc_get_size(layout);
      data_.push_back(DrawnValues(
          static_cast<int64_t>((bytes + sizeof(float) - 1) / sizeof(float))));
      dnnl::Memory* memory = nullptr;
      TW_RETURN_IF_ERROR(
          ToStatus(library_.api.memory_create(&memory, layout, library_.engine,
                                              data_.back().get()),
                   "memory_create"));
      arguments_.push_back({argument, memory});
    }
    return absl::OkStatus();
  }

  const Library& library_;
  dnnl::PrimitiveDescriptor* descriptor_ = nullptr;
  dnnl::Primitive* primitive_ = nullptr;
  std::vector<Values> data_;
  std::vector<dnnl::ExecArgument> arguments_;
};

// Builds the kernel of each operator.
class Builder {
 public:
  explicit Builder(const Library& library)
      : library_(library),
        api_(library.api),
        kernel_(new OneDnnKernel(library)) {}

  absl::StatusOr<std::unique_ptr<PeerKernel>> Build(const Operator& op) {
    TW_RETURN_IF_ERROR(std::visit(*this, op));
    return std::move(kernel_);
  }

  absl::Status operator()(const Gemm& g) {
    const MemoryDescriptor src = library_.Plain({g.m, g.k}),
                           dst = library_.Plain({g.m, g.n}),
                           weights =
                               library_.Describe({g.k, g.n}, dnnl::kFormatAny);
    OpDescriptor op;
    TW_RETURN_IF_ERROR(
        ToStatus(api_.matmul_desc_init(&op, &src, &weights, nullptr, &dst),
                 "matmul_desc_init"));
    return kernel_->Init(op, {dnnl::kArgSrc, dnnl::kArgWeights, dnnl::kArgDst});
  }

  absl::Status operator()(const Conv& c) {
    const int64_t in = c.channels_in / c.groups, out = c.channels_out;
    const MemoryDescriptor
        src = library_.Describe({1, c.channels_in, c.size, c.size},
                                dnnl::kFormatAny),
        weights = c.groups == 1
                      ? library_.Describe({out, in, c.kernel, c.kernel},
                                          dnnl::kFormatAny)
                      : library_.Describe(
                            {c.groups, out / c.groups, in, c.kernel, c.kernel},
                            dnnl::kFormatAny),
        bias = library_.Plain({out}),
        dst = library_.Describe({1, out, c.size_out(), c.size_out()},
                                dnnl::kFormatAny);
    const int64_t pad = (c.kernel - 1) / 2;
    const int64_t right =
        PadRight(c.size, c.size_out(), c.kernel, c.stride, pad);
    OpDescriptor op;
    TW_RETURN_IF_ERROR(
        ToStatus(api_.convolution_forward_desc_init(
                     &op, dnnl::kForwardInference, dnnl::kConvolutionDirect,
                     &src, &weights, &bias, &dst, ToDims({c.stride, c.stride}),
                     ToDims({pad, pad}), ToDims({right, right})),
                 "convolution_forward_desc_init"));
    return kernel_->Init(
        op, {dnnl::kArgSrc, dnnl::kArgWeights, dnnl::kArgBias, dnnl::kArgDst});
  }

  absl::Status operator()(const Softmax& s) {
    const MemoryDescriptor data = library_.Plain({s.rows, s.columns});
    OpDescriptor op;
    TW_RETURN_IF_ERROR(ToStatus(
        api_.softmax_forward_desc_init(&op, dnnl::kForwardInference, &data, 1),
        "softmax_forward_desc_init"));
    return kernel_->Init(op, {dnnl::kArgSrc, dnnl::kArgDst});
  }

  absl::Status operator()(const LayerNorm& l) {
    const MemoryDescriptor data = library_.Plain({l.rows, l.columns}),
                           stats = library_.Plain({l.rows});
    OpDescriptor op;
    TW_RETURN_IF_ERROR(ToStatus(api_.layer_normalization_forward_desc_init(
                                    &op, dnnl::kForwardInference, &data, &stats,
                                    1e-5F, dnnl::kUseScale | dnnl::kUseShift),
                                "layer_normalization_forward_desc_init"));
    return kernel_->Init(
        op, {dnnl::kArgSrc, dnnl::kArgScale, dnnl::kArgShift, dnnl::kArgDst});
  }

  // A reorder to memory in which the permuted axes lie one after the other.
  absl::Status operator()(const Transpose& t) {
    return kernel_->InitReorder(library_.Plain(t.shape),
                                library_.Plain(t.shape, t.permutation));
  }

  absl::Status operator()(const Pool& p) {
    const int64_t kernel = p.op == "GlobalAveragePool" ? p.size : p.kernel,
                  pad = p.op == "GlobalAveragePool" ? 0 : (p.kernel - 1) / 2,
                  right = PadRight(p.size, p.size_out(), kernel, p.stride, pad);
    const MemoryDescriptor src = library_.Describe(
                               {1, p.channels, p.size, p.size},
                               dnnl::kFormatABcd16b),
                           dst = library_.Describe(
                               {1, p.channels, p.size_out(), p.size_out()},
                               dnnl::kFormatABcd16b);
    OpDescriptor op;
    TW_RETURN_IF_ERROR(ToStatus(
        api_.pooling_forward_desc_init(
            &op, dnnl::kForwardInference,
            p.op == "MaxPool" ? dnnl::kPoolingMax
                              : dnnl::kPoolingAvgExcludePadding,
            &src, &dst, ToDims({p.stride, p.stride}), ToDims({kernel, kernel}),
            ToDims({pad, pad}), ToDims({right, right})),
        "pooling_forward_desc_init"));
    return kernel_->Init(op, {dnnl::kArgSrc, dnnl::kArgDst});
  }

  absl::Status operator()(const Resize& r) {
    const MemoryDescriptor src = library_.Describe(
                               {1, r.channels, r.size, r.size},
                               dnnl::kFormatABcd16b),
                           dst = library_.Describe(
                               {1, r.channels, 2 * r.size, 2 * r.size},
                               dnnl::kFormatABcd16b);
    OpDescriptor op;
    TW_RETURN_IF_ERROR(ToStatus(
        api_.resampling_forward_desc_init(&op, dnnl::kForwardInference,
                                          r.mode == "nearest"
                                              ? dnnl::kResamplingNearest
                                              : dnnl::kResamplingLinear,
                                          nullptr, &src, &dst),
        "resampling_forward_desc_init"));
    return kernel_->Init(op, {dnnl::kArgSrc, dnnl::kArgDst});
  }

  absl::Status operator()(const Map& m) {
    const MemoryDescriptor data = library_.Plain({m.rows, m.columns});
    OpDescriptor op;
    if (m.op == "Add") {
      TW_RETURN_IF_ERROR(ToStatus(
          api_.binary_desc_init(&op, dnnl::kBinaryAdd, &data, &data, &data),
          "binary_desc_init"));
      return kernel_->Init(op, {dnnl::kArgSrc, dnnl::kArgSrc1, dnnl::kArgDst});
    }
    TW_RETURN_IF_ERROR(ToStatus(
        api_.eltwise_forward_desc_init(
            &op, dnnl::kForwardInference,
            m.op == "Gelu" ? dnnl::kEltwiseGeluErf : dnnl::kEltwiseLogistic,
            &data, 0, 0),
        "eltwise_forward_desc_init"));
    return kernel_->Init(op, {dnnl::kArgSrc, dnnl::kArgDst});
  }

 private:
  const Library& library_;
  const dnnl::Api& api_;
  std::unique_ptr<OneDnnKernel> kernel_;
};

class OneDnn : public Peer {
 public:
  explicit OneDnn(Library library) : library_(library) {}
  std::string name() const override {
    const dnnl::Version* version = library_.api.version();
    return absl::StrCat("oneDNN ", version->major, ".", version->minor, ".",
                        version->patch);
  }
  absl::StatusOr<std::unique_ptr<PeerKernel>> Prepare(
      const Operator& op) override {
    return Builder(library_).Build(op);
  }

 private:
  Library library_;
};

// dlsym by the function's name in the table; clears `all` if it is missing.
template <typename Function>
void Find(void* library, const char* name, Function& function, bool& all) {
  function = reinterpret_cast<Function>(
      dlsym(library, absl::StrCat("dnnl_", name).c_str()));
  all = all && function != nullptr;
}

bool FindAll(void* library, dnnl::Api& api) {
  bool all = true;
#define TW_FIND(NAME) Find(library, #NAME, api.NAME, all)
  TW_FIND(version);
  TW_FIND(engine_create);
  TW_FIND(stream_create);
  TW_FIND(stream_wait);
  TW_FIND(memory_desc_init_by_tag);
  TW_FIND(memory_desc_init_by_strides);
  TW_FIND(memory_desc_get_size);
  TW_FIND(memory_create);
  TW_FIND(memory_destroy);
  TW_FIND(primitive_desc_create);
  TW_FIND(primitive_desc_query_md);
  TW_FIND(primitive_desc_destroy);
  TW_FIND(primitive_create);
  TW_FIND(primitive_execute);
  TW_FIND(primitive_destroy);
  TW_FIND(matmul_desc_init);
  TW_FIND(convolution_forward_desc_init);
  TW_FIND(softmax_forward_desc_init);
  TW_FIND(layer_normalization_forward_desc_init);
  TW_FIND(pooling_forward_desc_init);
  TW_FIND(resampling_forward_desc_init);
  TW_FIND(eltwise_forward_desc_init);
  TW_FIND(binary_desc_init);
  TW_FIND(reorder_primitive_desc_create);
#undef TW_FIND
  return all;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Peer>> OpenOneDnn(int threads) {
  // Debian's oneDNN takes its threads from OpenMP, which looks here when it is
  // loaded.
  setenv("OMP_NUM_THREADS", absl::StrCat(threads).c_str(), 1);
  void* const file = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr)
    return absl::NotFoundError("oneDNN is absent (Debian: libdnnl2)");
  Library library;
  if (!FindAll(file, library.api) || library.api.version()->major != 2)
    return absl::NotFoundError("libdnnl.so.2 lacks the functions wanted");
  TW_RETURN_IF_ERROR(
      ToStatus(library.api.engine_create(&library.engine, dnnl::kCpu, 0),
               "engine_create"));
  TW_RETURN_IF_ERROR(
      ToStatus(library.api.stream_create(&library.stream, library.engine,
                                         dnnl::kInOrder),
               "stream_create"));
  return std::make_unique<OneDnn>(library);
}

}  // namespace tilewright::bench
