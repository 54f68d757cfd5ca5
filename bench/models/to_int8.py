#!/usr/bin/python3
"""Quantizes float32 models to int8 after training, as the usual tools write them.

    bench/models/to_int8.py --tilewright=bazel-bin/tools/tilewright --out=DIR [--style=STYLE] MODEL_DIR ...

Each MODEL_DIR has a model.onnx and its input in test_data_set_0; ranges of
activations are those of one run on that input.  The styles:

    qdq        QuantizeLinear and DequantizeLinear around operators, activations uint8
    qdq_signed the same with activations of int8
    qoperator  QLinearConv and QLinearMatMul, uint8
    dynamic    DynamicQuantizeLinear before MatMulInteger and ConvInteger

Without --style a model gets the one that its place in the list says.  What is
written has no reference: `tilewright run --check` and `bench/compare` serve.
Needs python3-onnx.
"""

import argparse
import os
import shutil
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STYLES = ["qdq", "qdq_signed", "qoperator", "dynamic"]
# Whose operands and results are quantized, as ONNX Runtime's quantizer has them.
QUANTIZED = {"Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Mul", "MaxPool", "AveragePool",
             "GlobalAveragePool", "Concat", "Resize", "Softmax", "Sigmoid", "LeakyRelu", "Split",
             "Reshape", "Transpose", "Flatten", "Pad", "ReduceMean", "Squeeze", "Unsqueeze"}
ACTIVATIONS = {"Relu", "Clip"}  # of the layer before, whose result is quantized behind them


def ranges(proto, folder, tilewright):
    """{tensor: (least, largest)} of the float32 tensors that nodes compute."""
    inferred = onnx.shape_inference.infer_shapes(proto)
    infos = {i.name: i for i in list(inferred.graph.value_info) + list(inferred.graph.output)
             if i.type.tensor_type.elem_type == TensorProto.FLOAT}
    observed = onnx.ModelProto()
    observed.CopyFrom(proto)
    names = list(infos)
    for place, name in enumerate(names):
        observed.graph.node.append(helper.make_node("Identity", [name], [f"observed_{place}"]))
        info = onnx.ValueInfoProto()
        info.CopyFrom(infos[name])
        info.name = f"observed_{place}"
        observed.graph.output.append(info)
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        onnx.save(observed, f"{scratch}/model.onnx")
        subprocess.run([tilewright, "run", f"{scratch}/model.onnx", "--connect=none",
                        f"--data={folder}/test_data_set_0", f"--output-dir={scratch}/out"],
                       check=True, stdout=subprocess.DEVNULL)
        for place, name in enumerate(names):
            values = np.load(f"{scratch}/out/observed_{place}.npy")
            found[name] = float(values.min()), float(values.max())
    for index, info in enumerate(proto.graph.input):
        with open(f"{folder}/test_data_set_0/input_{index}.pb", "rb") as file:
            values = numpy_helper.to_array(onnx.load_tensor_from_string(file.read()))
        if values.dtype == np.float32:
            found[info.name] = float(values.min()), float(values.max())
    return found


def fold_transposes(proto):
    """Weights as layers read them: torch's exporter transposes those of Linear."""
    constants = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
    for node in list(proto.graph.node):
        if node.op_type == "Transpose" and node.input[0] in constants:
            order = helper.get_attribute_value(node.attribute[0])
            values = np.ascontiguousarray(constants[node.input[0]].transpose(order))
            proto.graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
            proto.graph.node.remove(node)


