#!/usr/bin/python3
"""Writes the hand-made tiny graphs of testdata, each with its float64 reference.

    bench/models/make_tiny.py --out=testdata/tiny

Each graph isolates one thing a compiler can get wrong.  Needs python3-torch,
python3-onnx.
"""

import argparse
import os
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper, TensorProto

import parameters
import testcase


class Graph:
    """Collects nodes and drawn constants; torch computes the reference."""

    def __init__(self, name):
        self.name = name
        self.nodes, self.constants, self.inputs = [], {}, {}

    def input(self, name, *shape):
        values = parameters.stream(0, f"{self.name} {name}").normal(0, 1, shape)
        self.inputs[name] = values.astype(np.float32)
        return torch.from_numpy(self.inputs[name]).double()

    def constant(self, name, *shape, fan_in=1, low=None, high=None):
        """Normal with variance 1/fan_in, or uniform in [low, high]."""
        random = parameters.stream(0, f"{self.name} {name}")
        values = (random.normal(0, fan_in ** -0.5, shape) if low is None
                  else random.uniform(low, high, shape))
        self.constants[name] = values.astype(np.float32)
        return torch.from_numpy(self.constants[name]).double()

    def node(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs.split(), [output], **attributes))

    def write(self, out, y, opset=17):
        """`y`: the reference of the one output, named Y."""
        y = y.numpy()
        info = lambda n, v: helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape)
        graph = helper.make_graph(
            self.nodes, self.name, [info(n, v) for n, v in self.inputs.items()], [info("Y", y)],
            [numpy_helper.from_array(v, n) for n, v in self.constants.items()])
        model = helper.make_model(graph, producer_name="tilewright",
                                  opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 8
        onnx.checker.check_model(model, full_check=True)
        testcase.write(os.path.join(out, self.name), model, list(self.inputs.items()),
                       [("Y", y)])


def gemm_relu(out):
    """The model of the design's worked example."""
    g = Graph("gemm_relu")
    a, b, bias = g.input("A", 64, 32), g.constant("B", 32, 48, fan_in=32), g.constant("b", 48)
    g.node("Gemm", "A B b", "T")
    g.node("Relu", "T", "Y")
    g.write(out, torch.relu(a @ b + bias))


def gemm_odd(out):
    """No extent is a multiple of a vector or of a tile; B transposed, alpha and beta."""
    g = Graph("gemm_odd")
    a, b, c = g.input("A", 17, 29), g.constant("B", 23, 29, fan_in=29), g.constant("C", 17, 1)
    g.node("Gemm", "A B C", "Y", transB=1, alpha=0.5, beta=2.0)
    g.write(out, 0.5 * (a @ b.T) + 2.0 * c)


def matmul_two_inputs(out):
    """Both operands are inputs, so nothing can be packed in advance."""
    g = Graph("matmul_two_inputs")
    a, b = g.input("A", 33, 40), g.input("B", 40, 21)
    g.node("MatMul", "A B", "Y")
    g.write(out, a @ b)


def gemm_chain(out):
    """Three layers whose intermediates fit into a cache: worth fusing."""
    g = Graph("gemm_chain")
    x, value = "X", g.input("X", 96, 24)
    for layer, (inputs, outputs) in enumerate([(24, 40), (40, 24), (24, 16)]):
        w = g.constant(f"W{layer}", inputs, outputs, fan_in=inputs)
        b = g.constant(f"b{layer}", outputs, fan_in=100)
        g.node("Gemm", f"{x} W{layer} b{layer}", f"T{layer}")
        g.node("Relu", f"T{layer}", "Y" if layer == 2 else f"R{layer}")
        x, value = f"R{layer}", torch.relu(value @ w + b)
    g.write(out, value)


def conv_batchnorm_relu(out):
    """BatchNormalization to fold; padding; odd extents."""
    g = Graph("conv_batchnorm_relu")
    x = g.input("X", 1, 3, 13, 11)
    w, b = g.constant("W", 10, 3, 3, 3, fan_in=27), g.constant("B", 10, fan_in=100)
    scale, shift = g.constant("scale", 10, low=0.5, high=1.5), g.constant("shift", 10, fan_in=100)
    mean, var = g.constant("mean", 10, fan_in=100), g.constant("var", 10, low=0.5, high=1.5)
    g.node("Conv", "X W B", "T", pads=[1, 1, 1, 1])
    g.node("BatchNormalization", "T scale shift mean var", "U", epsilon=1e-3)
    g.node("Relu", "U", "Y")
    g.write(out, torch.relu(F.batch_norm(F.conv2d(x, w, b, padding=1), mean, var, scale, shift,
                                         eps=1e-3)))


def batchnorm_alone(out):
    """A BatchNormalization with nothing before it to fold into."""
    g = Graph("batchnorm_alone")
    x = g.input("X", 2, 5, 4, 3)
    scale, shift = g.constant("scale", 5, low=0.5, high=1.5), g.constant("shift", 5)
    mean, var = g.constant("mean", 5), g.constant("var", 5, low=0.5, high=1.5)
    g.node("BatchNormalization", "X scale shift mean var", "Y")
    g.write(out, F.batch_norm(x, mean, var, scale, shift, eps=1e-5))


def conv_shared_batchnorm(out):
    """The convolution's output is also used without the BatchNormalization, so
    folding would change the other user."""
    g = Graph("conv_shared_batchnorm")
    x, w = g.input("X", 1, 4, 8, 8), g.constant("W", 6, 4, 1, 1, fan_in=4)
    scale, shift = g.constant("scale", 6, low=0.5, high=1.5), g.constant("shift", 6)
    mean, var = g.constant("mean", 6), g.constant("var", 6, low=0.5, high=1.5)
    g.node("Conv", "X W", "T")
    g.node("BatchNormalization", "T scale shift mean var", "U")
    g.node("Add", "T U", "Y")
    t = F.conv2d(x, w)
    g.write(out, t + F.batch_norm(t, mean, var, scale, shift, eps=1e-5))


def conv_strided(out):
    """7x7, stride 2, asymmetric padding, batch 2."""
    g = Graph("conv_strided")
    x, w = g.input("X", 2, 3, 19, 18), g.constant("W", 8, 3, 7, 7, fan_in=147)
    g.node("Conv", "X W", "Y", strides=[2, 2], pads=[3, 2, 1, 3])
    g.write(out, F.conv2d(F.pad(x, (2, 3, 3, 1)), w, stride=2))


def conv_same_upper(out):
    """auto_pad puts the odd row of padding at the end."""
    g = Graph("conv_same_upper")
    x, w = g.input("X", 1, 4, 10, 9), g.constant("W", 5, 4, 3, 3, fan_in=36)
    g.node("Conv", "X W", "Y", auto_pad="SAME_UPPER", strides=[2, 2])
    g.write(out, F.conv2d(F.pad(x, (1, 1, 0, 1)), w, stride=2))


def conv_dilated(out):
    """Taps two apart; at the border a whole row of them is padding."""
    g = Graph("conv_dilated")
    x, w = g.input("X", 1, 4, 10, 9), g.constant("W", 5, 4, 3, 3, fan_in=36)
    g.node("Conv", "X W", "Y", pads=[2, 2, 2, 2], dilations=[2, 2])
    g.write(out, F.conv2d(x, w, padding=2, dilation=2))


def conv_grouped(out):
    """Groups of 3 channels."""
    g = Graph("conv_grouped")
    x, w = g.input("X", 1, 6, 9, 9), g.constant("W", 8, 3, 3, 3, fan_in=27)
    g.node("Conv", "X W", "Y", group=2)
    g.write(out, F.conv2d(x, w, groups=2))


def residual(out):
    """A value with two users and a 1x1 stride-2 shortcut, as in ResNet."""
    g = Graph("residual")
    x = g.input("X", 1, 8, 12, 12)
    w0 = g.constant("W0", 16, 8, 3, 3, fan_in=72)
    w1 = g.constant("W1", 16, 16, 3, 3, fan_in=144)
    w2 = g.constant("W2", 16, 8, 1, 1, fan_in=8)
    g.node("Conv", "X W0", "A", strides=[2, 2], pads=[1, 1, 1, 1])
    g.node("Relu", "A", "B")
    g.node("Conv", "B W1", "C", pads=[1, 1, 1, 1])
    g.node("Conv", "X W2", "D", strides=[2, 2])
    g.node("Add", "C D", "E")
    g.node("Relu", "E", "Y")
    main = F.conv2d(torch.relu(F.conv2d(x, w0, stride=2, padding=1)), w1, padding=1)
    g.write(out, torch.relu(main + F.conv2d(x, w2, stride=2)))


def maxpool_padded(out):
    """Padding of a maximum is minus infinity, not zero: the inputs are negative."""
    g = Graph("maxpool_padded")
    x = -g.input("X", 1, 3, 11, 12).abs() - 0.5
    g.inputs["X"] = x.float().numpy()
    g.node("MaxPool", "X", "Y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    g.write(out, F.max_pool2d(torch.from_numpy(g.inputs["X"]).double(), 3, 2, 1))


def pool_flatten_gemm(out):
    """The head of a CNN."""
    g = Graph("pool_flatten_gemm")
    x = g.input("X", 2, 24, 7, 7) + torch.arange(24).double().reshape(1, 24, 1, 1) / 12 - 1
    g.inputs["X"] = x.float().numpy()
    w, b = g.constant("W", 10, 24, fan_in=24), g.constant("b", 10)
    g.node("GlobalAveragePool", "X", "T")
    g.node("Flatten", "T", "U")
    g.node("Gemm", "U W b", "Y", transB=1)
    pooled = torch.from_numpy(g.inputs["X"]).double().mean((2, 3))
    g.write(out, pooled @ w.T + b)


def broadcast_add(out):
    """Broadcasting in both operands at once."""
    g = Graph("broadcast_add")
    a, b = g.input("A", 4, 1, 9), g.input("B", 5, 1)
    g.node("Add", "A B", "Y")
    g.write(out, a + b)


def input_used_twice(out):
    """One value is both operands."""
    g = Graph("input_used_twice")
    a = g.input("A", 6, 7)
    g.node("Mul", "A A", "Y")
    g.write(out, a * a)


ALL = [gemm_relu, gemm_odd, matmul_two_inputs, gemm_chain, conv_batchnorm_relu, batchnorm_alone,
       conv_shared_batchnorm, conv_strided, conv_same_upper, conv_dilated,
       conv_grouped, residual, maxpool_padded, pool_flatten_gemm, broadcast_add, input_used_twice]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder that gets one folder per graph")
    out = parser.parse_args().out
    torch.set_num_threads(1)
    for make in ALL:
        make(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
