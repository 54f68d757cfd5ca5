"""What layers.py writes: for each family, input shapes and its layers.

`b` is a layers.Layers, `x` the name of the input, `s` its shape.
"""

import numpy as np
from onnx import TensorProto

IMAGES = [(1, 3, 64, 64), (1, 20, 33, 47), (4, 64, 28, 28), (1, 7, 100, 100)]
ROWS = [(128, 100), (12, 64, 64), (1000, 17), (64, 1000), (3, 5, 7, 64), (1, 50000)]

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
    return b.several(2, "TopK", x, b.ints(5))[0]


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


for name, operator in (("elu", "Elu"), ("hard_swish", "HardSwish"), ("softplus", "Softplus"),
                       ("exp", "Exp"), ("sqrt", "Sqrt"), ("sigmoid", "Sigmoid"),
                       ("log_softmax", "LogSoftmax"), ("erf", "Erf")):
    simple(name, ROWS, operator)
simple("global_max", IMAGES, "GlobalMaxPool")
simple("arg_max", ROWS, "ArgMax", axis=-1)
simple("space_to_depth", IMAGES[:1] + IMAGES[2:], "SpaceToDepth", blocksize=2)


def window(name, channels, kernel, shapes=IMAGES, **attributes):
    FAMILIES[name] = (shapes, lambda b, x, s: b.conv(x, s[1], channels or s[1], kernel,
                                                      **attributes))


window("conv1", 50, 1)
window("conv5", 24, 5)
window("conv3_stride2", 40, 3, strides=[2, 2])
window("conv3_batch", 64, 3, [(32, 64, 7, 7), (16, 100, 9, 9)])


@family(IMAGES)
def conv_1x7(b, x, s):
    return b.node("Conv", x, b.weights(30, s[1], 1, 7), b.weights(30), pads=[0, 3, 0, 3])


@family(IMAGES)
def conv_7x1(b, x, s):
    return b.node("Conv", x, b.weights(30, s[1], 7, 1), b.weights(30), pads=[3, 0, 3, 0])


@family(IMAGES)
def depthwise5_stride2(b, x, s):
    return b.conv(x, s[1], s[1], 5, group=s[1], strides=[2, 2])


@family([(1, 32, 40, 40), (2, 60, 20, 20), (1, 6, 64, 64)])
def group_norm(b, x, s):
    grouped = b.node("Reshape", x, b.ints(s[0], 2, -1))
    norm = b.node("InstanceNormalization", grouped, b.weights(2), b.weights(2))
    return b.node("Reshape", norm, b.ints(*s))


@family(ROWS)
def rms_norm(b, x, s):
    mean = b.node("ReduceMean", b.node("Mul", x, x), axes=[-1])
    root = b.node("Sqrt", b.node("Add", mean, b.given(1e-5, np.float32)))
    return b.node("Mul", b.node("Div", x, root), b.weights(s[-1]))


@family([(1, 64, 400), (8, 10, 90)])
def gram(b, x, s):
    return b.node("MatMul", x, b.node("Transpose", x, perm=[0, 2, 1]))


@family([(1, 2048), (4, 1000)])
def matmul_few_rows(b, x, s):
    return b.node("MatMul", x, b.weights(s[-1], 3000))


@family([(1, 50, 64), (2, 33, 96)])
def self_attention(b, x, s):
    """Eight heads, behind one product for queries, keys and values."""
    heads, width = 8, s[2] // 8
    rows = [b.node("Reshape", part, b.ints(s[0], s[1], heads, width))
            for part in b.several(3, "Split", b.node("MatMul", x, b.weights(s[2], 3 * s[2])),
                                  axis=-1)]
    q, v = (b.node("Transpose", part, perm=[0, 2, 1, 3]) for part in (rows[0], rows[2]))
    k = b.node("Transpose", rows[1], perm=[0, 2, 3, 1])
    scores = b.node("Mul", b.node("MatMul", q, k), b.given(width ** -0.5, np.float32))
    mask = b.given(np.triu(np.full((s[1], s[1]), -1e9, np.float32), 1))
    out = b.node("MatMul", b.node("Softmax", b.node("Add", scores, mask)), v)
    joined = b.node("Reshape", b.node("Transpose", out, perm=[0, 2, 1, 3]), b.ints(*s))
    return b.node("MatMul", joined, b.weights(s[2], s[2]))


@family([(4, 50, 33), (1, 30, 64)])
def einsum(b, x, s):
    return b.node("Einsum", x, b.weights(s[2], 3, 20), equation="bik,khd->bhid")


@family(IMAGES)
def linear2(b, x, s):
    return b.node("Resize", x, "", b.given([1, 1, 2, 2], np.float32), mode="linear")


@family(IMAGES)
def grid_sample(b, x, s):
    grid = b.random.random((s[0], 50, 60, 2), dtype=np.float32) * 2 - 1
    return b.node("GridSample", x, b.given(grid))


@family(IMAGES)
def concat(b, x, s):
    return b.node("Concat", x, b.node("Relu", x), b.node("Neg", x), axis=1)


@family(ROWS)
def scatter(b, x, s):
    indices = np.broadcast_to(b.random.permutation(s[-1])[:10], (*s[:-1], 10))
    return b.node("ScatterElements", x, b.given(indices, np.int64), b.weights(*s[:-1], 10),
                  axis=-1)


@family(ROWS)
def where(b, x, s):
    zero = b.given(0, np.float32)
    return b.node("Where", b.node("Greater", x, zero), x, zero)


@family([(1, 40, 24, 24), (1, 64, 14, 14)])
def conv3_fp16(b, x, s):
    half = b.node("Cast", x, to=TensorProto.FLOAT16)
    w = b.given(b.random.random((64, s[1], 3, 3)) - 0.5, np.float16)
    return b.node("Cast", b.node("Conv", half, w, pads=[1] * 4), to=TensorProto.FLOAT)


@family([(1, 40, 24, 24), (1, 64, 14, 14)])
def conv3_int8(b, x, s):
    scale, zero = b.given(0.01, np.float32), b.given(128, np.uint8)
    quantized = b.node("DequantizeLinear", b.node("QuantizeLinear", x, scale, zero), scale, zero)
    w = b.given(b.random.integers(-127, 127, (64, s[1], 3, 3)), np.int8)
    weights = b.node("DequantizeLinear", w, b.given(0.01, np.float32), b.given(0, np.int8))
    result = b.node("Conv", quantized, weights, pads=[1] * 4)
    return b.node("DequantizeLinear", b.node("QuantizeLinear", result, scale, zero), scale, zero)


@family([(17, 300), (1, 768), (128, 768)])
def matmul_dynamic_int8(b, x, s):
    q, scale, zero = b.several(3, "DynamicQuantizeLinear", x)
    w = b.given(b.random.integers(-127, 127, (s[1], 512)), np.int8)
    product = b.node("Cast", b.node("MatMulInteger", q, w, zero), to=TensorProto.FLOAT)
    return b.node("Mul", product, b.node("Mul", scale, b.given(0.01, np.float32)))


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
