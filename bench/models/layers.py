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

import layer_families


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

    def several(self, count, operator, *inputs, **attributes):
        outputs = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return outputs

    def node(self, operator, *inputs, **attributes):
        return self.several(1, operator, *inputs, **attributes)[0]

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


def write(out, name, shape, make):
    b = Layers(seed=0)
    result = make(b, "x", shape)
    graph = helper.make_graph(
        b.nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [onnx.ValueInfoProto(name=result)], b.constants)
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
    parser.add_argument("family", nargs="*", help="of " + ", ".join(layer_families.FAMILIES))
    arguments = parser.parse_args()
    for name in arguments.family or layer_families.FAMILIES:
        if name not in layer_families.FAMILIES:
            parser.error(f"no family {name}; there are {', '.join(layer_families.FAMILIES)}")
        shapes, make = layer_families.FAMILIES[name]
        for shape in shapes:
            write(arguments.out, name, shape, make)


if __name__ == "__main__":
    main()