class Quantizer:
    """Writes the quantized nodes of `proto`, whose tensors have `ranges`."""

    def __init__(self, proto, style, found):
        self.proto, self.style, self.ranges = proto, style, found
        self.kind = np.int8 if style == "qdq_signed" else np.uint8
        self.constants = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
        for node in proto.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        self.nodes, self.initializers, self.known = [], [], {}
        self.readers = {}
        for node in proto.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)

    def constant(self, name, values):
        if name not in self.known:
            self.initializers.append(numpy_helper.from_array(values, name))
            self.known[name] = name
        return name

    def emit(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def grid(self, name):
        """Names of scale and zero point of an activation, and the scale."""
        low, high = self.ranges[name]
        low, high = min(low, 0.0), max(high, 0.0)
        least = np.iinfo(self.kind).min
        scale = np.float32(max(high - low, 1e-6) / 255)
        zero = self.kind(np.clip(np.round(least - low / scale), least, least + 255))
        return (self.constant(f"{name}.scale", scale), self.constant(f"{name}.zero", zero), scale)

    def whole(self, name):
        """The activation in 8 bits."""
        if f"{name}.q" not in self.known:
            scale, zero, _ = self.grid(name)
            self.known[f"{name}.q"] = self.emit("QuantizeLinear", [name, scale, zero], f"{name}.q")
        return f"{name}.q"

    def dequantized(self, name):
        if f"{name}.dq" not in self.known:
            scale, zero, _ = self.grid(name)
            self.emit("DequantizeLinear", [self.whole(name), scale, zero], f"{name}.dq")
            self.known[f"{name}.dq"] = True
        return f"{name}.dq"

    def weight(self, name, axis):
        """Names of whole weights, their scales (of each index of `axis`, or one for
        None) and zeros; and the scales."""
        values = self.constants[name]
        others = tuple(a for a in range(values.ndim) if a != axis)
        largest = np.abs(values).max(axis=others if axis is not None else None)
        scale = (np.maximum(largest, 1e-6) / 127).astype(np.float32)
        shape = [-1 if a == axis else 1 for a in range(values.ndim)]
        spread = scale.reshape(shape) if axis is not None else scale
        whole = np.clip(np.round(values / spread), -127, 127).astype(np.int8)
        return (self.constant(f"{name}.w{axis}", whole),
                self.constant(f"{name}.w{axis}.scale", np.asarray(scale)),
                self.constant(f"{name}.w{axis}.zero", np.zeros(scale.shape, np.int8)), scale)

    def whole_bias(self, name, scale):
        values = np.round(self.constants[name].astype(np.float64) / scale)
        return self.constant(f"{name}.whole", values.astype(np.int32))

    def weights_of(self, node):
        """(name, axis) of the second operand if it is a constant of a layer."""
        if node.op_type not in ("Conv", "MatMul", "Gemm") or node.input[1] not in self.constants:
            return None
        rank = self.constants[node.input[1]].ndim
        if node.op_type == "Conv":
            return node.input[1], 0
        if rank != 2:
            return None
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        return node.input[1], 0 if transposed else 1

    def is_activation(self, name):
        return name in self.ranges and name not in self.constants

    def behind(self, node):
        """The tensor that is quantized for `node`'s result: behind its activation."""
        readers = self.readers.get(node.output[0], [])
        if len(readers) == 1 and readers[0].op_type in ACTIVATIONS:
            return readers[0].output[0]
        return node.output[0]

    def quantize_operands(self, node):
        """QDQ: `node` with dequantized operands."""
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        weights = self.weights_of(node)
        product = 1.0
        for place, name in enumerate(node.input):
            if weights and place == 1:
                whole, scale, zero, scales = self.weight(*weights)
                copy.input[1] = self.emit("DequantizeLinear", [whole, scale, zero],
                                          f"{node.output[0]}.w", axis=weights[1])
                product = product * scales
            elif weights and place == 2 and name in self.constants:
                bias = self.whole_bias(name, product)
                scale = self.constant(f"{node.output[0]}.b.scale",
                                      np.asarray(product, np.float32))
                zero = self.constant(f"{node.output[0]}.b.zero",
                                     np.zeros(np.shape(product), np.int32))
                copy.input[2] = self.emit("DequantizeLinear", [bias, scale, zero],
                                          f"{node.output[0]}.b", axis=0)
            elif self.is_activation(name):
                product = product * self.grid(name)[2]
                copy.input[place] = self.dequantized(name)
        self.nodes.append(copy)

    def q_linear(self, node):
        """QOperator: QLinearConv or QLinearMatMul and a DequantizeLinear; whether it
        is one."""
        weights = self.weights_of(node)
        if not weights or node.op_type == "Gemm" or not self.is_activation(node.input[0]):
            return False
        x, out = node.input[0], node.output[0]
        scale_x, zero_x, step = self.grid(x)
        whole, scale_w, zero_w, scales = self.weight(*weights)
        scale_y, zero_y, _ = self.grid(out)
        inputs = [self.whole(x), scale_x, zero_x, whole, scale_w, zero_w, scale_y, zero_y]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Conv" and len(node.input) > 2:
            inputs.append(self.whole_bias(node.input[2], step * scales))
        operator = "QLinearConv" if node.op_type == "Conv" else "QLinearMatMul"
        self.known[f"{out}.q"] = self.emit(operator, inputs, f"{out}.q", **attributes)
        self.emit("DequantizeLinear", [f"{out}.q", scale_y, zero_y], out)
        return True

    def dynamic(self, node):
        """DynamicQuantizeLinear and an integer product; whether it is one."""
        weights = self.weights_of(node)
        if not weights or not self.is_activation(node.input[0]):
            return False
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Gemm" and (attributes.get("transA") or attributes.get("alpha", 1) != 1
                                       or attributes.get("beta", 1) != 1):
            return False
        x, out = node.input[0], node.output[0]
        if f"{x}.q" not in self.known:
            self.nodes.append(helper.make_node(
                "DynamicQuantizeLinear", [x], [f"{x}.q", f"{x}.qscale", f"{x}.qzero"]))
            self.known[f"{x}.q"] = True
        name, axis = weights
        if node.op_type == "Gemm" and axis == 0:
            name = f"{weights[0]}.t"
            self.constants[name] = np.ascontiguousarray(self.constants[weights[0]].T)
            axis = 1
        whole, _, zero, scales = self.weight(name, None)
        conv = node.op_type == "Conv"
        sums = self.emit("ConvInteger" if conv else "MatMulInteger",
                         [f"{x}.q", whole, f"{x}.qzero", zero], f"{out}.sums",
                         **(attributes if conv else {}))
        floats = self.emit("Cast", [sums], f"{out}.floats", to=TensorProto.FLOAT)
        scale = self.emit("Mul", [f"{x}.qscale", self.constant(f"{name}.s", np.asarray(scales))],
                          f"{out}.step")
        if len(node.input) < 3:
            self.emit("Mul", [floats, scale], out)
            return True
        bias = self.constants[node.input[2]]
        if conv:
            bias = bias.reshape([-1] + [1] * (self.constants[node.input[1]].ndim - 2))
        self.emit("Mul", [floats, scale], f"{out}.unbiased")
        self.emit("Add", [f"{out}.unbiased", self.constant(f"{out}.bias", bias)], out)
        return True

    def run(self):
        behind_8_bits = self.behind_8_bits()
        for node in self.proto.graph.node:
            if self.style == "dynamic":
                if not self.dynamic(node):
                    self.nodes.append(node)
            elif self.style == "qoperator" and self.q_linear(node):
                continue
            elif (node.op_type in QUANTIZED and self.is_activation(node.output[0])
                  and self.style != "qoperator"):
                self.quantize_operands(node)
            else:
                for place, name in enumerate(node.input):
                    if name in behind_8_bits:
                        node.input[place] = self.dequantized(name)
                self.nodes.append(node)
        graph = self.proto.graph
        used = {name for node in self.nodes for name in node.input}
        kept = [t for t in graph.initializer if t.name in used]
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(self.nodes)
        graph.initializer.extend(kept + self.initializers)
        onnx.checker.check_model(self.proto, full_check=True)
        return self.proto

    def behind_8_bits(self):
        """What passes 8 bits before anyone reads it: results of quantized operators."""
        if not self.style.startswith("qdq"):
            return set()
        made = {self.behind(node) for node in self.proto.graph.node
                if node.op_type in QUANTIZED and self.is_activation(node.output[0])}
        return made - {output.name for output in self.proto.graph.output}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--style", choices=STYLES)
    parser.add_argument("folder", nargs="+")
    arguments = parser.parse_args()
    for place, folder in enumerate(arguments.folder):
        style = arguments.style or STYLES[place % len(STYLES)]
        proto = onnx.load(f"{folder}/model.onnx")
        fold_transposes(proto)
        found = ranges(proto, folder, arguments.tilewright)
        proto = Quantizer(proto, style, found).run()
        target = os.path.join(arguments.out, f"{os.path.basename(folder.rstrip('/'))}_{style}")
        shutil.copytree(f"{folder}/test_data_set_0", f"{target}/test_data_set_0",
                        dirs_exist_ok=True)
        onnx.save(proto, f"{target}/model.onnx")
        print(target, flush=True)


if __name__ == "__main__":
    main()
