#!/usr/bin/python3
"""Tests of the exporter; run by hand: bench/models/export_test.py"""

import filecmp
import json
import os
import tempfile
import unittest

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

import export
import parameters
import testcase
import zoo


def read(path):
    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


class ExportTest(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def export(self, name, subfolder="", **arguments):
        return export.export(name, os.path.join(self.folder.name, subfolder), **arguments)[0]

    def operators(self, folder):
        return [node.op_type for node in onnx.load(f"{folder}/model.onnx").graph.node]

    def test_same_seed_gives_the_same_files_and_another_does_not(self):
        one, same = self.export("mlp_odd", "1"), self.export("mlp_odd", "2")
        other = self.export("mlp_odd", "3", seed=1)
        files = ["model.onnx"] + [f"test_data_set_0/{k}_0.pb" for k in ("input", "output", "reference")]
        self.assertEqual(filecmp.cmpfiles(one, same, files, shallow=False)[0], files)
        self.assertEqual(filecmp.cmpfiles(one, other, files, shallow=False)[1], files)

    def test_batchnorm_is_kept_unless_folding_is_asked_for(self):
        self.assertEqual(self.operators(self.export("resnet18_small", "kept")).count("BatchNormalization"), 20)
        folded = self.export("resnet18_small", "folded", fold_batchnorm=True)
        self.assertNotIn("BatchNormalization", self.operators(folded))

    def test_folding_does_not_change_the_reference(self):
        kept = self.export("resnet18_small", "kept")
        folded = self.export("resnet18_small", "folded", fold_batchnorm=True)
        np.testing.assert_array_equal(read(f"{kept}/test_data_set_0/reference_0.pb"),
                                      read(f"{folded}/test_data_set_0/reference_0.pb"))

    def test_reference_is_float64_of_the_exported_float32_weights(self):
        folder = self.export("mlp_odd")
        x = read(f"{folder}/test_data_set_0/input_0.pb").astype(np.float64)
        constants = {t.name: numpy_helper.to_array(t).astype(np.float64)
                     for t in onnx.load(f"{folder}/model.onnx").graph.initializer}
        for layer in ("0", "2", "4"):
            x = x @ constants[f"{layer}.weight"].T + constants[f"{layer}.bias"]
            x = np.maximum(x, 0) if layer != "4" else x
        reference = read(f"{folder}/test_data_set_0/reference_0.pb")
        self.assertEqual(reference.dtype, np.float64)
        np.testing.assert_allclose(reference, x, rtol=0, atol=1e-13)

    def test_batch_is_the_first_dimension(self):
        folder = self.export("mlp64_small", batch=3)
        self.assertEqual(read(f"{folder}/test_data_set_0/output_0.pb").shape, (3, 64))


    def test_several_inputs_and_outputs_keep_their_order(self):
        folder = self.export("bert_small", batch=2)
        self.assertEqual(read(f"{folder}/test_data_set_0/input_0.pb").shape, (2, 19))
        self.assertEqual(read(f"{folder}/test_data_set_0/input_1.pb").dtype, np.int64)
        self.assertEqual(read(f"{folder}/test_data_set_0/reference_1.pb").shape, (2, 48))

    def test_centring_makes_outputs_depend_on_the_input(self):
        model = zoo.MODELS["mobilenet_v2_small"].build().eval()
        parameters.draw(model, 0)
        draw = parameters.stream(0, "x")
        one, other = (torch.from_numpy(zoo.image(draw, (1, 3, 64, 64))).double() for _ in "ab")

        def change(centre):
            parameters.rescale_to_unit_output(model, [one], centre)
            with torch.no_grad():
                model.double()
                return float((model(one) - model(other)).std())

        self.assertGreater(change(True), change(False))


class ClassTest(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def export(self, name, precision):
        return export.export(name, self.folder.name, precision=precision)[0]

    def test_half_models_store_halves_alone(self):
        folder = self.export("mlp_odd", "fp16")
        proto = onnx.load(f"{folder}/model.onnx")
        kinds = {t.data_type for t in proto.graph.initializer}
        self.assertEqual(kinds, {onnx.TensorProto.FLOAT16})
        with open(f"{folder}/test_data_set_0/class.json") as file:
            error = json.load(file)["class_error"]
        self.assertTrue(1e-5 < error < 1e-2, error)

    def test_the_reference_of_a_quantized_model_is_what_int64_gives(self):
        folder = self.export("resnet18_small", "int8")
        x = read(f"{folder}/test_data_set_0/input_0.pb")
        y, largest = in_integers(onnx.load(f"{folder}/model.onnx").graph, x.astype(np.float64))
        np.testing.assert_array_equal(y, read(f"{folder}/test_data_set_0/reference_0.pb"))
        self.assertLess(largest, 2 ** 24)


def windows(x, kernel, stride, pad, fill):
    """[rows, columns, n, c, kernel, kernel]"""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    count = (x.shape[2] - kernel) // stride + 1
    return np.array([[x[:, :, r * stride:r * stride + kernel, c * stride:c * stride + kernel]
                      for c in range(count)] for r in range(count)])


def in_integers(graph, x):
    """The quantized network in int64: every value is (integers, step). Returns the
    output and the largest sum of a convolution."""
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    values, largest = {"x": (x, 1.0)}, 0

    def by_channel(step, rank):
        return np.reshape(step, (1, -1) + (1,) * (rank - 2)) if np.size(step) > 1 else step

    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        at = [values.get(name) for name in node.input]
        if node.op_type == "DequantizeLinear":
            whole, scale, zero = (constants.get(name, values.get(name)) for name in node.input)
            whole = whole[0] if isinstance(whole, tuple) else whole
            zero = zero.astype(np.int64)
            result = whole.astype(np.int64) - (zero if zero.ndim == 0 else 0), np.float64(scale)
        elif node.op_type == "QuantizeLinear":
            scale, zero = (constants[name] for name in node.input[1:])
            ratio = by_channel(at[0][1] / np.float64(scale), at[0][0].ndim)
            result = np.clip(np.round(at[0][0] * ratio) + int(zero), 0, 255).astype(np.int64), 1.0
        elif node.op_type == "Conv":
            (whole, step), (weight, weight_step), (bias, bias_step) = at
            assert np.array_equal(bias_step, step * weight_step)
            parts = windows(whole, weight.shape[2], attributes["strides"][0],
                            attributes["pads"][0], 0)
            sums = np.einsum("rcnikl,oikl->norc", parts, weight) + bias[None, :, None, None]
            largest = max(largest, np.abs(sums).max())
            result = sums, bias_step
        elif node.op_type == "Gemm":
            (whole, step), (weight, weight_step), (bias, _) = at
            result = whole @ weight.T + bias, step * weight_step
        elif node.op_type == "Relu":
            result = np.maximum(at[0][0], 0), at[0][1]
        elif node.op_type == "MaxPool":
            result = windows(at[0][0], 3, 2, 1, -1).max(axis=(4, 5)).transpose(2, 3, 0, 1), at[0][1]
        elif node.op_type == "Add":
            step = min(at[0][1], at[1][1])
            result = sum(whole * int(own / step) for whole, own in at), step
        elif node.op_type == "GlobalAveragePool":
            count = at[0][0].shape[2] * at[0][0].shape[3]
            result = at[0][0].sum(axis=(2, 3), keepdims=True), at[0][1] / count
        else:
            assert node.op_type == "Flatten"
            result = at[0][0].reshape(len(at[0][0]), -1), at[0][1]
        values[node.output[0]] = result
    whole, step = values["y"]
    return whole * step, largest


class ParametersTest(unittest.TestCase):
    def test_every_layer_gets_unit_output(self):
        model = zoo.mlp([64] * 8).eval()
        parameters.draw(model, 0)
        x = torch.from_numpy(zoo.normal(parameters.stream(0, "x"), (200, 64))).double()
        parameters.rescale_to_unit_output(model, [x])
        with torch.no_grad():
            model.double()
            for layer in model:
                x = layer(x)
                if isinstance(layer, nn.Linear):
                    self.assertAlmostEqual(float(x.std()), 1, delta=0.01)

    def test_no_parameter_is_left_at_its_default(self):
        model = zoo.MODELS["resnet18_small"].build()
        with torch.no_grad():
            for tensor in list(model.parameters()) + list(model.buffers()):
                if tensor.is_floating_point():
                    tensor.fill_(float("nan"))
        parameters.draw(model, 0)
        for name, tensor in model.state_dict().items():
            self.assertFalse(torch.isnan(tensor.double()).any(), name)


class CheckOutputsTest(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(0)
        self.one, self.other = random.normal(size=100), random.normal(size=100)

    def test_lively_outputs_pass(self):
        testcase.check_outputs([self.one], [self.other])

    def test_vanishing_constant_and_exploding_outputs_are_refused(self):
        for values in (self.one * 1e-9, np.ones(100), self.one * 100, self.one * np.nan):
            with self.assertRaises(ValueError):
                testcase.check_outputs([values], [self.other])

    def test_outputs_that_ignore_the_input_are_refused(self):
        with self.assertRaises(ValueError):
            testcase.check_outputs([self.one], [self.one + 0.01 * self.other])


if __name__ == "__main__":
    unittest.main()
