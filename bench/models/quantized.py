"""A quantized ResNet: QuantizeLinear and DequantizeLinear around every layer.

Weights are int8 with one scale per output channel, activations uint8 with one
scale each, found by a calibration pass; biases are int32. All scales are powers
of two, so a dequantized value is an integer times a power of two, and so is every
product. A sum of them is exact in float32 as long as its integers stay below
2^24, which `quantize` asserts for its data. Then "dequantize, float convolution,
quantize" and integer arithmetic (QLinearConv) give the same bits, in any order of
summation, and the reference, computed in float64, is the integer result.
"""

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper, TensorProto
from torch import nn
from torch.nn import functional

EXACT = 2 ** 24


def power_of_two(largest, levels):
    """The least power of two s with largest <= levels * s."""
    return 2.0 ** np.ceil(np.log2(np.maximum(largest, 1e-6) / levels))


def fold(conv, norm):
    """Weights and bias of the convolution with the BatchNorm after it."""
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return (conv.weight * scale[:, None, None, None],
            norm.bias - norm.running_mean * scale)


class Walk:
    """Runs the network in float64. First to see how large activations get; then
    with every activation and weight on its grid, writing the nodes."""

    def __init__(self):
        self.largest, self.steps = {}, {}
        self.nodes, self.constants = None, []

    def emit(self, operator, inputs, output, **attributes):
        if self.nodes is not None:
            self.nodes.append(helper.make_node(operator, inputs, [output], name=output,
                                               **attributes))
        return output

    def constant(self, name, values):
        if self.nodes is not None:
            self.constants.append(numpy_helper.from_array(values, name))
        return name

    def activation(self, at, signed=False):
        """(name, values) rounded to the grid of 256 levels."""
        name, x = at
        if self.nodes is None:
            self.largest[name] = float(x.abs().max())
            return at
        zero = 128 if signed else 0
        scale = float(power_of_two(self.largest[name], 127 if signed else 255))
        scale_name = self.constant(f"{name}.scale", np.float32(scale))
        zero_name = self.constant(f"{name}.zero", np.uint8(zero))
        whole = self.emit("QuantizeLinear", [name, scale_name, zero_name], f"{name}.q")
        out = self.emit("DequantizeLinear", [whole, scale_name, zero_name], f"{name}.dq")
        self.steps[out] = scale
        return out, (torch.round(x / scale) + zero).clamp(0, 255).sub(zero) * scale

    def weights(self, name, weight, bias, unit):
        """Their values on the grid, and their names. `unit`: the step of the input,
        whose product with the weights' is the step of the biases."""
        rows = weight.abs().flatten(1).max(1).values.numpy()
        scale = power_of_two(rows, 127)
        shape = (-1,) + (1,) * (weight.dim() - 1)
        grid = torch.from_numpy(scale).view(shape)
        whole = torch.round(weight / grid).clamp(-127, 127)
        bias_scale = scale * unit
        whole_bias = torch.round(bias / torch.from_numpy(bias_scale))
        names = []
        for suffix, values, scales, kind in (
                ("weight", whole, scale, np.int8), ("bias", whole_bias, bias_scale, np.int32)):
            stem = f"{name}.{suffix}"
            inputs = [self.constant(f"{stem}.q", values.numpy().astype(kind)),
                      self.constant(f"{stem}.scale", scales.astype(np.float32)),
                      self.constant(f"{stem}.zero", np.zeros(len(scales), kind))]
            names.append(self.emit("DequantizeLinear", inputs, stem, axis=0))
        return whole * grid, whole_bias * torch.from_numpy(bias_scale), names

    @staticmethod
    def step(values):
        """The largest power of two that divides all values; infinity for zeros."""
        if not bool(values.any()):
            return np.inf
        mantissa, exponent = np.frexp(np.abs(values[values != 0].numpy()))
        whole = (mantissa * 2 ** 30).astype(np.int64)
        trailing = np.log2((whole & -whole).astype(np.float64))
        return 2.0 ** float((trailing - 30 + exponent).min())

    def conv(self, name, at, conv, norm):
        source, x = at
        weight, bias = fold(conv, norm)
        names = []
        if self.nodes is not None:
            weight, bias, names = self.weights(name, weight, bias, self.steps[source])
            self.check_conv(x, self.steps[source], weight, bias, conv)
        self.emit("Conv", [source] + names, name, kernel_shape=list(conv.kernel_size),
                  strides=list(conv.stride), pads=list(conv.padding) * 2)
        return name, functional.conv2d(x, weight, bias, conv.stride, conv.padding)

    def check_conv(self, x, step, weight, bias, conv):
        sums = functional.conv2d(x.abs(), weight.abs(), None, conv.stride, conv.padding)
        for channel in range(weight.shape[0]):
            unit = min(step * self.step(weight[channel]), self.step(bias[channel:channel + 1]))
            total = float(sums[:, channel].max() + bias[channel].abs())
            assert total / unit < EXACT, f"a sum of channel {channel} is not exact in float32"

    def relu(self, at):
        name, x = at
        return self.emit("Relu", [name], f"{name}.relu"), x.clamp(min=0)

    def block(self, name, at, block):
        y = self.activation(self.relu(self.conv(f"{name}.conv1", at, block.conv1, block.bn1)))
        y = self.activation(self.conv(f"{name}.conv2", y, block.conv2, block.bn2), signed=True)
        if block.downsample is not None:
            at = self.activation(
                self.conv(f"{name}.downsample", at, block.downsample[0], block.downsample[1]),
                signed=True)
        total = self.emit("Add", [y[0], at[0]], f"{name}.add"), y[1] + at[1]
        return self.activation(self.relu(total))

    def network(self, model, x):
        at = self.activation(("x", x), signed=True)
        at = self.activation(self.relu(self.conv("conv1", at, model.conv1, model.bn1)))
        at = (self.emit("MaxPool", [at[0]], "maxpool", kernel_shape=[3, 3], strides=[2, 2],
                        pads=[1, 1, 1, 1]), functional.max_pool2d(at[1], 3, 2, 1))
        self.steps["maxpool"] = self.steps.get("conv1.relu.dq")
        for stage in range(1, 5):
            for index, block in enumerate(getattr(model, f"layer{stage}")):
                at = self.block(f"layer{stage}.{index}", at, block)
        at = self.activation((self.emit("GlobalAveragePool", [at[0]], "pool"),
                              at[1].mean(dim=(2, 3), keepdim=True)))
        flat = self.emit("Flatten", [at[0]], "flat"), at[1].flatten(1)
        weight, bias, names = model.fc.weight, model.fc.bias, []
        if self.nodes is not None:
            weight, bias, names = self.weights("fc", weight, bias, self.steps["pool.dq"])
        self.emit("Gemm", [flat[0]] + names, "y", transB=1)
        return functional.linear(flat[1], weight, bias)


@torch.no_grad()
def quantize(model, x):
    """(ModelProto, reference) of a torchvision ResNet with basic blocks, float64,
    calibrated on `x`."""
    assert isinstance(model.avgpool, nn.AdaptiveAvgPool2d)
    walk = Walk()
    walk.network(model, x)
    walk.nodes = []
    y = walk.network(model, x)
    assert bool((y == y.float().double()).all())

    def info(name, tensor):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(tensor.shape))

    graph = helper.make_graph(walk.nodes, "quantized", [info("x", x)], [info("y", y)],
                              walk.constants)
    proto = helper.make_model(graph, producer_name="tilewright",
                              opset_imports=[helper.make_opsetid("", 17)])
    proto.ir_version = 8
    onnx.checker.check_model(proto, full_check=True)
    return proto, y.numpy()
