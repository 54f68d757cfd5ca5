#!/usr/bin/python3
"""Writes models of one layer, or of a few, for comparing with another library.

    bench/models/layers.py --out=DIR [FAMILY ...]

One folder per layer and input shape, FAMILY_SHAPE, with drawn weights and an
input but no reference:

    bazel-bin/bench/compare/compare DIR/* --ort=LIB --threads=1 --seconds=0.1

The shapes are unlike those of well-known networks: odd channels, few of them,
images that no tile divides.  What is slow here was looked at by nobody.  Needs
python3-onnx.
"""

import argparse
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper, TensorProto

IMAGES = [(1, 3, 64, 64), (1, 20, 33, 47), (4, 64, 28, 28), (1, 7, 100, 100)]
ROWS = [(128, 100), (12, 64, 64), (1000, 17), (64, 1000), (3, 5, 7, 64), (1, 50000)]


class Layers:
    """The nodes of a model in the making."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def weights(self, *shape):
        return self.given((self.random.random(shape, dtype=np.float32) - 0.5) * 0.2)

    def given(self, values, dtype=None):
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def ints(self, *values):
        return self.given(values, np.int64)

    def node(self, operator, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        outputs = [name] if operator != "TopK" else [name, name + "i"]
        self.nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return name

    def conv(self, x, channels_in, channels, kernel, dims=2, bias=True, **attributes):
        inputs = [x, self.weights(channels, channels_in // attributes.get("group", 1),
                                  *[kernel] * dims)]
        if bias:
            inputs.append(self.weights(channels))
        attributes.setdefault("pads", [kernel // 2] * 2 * dims)
        return self.node("Conv", *inputs, **attributes)

    def deconv(self, x, channels_in, channels, kernel, stride, dims=2, **attributes):
        attributes.setdefault("pads", [(kernel - 1) // 2] * 2 * dims)
        return self.node("ConvTranspose", x, self.weights(channels_in, channels, *[kernel] * dims),
                         self.weights(channels), strides=[stride] * dims, **attributes)


# Family -> (input shapes, layers from the input to the output).
FAMILIES = {}


def family(shapes):
    def add(make):
        FAMILIES[make.__name__] = (shapes, make)
        return make
    return add


def simple(name, shapes, operator, **attributes):
    FAMILIES[name] = (shapes, lambda b, x, s: b.node(operator, x, **attributes))


for axis in (-1, 0, 1):
    simple(f"softmax{axis}", ROWS, "Softmax", axis=axis)
for axes in ([-1], [0], [0, 1]):
    for reduction in ("ReduceMean", "ReduceMax", "ReduceL2"):
        simple(reduction.lower() + "".join(map(str, axes)), ROWS, reduction, axes=axes)
simple("mean23", IMAGES, "ReduceMean", axes=[2, 3])
simple("mean13", IMAGES, "ReduceMean", axes=[1, 3])
simple("tanh", ROWS, "Tanh")
simple("sin", ROWS, "Sin")
simple("max_pool2", IMAGES, "MaxPool", kernel_shape=[2, 2], strides=[2, 2])
simple("max_pool5", IMAGES, "MaxPool", kernel_shape=[5, 5], pads=[2] * 4)
simple("average_pool7", IMAGES, "AveragePool", kernel_shape=[7, 7])
simple("lrn", IMAGES, "LRN", size=5)
simple("depth_to_space", [(1, 48, 30, 30), (1, 12, 100, 100)], "DepthToSpace", blocksize=2)
simple("channels_last", IMAGES, "Transpose", perm=[0, 2, 3, 1])


@family(ROWS)
def layer_norm(b, x, s):
    return b.node("LayerNormalization", x, b.weights(s[-1]), b.weights(s[-1]))


@family(IMAGES)
def instance_norm(b, x, s):
    return b.node("InstanceNormalization", x, b.weights(s[1]), b.weights(s[1]))


@family([(17, 300), (1, 500), (64, 63), (200, 200), (3, 1000), (5, 7, 64), (128, 31)])
def matmul(b, x, s):
    return b.node("MatMul", x, b.weights(s[-1], 77))


@family([(4, 50, 33), (12, 128, 64), (1, 197, 40)])
def attention(b, x, s):
    scores = b.node("MatMul", x, b.node("Transpose", x, perm=[0, 2, 1]))
    return b.node("MatMul", b.node("Softmax", scores), x)


@family([(1, 40, 500), (1, 1, 4000), (2, 64, 100), (1, 13, 999)])
def conv1d(b, x, s):
    return b.conv(x, s[1], 50, 5, dims=1)


@family([(1, 3, 8, 32, 32), (1, 16, 8, 20, 20), (1, 10, 6, 17, 19)])
def conv3d(b, x, s):
    return b.conv(x, s[1], 20, 3, dims=3)


@family(IMAGES)
def conv3(b, x, s):
    return b.conv(x, s[1], 18, 3)


@family(IMAGES)
def conv7_stride2(b, x, s):
    return b.conv(x, s[1], 64, 7, strides=[2, 2])


@family(IMAGES)
def conv3_dilated2(b, x, s):
    return b.conv(x, s[1], 24, 3, pads=[2] * 4, dilations=[2, 2])


@family([(1, 12, 40, 40), (1, 64, 28, 28), (1, 48, 30, 30)])
def conv3_groups4(b, x, s):
    return b.conv(x, s[1], 2 * s[1], 3, bias=False, group=4)


@family(IMAGES)
def depthwise(b, x, s):
    return b.conv(x, s[1], s[1], 3, bias=False, group=s[1])


@family(IMAGES)
def depthwise_doubled(b, x, s):
    return b.conv(x, s[1], 2 * s[1], 3, bias=False, group=s[1])


@family(IMAGES + [(1, 256, 64, 64), (1, 64, 40, 40)])
def deconv3(b, x, s):
    return b.deconv(x, s[1], max(12, s[1] // 2), 3, 2)


@family([(1, 512, 8, 8), (1, 128, 32, 32)])
def deconv4(b, x, s):
    return b.deconv(x, s[1], s[1] // 2, 4, 2)


@family([(1, 128, 64, 64)])
def deconv2(b, x, s):
    return b.deconv(x, s[1], s[1] // 2, 2, 2)


@family([(1, 256, 128)])
def deconv1d(b, x, s):
    return b.deconv(x, s[1], s[1] // 2, 16, 8, dims=1, pads=[4, 4])


@family([(1, 64, 32, 32)])
def deconv_depthwise(b, x, s):
    return b.node("ConvTranspose", x, b.weights(s[1], 1, 4, 4), strides=[2, 2], pads=[1] * 4,
                  group=s[1])


def head(channels, kernel):
    """64 channels of a convolution to few."""
    def make(b, x, s):
        return b.conv(b.node("Relu", b.conv(x, s[1], 64, 3)), 64, channels, kernel)
    FAMILIES[f"head{kernel}_to{channels}"] = ([(1, 8, 64, 64)], make)


for kernel in (1, 3, 7):
    for channels in (1, 3, 8, 11):
        head(channels, kernel)


@family(ROWS)
def cumsum(b, x, s):
    return b.node("CumSum", x, b.ints(len(s) - 1))


@family(ROWS[:5])
def cumsum_first(b, x, s):
    return b.node("CumSum", x, b.ints(0))


@family(ROWS)
def top_k(b, x, s):
    return b.node("TopK", x, b.ints(5))


@family(ROWS)
def gather_last(b, x, s):
    return b.node("Gather", x, b.ints(*b.random.integers(0, s[-1], 50)), axis=-1)


@family(ROWS)
def gelu(b, x, s):
    erf = b.node("Erf", b.node("Mul", x, b.given(0.7, np.float32)))
    return b.node("Mul", x, b.node("Add", erf, b.given(1, np.float32)))


@family(ROWS)
def power(b, x, s):
    return b.node("Pow", b.node("Abs", x), b.given(1.7, np.float32))


@family(IMAGES)
def nearest2(b, x, s):
    return b.node("Resize", x, "", b.given([1, 1, 2, 2], np.float32), mode="nearest")


@family(IMAGES)
def cubic(b, x, s):
    return b.node("Resize", x, "", b.given([1, 1, 1.5, 1.5], np.float32), mode="cubic")


@family(IMAGES)
def linear_half(b, x, s):
    return b.node("Resize", x, "", b.given([1, 1, 0.5, 0.5], np.float32), mode="linear")


@family(IMAGES)
def reflect(b, x, s):
    return b.node("Pad", x, b.ints(0, 0, 2, 2, 0, 0, 2, 2), mode="reflect")


@family(IMAGES)
def roll(b, x, s):
    tail = b.node("Slice", x, b.ints(3), b.ints(9999), b.ints(2))
    return b.node("Concat", tail, b.node("Slice", x, b.ints(0), b.ints(3), b.ints(2)), axis=2)


def recurrent(operator, gates):
    def make(b, x, s):
        return b.node(operator, x, b.weights(1, gates * 64, s[2]), b.weights(1, gates * 64, 64),
                      hidden_size=64)
    FAMILIES[operator.lower()] = ([(20, 1, 32), (10, 4, 100)], make)


recurrent("LSTM", 4)
recurrent("GRU", 3)


# Small networks that end in what a layer alone does not show.

@family([(1, 256, 32, 32)])
def image_generator(b, x, s):
    """CycleGAN's second half (Zhu et al., 2017)."""
    channels = s[1]
    for _ in range(2):
        x = b.deconv(x, channels, channels // 2, 3, 2, output_padding=[1, 1])
        channels //= 2
        x = b.node("Relu", b.node("InstanceNormalization", x, b.weights(channels),
                                  b.weights(channels)))
    return b.node("Tanh", b.conv(x, channels, 3, 7))


@family([(1, 100, 1, 1)])
def dcgan(b, x, s):
    """Radford et al., 2016."""
    channels = s[1]
    for to, stride, pad in ((512, 1, 0), (256, 2, 1), (128, 2, 1), (64, 2, 1)):
        x = b.node("Relu", b.deconv(x, channels, to, 4, stride, pads=[pad] * 4))
        channels = to
    return b.node("Tanh", b.deconv(x, channels, 3, 4, 2))


@family([(1, 80, 64)])
def vocoder(b, x, s):
    """Upsampling by 8, 8 and 2 as in HiFi-GAN (Kong et al., 2020), one block each."""
    channels = 256
    x = b.conv(x, s[1], channels, 7, dims=1)
    for kernel, stride in ((16, 8), (16, 8), (4, 2)):
        x = b.deconv(b.node("LeakyRelu", x, alpha=0.1), channels, channels // 2, kernel, stride,
                     dims=1, pads=[(kernel - stride) // 2] * 2)
        channels //= 2
        for dilation in (1, 3):
            more = b.conv(b.node("LeakyRelu", x, alpha=0.1), channels, channels, 3, dims=1,
                          pads=[dilation] * 2, dilations=[dilation])
            x = b.node("Add", x, more)
    return b.node("Tanh", b.conv(x, channels, 1, 7, dims=1))


def write(out, name, shape, make):
    b = Layers(seed=0)
    result = make(b, "x", shape)
    graph = helper.make_graph(
        b.nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder = os.path.join(out, f"{name}_{'x'.join(map(str, shape))}")
    os.makedirs(f"{folder}/test_data_set_0", exist_ok=True)
    onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), f"{folder}/model.onnx")
    x = numpy_helper.from_array(b.random.random(shape, dtype=np.float32) - np.float32(0.5), "x")
    with open(f"{folder}/test_data_set_0/input_0.pb", "wb") as file:
        file.write(x.SerializeToString(deterministic=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("family", nargs="*", help="of " + ", ".join(FAMILIES))
    arguments = parser.parse_args()
    for name in arguments.family or FAMILIES:
        if name not in FAMILIES:
            parser.error(f"no family {name}; there are {', '.join(FAMILIES)}")
        shapes, make = FAMILIES[name]
        for shape in shapes:
            write(arguments.out, name, shape, make)


if __name__ == "__main__":
    main()
