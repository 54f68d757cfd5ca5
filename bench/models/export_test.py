#!/usr/bin/python3
"""Tests of the exporter; run by hand: bench/models/export_test.py"""

import filecmp
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
        model = zoo.narrow(zoo.resnet18(), 8, classes=10)
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
