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


def lock_seeds() -> list[bytes]:
    """Verdicts with and without the rule's text."""
    line = "0123456789abcdef {} {} 11 fedcba9876543210 {}\n"
    rule = "| (Relu (Relu ?x)) => (Relu ?x)\n"
    proved, tested = line.format("a", "proved", "1 structures"), line.format("b", "tested", "9 instances")
    return [text.encode() for text in (proved, proved + rule, "# c\n" + proved + rule + "\n" + tested + rule, proved + tested)]


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


def certificate_seeds() -> list[bytes]:
    """Certificates without their last line, which the fuzzer adds."""
    stamp = "{} 12 xxh128:00112233445566778899aabbccddeeff\n  opset 17 \"\"\n  graph 0123456789abcdef\n"
    head = "isomer certificate 4\nmade by isomer 0.1.0\n" + stamp.format("input") + stamp.format("output")
    beside = (
        "beside import: the input reads as graph 0123456789abcdef: parameters are attributes whatever the opset, equal nodes are "
        "one, what is not known is kept as it is\n"
        "beside constants: {} on constants alone {} computed by the reference kernels\n"
        "beside shapes: nothing is assumed; every condition holds for all values of the symbolic dimensions\n"
        "beside dead code: what no output needs any more is dropped after every step\n"
        "beside opset: the output imports the opsets of the input\n"
        "beside export: what is written reads as graph 0123456789abcdef; an Identity stands where one value has several names\n"
    )
    none = beside.format("0 values that depend", "are")
    one = beside.format("1 value that depends", "is")
    rule = "rule 0123456789abcdef tested drop-identity\n| rule drop-identity\n|   (Identity ?x)\n|   => ?x\n"
    step = "step 0123456789abcdef 0123456789abcdee\n"
    apply = "  apply drop-identity\n    replaces 0123456789abcdef\n    ?x 0123456789abcdef\n    ?y -\n"
    attributes = "    @w 0123456789abcdef -\n    ?a = [1,N]\n    ..c = {group=2}\n"
    inner = "".join("    " + line + "\n" for line in (step + apply).splitlines())
    part = "  part\n    reads 0123456789abcdef\n    gives 0123456789abcdef\n" + inner + "  end\n"
    fold = "  fold 0123456789abcdef 0123456789abcdef\n"
    data = head.replace("  opset", '  data 3 xxh128:00 "a\\x0a\\"b"\n  opset', 1)
    bodies = [rule, rule + step + apply, rule + step + apply + attributes, step + part]
    seeds = [head + none + body for body in bodies] + [head + one + rule + step + part + fold, data + none + rule + step + apply]
    shapes = head + 'shape "x:0:1,3"\nshape "N=8"\n' + none + rule
    decided = head + '  layout blocked "a\\x0a"\n  layout plain "b"\n  algorithm winograd "b"\nshape "N=8"\n' + none + rule
    merged_sentence = (
        "beside merged inputs: each holds several inputs of the input model; if every run gets the outputs new/NAME of the run "
        "before as its inputs NAME, both models compute the same in all runs\n"
    )
    merged = head + none + merged_sentence + rule + 'merge 1 "p"\n  of "a"\n  of "b\\x0a"\n' + step + apply
    old = [(head + none + rule).replace("certificate 4", f"certificate {number}") for number in (1, 2, 3)]
    return [seed.encode() for seed in [*seeds, shapes, decided, merged, *old]]


DECISIONS = ['{"layouts": {"x": "blocked"}, "algorithms": {"x": "winograd"}}', '{"layouts": {"y": "plain"}, "other": [1]}', '{"layouts": {"x": [[[1]]]}}', "{}"]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    corpora = {
        "isomer_import_fuzz": import_seeds(),
        "isomer_rules_fuzz": rule_seeds(),
        "isomer_lock_fuzz": lock_seeds(),
        "isomer_graph_fuzz": [text.encode() for text in GRAPHS],
        "isomer_npy_fuzz": npy_seeds(),
        "isomer_certificate_fuzz": certificate_seeds(),
        "isomer_decisions_fuzz": [text.encode() for text in DECISIONS],
        "isomer_universe_fuzz": [path.read_bytes() for path in sorted(RULES.parent.glob("universes/*"))],
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
