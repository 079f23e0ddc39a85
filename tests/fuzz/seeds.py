"""Writes small valid files for the fuzzers to start from, a folder for each fuzzer.

    python seeds.py OUT        OUT/isomer_import_fuzz/*, OUT/isomer_rules_fuzz/*, ...
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test

LARGEST = 4000  # bytes of a seed: the shorter, the more of them are tried in a second
RULES = Path(__file__).resolve().parents[2] / "rulesets" / "written.rules"

GRAPHS = [
    "input x: f32[1,3,N,8]\nw = f32[4,3,1,1]{seed 7}\nb = f32[4]{0.5,1,-2,3}\ny = Conv(x, w, b) {strides=[2,2]}\n"
    "p, q = Split(y) {axis=1, split=[2,2]}\nreturn p, q\n",
    "input a: f16[2,K]\ninput b: f16[K,3]\nc = MatMul(a, b)\nd = Softmax(c) {axis=-1}\nreturn d\n",
    "input x: i64[4]\nw = i64[4]{fill 3}\ny = Add(x, w)\nz = Cast(y) {to=f32}\nreturn y, z\n",
    "input x: f32[2,3]\ny = Clip(x, _, _)\nz = Transpose(y) {perm=[1,0]}\nu = Reshape(z) {shape=[-1]}\nreturn u\n",
    "input x: f32[3] # a comment\ny = Opaque(x) {@op_type=\"If\"}: f32[3]\nreturn y\n",
    'input x: f32[\xb9(z) {shape=[-1\x1c]\ny = Cli(px, _, _)\nz = Res\xb93] # a com\ny = Opaque(x) {@op_type="If"}: f32[3]\nreturn y\n',
    "w = f32[2,2]{seed 1}\nv = f64[]{nan}\nt = str[2]{\"a\",\"b\\n\"}\nk = bool[2]{true,false}\nreturn w, v, t, k\n",
]


def import_seeds() -> list[bytes]:
    """Models of ONNX's backend tests, as they ship and as they are made on the fly."""
    from onnx.backend.test.case.node import collect_testcases

    found = [case.model.SerializeToString() for case in collect_testcases(None) if case.model is not None]
    shipped = Path(onnx.backend.test.__file__).parent / "data"
    found += [path.read_bytes() for path in sorted(shipped.glob("*/*/model.onnx"))]
    return [model for model in found if len(model) <= LARGEST]


def rule_seeds() -> list[bytes]:
    """The written rules, each with the comment above it, and a tactic."""
    parts = RULES.read_text().split("\n\n")
    tactic = "rule a (Relu ?x) => ?x\n\n# b\ntactic t seed a then a, a seed a"
    return [part.encode() for part in parts if part.startswith(("rule ", "#")) and "rule " in part] + [tactic.encode()]


def npy_seeds() -> list[bytes]:
    """Arrays of every element type, order and rank."""
    arrays = [np.arange(6, dtype=kind).reshape(2, 3) for kind in "bBhHiIlLqQefdFD"]
    arrays += [np.array([True, False]), np.array(["a", "bcd"]), np.array([b"xy", b"z"]), np.float32(1.5)]
    arrays += [np.arange(24.0).reshape(2, 3, 4, order="F"), np.arange(3, dtype=">i4"), np.zeros((0, 2))]
    seeds = []
    for array in arrays:
        file = io.BytesIO()
        np.save(file, array)
        seeds.append(file.getvalue())
    return seeds


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    corpora = {
        "isomer_import_fuzz": import_seeds(),
        "isomer_rules_fuzz": rule_seeds(),
        "isomer_graph_fuzz": [text.encode() for text in GRAPHS],
        "isomer_npy_fuzz": npy_seeds(),
    }
    for name, seeds in corpora.items():
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        for index, seed in enumerate(seeds):
            (folder / f"seed{index}").write_bytes(seed)
        print(f"{name}: {len(seeds)} seeds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
