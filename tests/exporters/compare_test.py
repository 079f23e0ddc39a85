"""Runs every command on the models of models/ and compares what comes out in ONNX Runtime.

    python compare_test.py ISOMER [--model NAME] [--engine roofline] [--keep DIRECTORY]

`inspect`, `optimize` and `verify` must refuse no model.  The optimized model must look like the original and compute the same,
both with ONNX Runtime's optimizations and without. (Models that ONNX Runtime has optimized for other processors, which it
does not run on this one, must only look like the original.)  `run` on the other engines must compute the same too, or refuse with a
message that names a node and an operator of known_unsupported.txt.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from table import HERE, inputs_of, load, table  # first: it makes likeness importable

import likeness
import numpy as np
import onnx

TOLERANCE = 1e-4
HALF_TOLERANCE = 2e-2
ENGINES = ("onednn", "reference")
LEVELS = {"unoptimized": likeness.DISABLED, "optimized": likeness.DEFAULT}
KNOWN = HERE / "known_unsupported.txt"
OTHER_PROCESSOR = "nchwc_block_size"  # in the complaint about blocks of channels that this processor does not have
REFUSAL = re.compile(r"node .+? \((?P<operator>[\w.]+)\): |(?P<sparse>sparse initializer) '")


@dataclasses.dataclass
class Case:
    """One model under test, with the inputs and what ONNX Runtime makes of them."""

    name: str
    entry: dict
    model: onnx.ModelProto
    folder: Path
    tolerance: float = 0.0
    inputs: list[dict] = dataclasses.field(default_factory=list)
    expected: list[dict[str, list]] = dataclasses.field(default_factory=list)

    def path(self, suffix: str) -> Path:
        return self.folder / f"{self.name}{suffix}"


def flat(values: list) -> list[np.ndarray]:
    """Takes sequences and maps apart, so that only arrays are left."""
    result = []
    for value in values:
        if isinstance(value, list):
            result += flat(value)
        elif isinstance(value, dict):
            result += [np.array(list(value)), np.array(list(value.values()))]
        else:
            result.append(np.asarray(value))
    return result


def outputs_of(path: Path, inputs: dict, level) -> list[np.ndarray]:
    return flat(likeness.outputs_of(str(path), inputs, level))


def spread(outputs: dict[str, list]) -> float:
    """How far ONNX Runtime's optimization levels are apart, relative to the largest element of an output."""
    result = 0.0
    for old, new in zip(*outputs.values(), strict=True):
        if old.shape == new.shape and np.issubdtype(old.dtype, np.number) and old.size:
            wide = old.astype(np.float64)
            result = max(result, np.nanmax(np.abs(wide - new)) / (np.nanmax(np.abs(wide)) or 1.0))
    return result


def sizes_of(entry: dict) -> list[dict[str, int]]:
    """The recorded sizes of symbolic dimensions, and larger ones."""
    return [{}, {axis: size + 1 for axis, size in entry["dynamic"].items()}] if entry["dynamic"] else [{}, {}]


def prepare(case: Case) -> str:
    """Writes the model and runs it in ONNX Runtime."""
    onnx.save(case.model, case.path(".onnx"))
    for seed, sizes in enumerate(sizes_of(case.entry)):
        inputs = inputs_of(case.entry, seed, sizes)
        try:
            outputs = {name: outputs_of(case.path(".onnx"), inputs, level) for name, level in LEVELS.items()}
        except Exception as error:  # ONNX Runtime has no common type of errors
            if sizes:
                continue  # not every model with a name for an axis takes other sizes
            if OTHER_PROCESSOR in str(error):
                return ""
            return f"ONNX Runtime refuses the model: {error}"
        case.inputs.append(inputs)
        case.expected.append(outputs)
    case.tolerance = HALF_TOLERANCE if likeness.is_half(case.model) else TOLERANCE
    if case.entry.get("unstable"):
        case.tolerance = max(case.tolerance, *map(spread, case.expected))
    return ""


def isomer(program: str, *arguments: str | Path) -> tuple[int, str]:
    """Runs a command; returns its exit code and what it said about errors."""
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    return run.returncode, run.stderr.strip()


def refused(program: str, *arguments: str | Path) -> str:
    code, message = isomer(program, *arguments)
    return f"exit code {code}: {message[-400:]}" if code else ""


def optimize(case: Case, program: str, engine: str) -> str:
    command = ["optimize", case.path(".onnx"), "-o", case.path(".out.onnx"), "--certificate", case.path(".cert")]
    return refused(program, *command, "--engine", engine, "--time-budget", "2", "--json")


def verify(case: Case, program: str) -> str:
    return refused(program, "verify", case.path(".cert"), case.path(".onnx"), case.path(".out.onnx"))


