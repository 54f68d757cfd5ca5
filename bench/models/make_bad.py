#!/usr/bin/python3
"""Writes malformed models, and what an error about each must mention.

    bench/models/make_bad.py --out=testdata

writes OUT/bad/*.onnx with OUT/bad/expected.tsv (file, what is wrong, words that
the one-line error must contain, separated by spaces) and, as the sound
counterpart of the external-data cases, OUT/external/gemm_external.  Each file is
the sound model `base()` with one thing broken.  Needs python3-onnx.
"""

import argparse
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper, TensorProto

import testcase

FLOAT = TensorProto.FLOAT


def weights(seed, *shape):
    return np.random.Generator(np.random.PCG64(seed)).normal(0, 0.5, shape).astype(np.float32)


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, constants=(), opsets=(("", 17),)):
    """A ModelProto, unchecked.  `inputs`, `outputs`: ValueInfoProto;
    `constants`: (name, array) or TensorProto."""
    initializers = [c if isinstance(c, TensorProto) else numpy_helper.from_array(c[1], c[0])
                    for c in constants]
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), initializers)
    proto = helper.make_model(graph, producer_name="tilewright",
                              opset_imports=[helper.make_opsetid(d, v) for d, v in opsets])
    proto.ir_version = 8
    return proto


def base(b=None, nodes=None, **replaced):
    """Y = relu(A B), A [8, 16], B [16, 24] constant."""
    parts = dict(
        nodes=nodes or [helper.make_node("MatMul", ["A", "B"], ["T"]),
                        helper.make_node("Relu", ["T"], ["Y"])],
        inputs=[info("A", [8, 16])], outputs=[info("Y", [8, 24])],
        constants=[b if b is not None else ("B", weights(1, 16, 24))])
    parts.update(replaced)
    return model(**parts)


def external(location, offset=None, length=None):
    """The base model with B outside the file."""
    b = TensorProto(name="B", data_type=FLOAT, dims=[16, 24],
                    data_location=TensorProto.EXTERNAL)
    pairs = [("location", location), ("offset", offset), ("length", length)]
    for key, value in pairs:
        if value is not None:
            b.external_data.add(key=key, value=str(value))
    return base(b=b)


def raw_tensor(name, dims, raw, kind=FLOAT):
    return TensorProto(name=name, data_type=kind, dims=dims, raw_data=raw)


def one_node(operator, in_shapes, out_shape, domain="", opsets=(("", 17),), kinds=None,
             **attributes):
    names = [f"X{i}" for i in range(len(in_shapes))]
    kinds = kinds or [FLOAT] * len(names)
    return model([helper.make_node(operator, names, ["Y"], domain=domain, **attributes)],
                 [info(n, s, k) for n, s, k in zip(names, in_shapes, kinds)],
                 [info("Y", out_shape)], opsets=opsets)


def nested(depth):
    """`depth` If nodes inside one another."""
    graph = helper.make_graph([helper.make_node("Identity", ["A"], ["R0"])], "g", [],
                              [info("R0", [4])])
    for level in range(1, depth + 1):
        node = helper.make_node("If", ["C"], [f"R{level}"])
        for branch in ("then_branch", "else_branch"):
            # The other branch is small, so that the size stays linear.
            body = graph if branch == "then_branch" else helper.make_graph(
                [helper.make_node("Identity", ["A"], [f"E{level}"])], "g", [],
                [info(f"E{level}", [4])])
            node.attribute.append(helper.make_attribute(branch, body))
        graph = helper.make_graph([node], "g", [], [info(f"R{level}", [4])])
    return model(graph.node, [info("A", [4]), info("C", [], TensorProto.BOOL)], graph.output)


