#include "frontends/onnx/testing/random_blocks.h"

namespace tilewright {
namespace {

Value Link(NetworkDraft& net, const Value& x) {
  const Value row = {net.Uniform({x.shape.back()}, 0.5, 1.5), {x.shape.back()}};
  switch (net.random.UniformInt(0, 8)) {
    case 0:
      return net.Binary("Mul", x, row);
    case 1:
      return net.Binary("Add", x, row);
    case 2:
      return net.Binary("Max", x, net.Scalar("Mul", x, 0.3F));
    case 3:
      return net.Binary("Min", x, {net.Floats({}, {2}), {}});
    case 4:
      return net.Binary("Div", x, net.Scalar("Add", net.Unary("Abs", x), 1));
    case 5:
      return net.Unary("Softsign", x);
    case 6:
      return net.Binary("Sub", x, net.Scalar("Mul", net.Unary("Sin", x), 0.5F));
    default:
      return net.Activation(x, static_cast<int>(x.shape.size()) - 1);
  }
}

}  // namespace

Value RandomChain(NetworkDraft& net, const Value& x) {
  Value y = x;
  for (int64_t links = net.random.UniformInt(2, 24); links > 0; --links)
    y = Link(net, y);
  // Whatever became of it, something of unit size is left.
  return net.Binary("Add", y, x);
}

}  // namespace tilewright