def checked(model: onnx.ModelProto) -> str:
    try:
        onnx.checker.check_model(model)
    except Exception as error:  # ValidationError, and errors of protobuf
        return f"{error}"[:300]
    return ""


def result_differs(case: Case) -> str:
    """Names how the optimized model differs from the original; empty where it does not."""
    after = onnx.load(case.path(".out.onnx"))
    if (wrong := checked(after)) and not checked(case.model):
        return f"the checker refuses the result: {wrong}"
    if wrong := likeness.differing_presentation(case.model, after):
        return wrong
    for inputs, expected in zip(case.inputs, case.expected, strict=True):
        for name, level in LEVELS.items():
            try:
                actual = outputs_of(case.path(".out.onnx"), inputs, level)
            except Exception as error:  # ONNX Runtime has no common type of errors
                return f"ONNX Runtime refuses the result: {error}"
            if wrong := likeness.differing_outputs(expected[name], actual, case.tolerance):
                return f"{name}: {wrong}"
    return ""


@functools.cache
def known_unsupported() -> set[str]:
    """The operators that the engines lack, named as in messages: with their domain, unless that is the default one."""
    return {line.partition(":")[0] for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")}


def run(case: Case, program: str, engine: str) -> tuple[str, str]:
    """Returns what is wrong, and the operator for which the engine refuses, as far as that is known."""
    inputs = inputs_of(case.entry, 0, {})
    target = case.path(f".{engine}")
    command = ["run", case.path(".onnx"), "--engine", engine, "--output-dir", target, "--json"]
    for index, (name, value) in enumerate(inputs.items()):
        file = case.path(f".input{index}.npy")
        np.save(file, value.astype(str) if value.dtype == object else value)
        command += ["--input", f"{name}={file}"]
    process = subprocess.run([program, *map(str, command)], capture_output=True, text=True, errors="replace")
    if process.returncode:
        found = REFUSAL.search(process.stderr)
        known = (found["operator"] or found["sparse"]) if found else ""
        if process.returncode == 2 and known in known_unsupported():
            return "", known
        return f"exit code {process.returncode}: {process.stderr.strip()[-400:]}", ""
    if not case.expected:
        return "", ""
    files = [output["file"] for output in json.loads(process.stdout)["outputs"]]
    return likeness.differing_outputs(case.expected[0]["unoptimized"], [np.load(file) for file in files], case.tolerance), ""


def check(name: str, program: str, engine: str, keep: Path | None) -> tuple[str, dict[str, str], list[str]]:
    """Returns the name, what is wrong by command, and the known refusals."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        case = Case(name, table()[name], load(name), folder)
        if wrong := prepare(case):
            return name, {"ONNX Runtime": wrong}, []
        wrong = {"inspect": refused(program, "inspect", case.path(".onnx"), "--json"), "optimize": optimize(case, program, engine)}
        if not wrong["optimize"]:
            wrong |= {"verify": verify(case, program), "result": result_differs(case)}
        runs = {f"run on {other}": run(case, program, other) for other in ENGINES}
        wrong |= {command: what for command, (what, _) in runs.items()}
        return name, {command: what for command, what in wrong.items() if what}, [known for _, known in runs.values() if known]


def unused(refusals: Counter) -> list[str]:
    """What known_unsupported.txt lists although no engine refused it."""
    return sorted(known_unsupported() - set(refusals))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("isomer", help="the program")
    parser.add_argument("--model", action="append", help="only this model; may be repeated")
    parser.add_argument("--engine", default="roofline", help="what `optimize` costs with")
    parser.add_argument("--processes", type=int, default=2, help="models under test at a time")
    parser.add_argument("--keep", type=Path, help="leave the models in this directory")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    names = options.model or list(table())
    work = functools.partial(check, program=options.isomer, engine=options.engine, keep=options.keep)
    failed, by_command, refusals = 0, Counter(), Counter()
    with multiprocessing.Pool(options.processes) as pool:
        for name, wrong, known in pool.imap(work, names):
            failed += bool(wrong)
            by_command.update(wrong.keys())
            refusals.update(known)
            for command, what in wrong.items():
                print(f"FAILED {name}: {command}: {what}", flush=True)
    for known, count in sorted(refusals.items()):
        print(f"known: {known} is refused {count} times")
    stale = [] if options.model else unused(refusals)
    for known in stale:
        print(f"FAILED known_unsupported.txt: no engine refuses {known} any more")
    print("failures by command:", ", ".join(f"{command} {count}" for command, count in by_command.items()) or "none")
    print(f"{len(names) - failed} passed, {failed + len(stale)} failed")
    return 1 if failed or stale else 0


if __name__ == "__main__":
    sys.exit(main())