def bad_files():
    """(file name, bytes or ModelProto, what is wrong, words of the error)."""
    node = helper.make_node
    whole = base().SerializeToString()
    noise = np.random.Generator(np.random.PCG64(7)).bytes(4096)
    yield "truncated", whole[:len(whole) * 2 // 3], "cut off after two thirds", ""
    yield "garbage", noise, "random bytes", ""
    yield "empty", b"", "an empty file", ""
    yield "text", b"this is not a model\n", "a text file", ""
    no_graph = base()
    no_graph.ClearField("graph")
    yield "no_graph", no_graph, "a model without a graph", "graph"

    yield "external_absolute", external("/etc/hostname"), "external data at an absolute path", \
        "B /etc/hostname"
    # The two targets exist, so a loader that opens first and asks later is caught.
    yield "external_parent", external("../mlp_odd/model.onnx"), \
        "external data above the model's folder", "B ../mlp_odd/model.onnx"
    yield "external_inner_parent", external("data/../../mlp_odd/model.onnx"), \
        "the same, hidden in the middle", "B data/../../mlp_odd/model.onnx"
    yield "external_symlink", external("link.bin"), "a symbolic link out of the folder", "B link.bin"
    yield "external_missing", external("nowhere.bin"), "a file that does not exist", "B nowhere.bin"
    yield "external_no_location", external(None), "external data without a location", "B"
    yield "external_beyond_end", external("weights.bin", 512, 1536), \
        "a range that ends beyond the file", "B weights.bin"
    yield "external_huge_offset", external("weights.bin", 2 ** 63 - 8, 1536), \
        "offset + length overflows", "B"
    yield "external_bad_offset", external("weights.bin", "-4"), "a negative offset", "B -4"
    yield "external_wrong_length", external("weights.bin", 0, 1000), \
        "a length that contradicts the shape", "B 1000"

    yield "cycle", base(nodes=[node("Add", ["A", "V"], ["U"]), node("Relu", ["U"], ["V"]),
                               node("MatMul", ["V", "B"], ["Y"])]), "a cycle", "cycle U V"
    yield "undefined_name", base(nodes=[node("MatMul", ["A", "ghost"], ["Y"])]), \
        "a name that nothing defines", "ghost"
    yield "undefined_output", base(nodes=[node("MatMul", ["A", "B"], ["T"])]), \
        "an output that nothing defines", "Y"
    yield "duplicate_name", base(nodes=[node("MatMul", ["A", "B"], ["T"]), node("Relu", ["T"], ["T"]),
                                        node("Relu", ["T"], ["Y"])]), "a name defined twice", "T"

    yield "shapes_matmul", base(b=("B", weights(1, 15, 24))), "inner extents 16 and 15", "16 15"
    yield "shapes_broadcast", one_node("Add", [[8, 3], [8, 4]], [8, 4]), "3 and 4 do not broadcast", \
        "Add 3 4"
    yield "shapes_declared", base(outputs=[info("Y", [8, 25])]), \
        "the declared output shape is not the computed one", "Y 25 24"
    yield "shapes_conv", one_node("Conv", [[1, 4, 8, 8], [6, 3, 3, 3]], [1, 6, 6, 6]), \
        "4 channels for weights of 3", "Conv"
    yield "window_too_large", one_node("MaxPool", [[1, 1, 2, 2]], [1, 1, 0, 0], kernel_shape=[3, 3]), \
        "a window larger than the image", "MaxPool"
    yield "stride_zero", one_node("Conv", [[1, 3, 8, 8], [6, 3, 3, 3]], [1, 6, 1, 1], strides=[0, 0]), \
        "a stride of zero", "Conv strides"
    yield "pads_odd", one_node("Conv", [[1, 3, 8, 8], [6, 3, 3, 3]], [1, 6, 6, 6], pads=[1, 1, 1]), \
        "three pads for two axes", "Conv pads"
    yield "types_mixed", one_node("Add", [[4], [4]], [4], kinds=[FLOAT, TensorProto.INT64]), \
        "float plus int64", "Add"
    yield "inputs_missing", one_node("MatMul", [[4, 4]], [4, 4]), "MatMul of one operand", "MatMul"
    yield "attribute_missing", one_node("MaxPool", [[1, 1, 8, 8]], [1, 1, 6, 6]), \
        "no kernel_shape", "MaxPool kernel_shape"
    yield "attribute_type", one_node("Gemm", [[4, 4], [4, 4]], [4, 4], alpha="one"), \
        "alpha is a string", "Gemm alpha"

    yield "constant_short", base(b=raw_tensor("B", [16, 24], bytes(100))), \
        "100 bytes for 16 x 24 floats", "B"
    yield "constant_negative", base(b=raw_tensor("B", [16, -24], bytes(1536))), \
        "a negative extent", "B -24"
    yield "constant_overflow", base(b=raw_tensor("B", [2 ** 40, 2 ** 40], bytes(16))), \
        "an element count beyond 64 bits", "B"
    yield "constant_type", base(b=raw_tensor("B", [16, 24], bytes(1536), 99)), \
        "a data type that does not exist", "B 99"

    yield "operators_unknown", model(
        [node("Frobnicate", ["A"], ["P"]), node("Relu", ["P"], ["Q"]), node("Quuxify", ["Q"], ["R"]),
         node("Widget", ["R"], ["Y"], domain="com.example")],
        [info("A", [4])], [info("Y", [4])], opsets=[("", 17), ("com.example", 1)]), \
        "two unknown operators and an unknown domain", "Frobnicate Quuxify com.example Widget"
    yield "domain_not_imported", one_node("Widget", [[4]], [4], domain="com.example"), \
        "a domain without a version", "com.example"
    yield "opset_too_new", base(opsets=[("", 99)]), "operator set 99", "99"
    yield "opset_too_old", base(opsets=[("", 5)]), "operator set 5", "5"
    yield "opset_none", base(opsets=[]), "no operator set", ""
    # `shape` may be fixed with --dim=NAME=VALUE; without it the error must say so.
    yield "dynamic_dimension", base(inputs=[info("A", ["N", 16])], outputs=[info("Y", ["N", 24])]), \
        "a dimension N without a value", "N --dim=N="
    yield "dynamic_unnamed", base(inputs=[info("A", [None, 16])], outputs=[info("Y", [None, 24])]), \
        "a dimension without name or value", "A"
    yield "nesting", nested(60), "60 graphs inside one another", ""


def write_bad(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    rows = []
    for name, content, wrong, words in bad_files():
        if not isinstance(content, bytes):
            content = content.SerializeToString(deterministic=True)
        with open(f"{folder}/{name}.onnx", "wb") as file:
            file.write(content)
        rows.append(f"{name}.onnx\t{wrong}\t{words}\n")
    with open(f"{folder}/weights.bin", "wb") as file:
        file.write(weights(1, 16, 24).tobytes())
    os.symlink("../mlp_odd/model.onnx", f"{folder}/link.bin")
    with open(f"{folder}/expected.tsv", "w") as file:
        file.writelines(rows)


def write_external(folder):
    """A sound model whose constant is in the second half of another file."""
    os.makedirs(folder, exist_ok=True)
    b = weights(1, 16, 24)
    with open(f"{folder}/weights.bin", "wb") as file:
        file.write(bytes(4096) + b.tobytes())
    a = weights(2, 8, 16)
    y = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    testcase.write(folder, external("weights.bin", 4096, 1536), [("A", a)], [("Y", y)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder that gets bad/ and external/")
    out = parser.parse_args().out
    onnx.checker.check_model(base(), full_check=True)  # so that each file has one fault
    write_bad(os.path.join(out, "bad"))
    write_external(os.path.join(out, "external", "gemm_external"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
