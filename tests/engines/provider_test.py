#!/usr/bin/env python3
"""ONNX Runtime's other execution providers: OpenVINO's, from the package onnxruntime-openvino in an environment of its own.

    provider_test.py ISOMER FOLDER      makes the environment in FOLDER
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

import numpy as np
from environment import Isomer, run_all, with_packages

PROVIDER = "OpenVINOExecutionProvider"
CPU = "CPUExecutionProvider"
TOLERANCE = 1e-4

program, folder = sys.argv[1:]
python = with_packages(pathlib.Path(folder) / "onnxruntime-openvino", "onnxruntime-openvino==1.24.1", "numpy==2.4.6")
isomer = Isomer(program, python)
work = pathlib.Path(tempfile.mkdtemp(prefix="isomer-provider-"))


def network(name: str) -> pathlib.Path:
    path = work / f"{name}.onnx"
    if not path.exists():
        isomer.report("models", name, "-o", path)
    return path


def test_outputs():
    """Both providers give the same outputs, and the reports say which one ran."""
    for name in ("squeezenet", "nasrnn", "inception-e-1"):
        results = []
        for provider in (CPU, PROVIDER):
            out = work / f"{name}-{provider}"
            report = isomer.report("run", network(name), "--provider", provider, "--output-dir", out)
            assert report["provider"] == provider, report
            results.append([np.load(one["file"]) for one in report["outputs"]])
        for expected, got in zip(*results, strict=True):
            assert got.shape == expected.shape and got.dtype == expected.dtype, name
            largest = float(abs(got - expected).max() / abs(expected).max())
            print(f"{name}: {largest:.0e}", flush=True)
            assert largest <= TOLERANCE, f"{name}: {largest}"


def test_reports():
    bench = isomer.report("bench", network("sru-11"), "--provider", PROVIDER, "--runs", 5)
    assert bench["provider"] == PROVIDER and bench["engine_version"].endswith(" " + PROVIDER), bench
    compare = isomer.report("compare", network("sru-11"), network("sru-11"), "--provider", PROVIDER)
    assert compare["provider"] == PROVIDER and compare["equal"], compare
    assert isomer.report("bench", network("sru-11"), "--runs", 5)["provider"] == CPU


def test_optimize_measures_whole_models():
    database = work / "kernels.db"
    common = ["--provider", PROVIDER, "--profile-db", database]
    limits = ["--search", "greedy", "--time-budget", "1000000"]  # greedy search ends by itself
    report = isomer.report("optimize", network("sru-11"), "--dry-run", *limits, *common)
    assert report["provider"] == PROVIDER, report
    assert report["search"]["candidates"] > 0, report["search"]
    assert report["cost"]["kernels_measured"] == 0, report["cost"]
    for option in ("--costs-only", "--locked"):
        message = isomer.error("optimize", network("sru-11"), "--dry-run", option, *common)
        assert f"with the provider {PROVIDER} has no costs of kernels" in message, message


def test_a_missing_provider_is_an_error():
    for command in (["run", network("sru-11")], ["optimize", network("sru-11"), "--dry-run"]):
        message = isomer.error(*command, "--provider", "CUDAExecutionProvider")
        assert "has no provider 'CUDAExecutionProvider'" in message, message
        assert PROVIDER in message and CPU in message, message


if __name__ == "__main__":
    sys.exit(run_all(dict(globals())))
