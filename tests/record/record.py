#!/usr/bin/env python3
"""What Isomer decides for every benchmark network and exported graph: a change of only the code's structure must not change it.

    record.py ISOMER PLANS                              compare with the record; exits with 1 if anything differs
    record.py ISOMER PLANS --update [--only NAME ...]   write the record anew, or that of some models
    record.py ISOMER PLANS --measure [--only NAME ...]  measure the kernels that the searches need and kernels.db.xz lacks

The record of a model has the result, the steps and the counts of searches under the roofline model and by the costs of the
built-in runtime's kernels, for the benchmark networks also by those of ONNX Runtime's; and the plans that the built-in runtime
makes of the model and of the result.
The comparison also checks and proves every built-in rule, and compares the verdicts with the lock.

Nothing here depends on time: searches are limited by candidates, and times of kernels come from the database. Nor does it
depend on the processor, as long as that has AVX-512: oneDNN uses AVX2, and ONNX Runtime's layouts are those of AVX-512.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import difflib
import hashlib
import json
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "exported"))

import onnx  # noqa: E402
import restore  # noqa: E402

EXPECTED = HERE / "expected"
KERNELS = HERE / "kernels.db.xz"
ENGINES = ("onednn", "ort")
VERDICTS = HERE.parent.parent / "rulesets" / "verdicts.lock"
FAILED = "no search by"
RECORDED = "of the record"  # stands for the processor that measured
SEARCH = ["--search", "auto", "--max-candidates", "30", "--time-budget", "1000000"]
ENVIRONMENT = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}


@dataclass(frozen=True)
class Model:
    name: str
    exported: bool

    def shapes(self) -> list[str]:
        return [f"{axis}={size}" for axis, size in restore.table()[self.name]["dynamic"].items()] if self.exported else []

    def make(self, isomer: str, path: Path) -> None:
        if self.exported:
            onnx.save(restore.restore(restore.GRAPHS / f"{self.name}.onnx.xz"), path)
        else:
            run(isomer, "models", self.name, "-o", str(path))


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def models(isomer: str) -> list[Model]:
    networks = [entry["name"] for entry in json.loads(run(isomer, "models", "--json"))["models"]]
    return [Model(name, False) for name in networks] + [Model(name, True) for name in restore.table()]


def runs_joined(lines: list[str]) -> Iterator[str]:
    """Equal lines in a row become one, with their number."""
    for index, line in enumerate(lines):
        if index > 0 and lines[index - 1] == line:
            continue
        count = 1
        while index + count < len(lines) and lines[index + count] == line:
            count += 1
        yield line if count == 1 else f"{line}  x {count}"


def plan(plans: str, path: Path, shapes: list[str], result: Path) -> list[str]:
    """The plan of a model kernel by kernel; that of the result as a digest, for the record would be twice as long."""
    lines = run(plans, str(path), *shapes).splitlines()
    after = run(plans, str(result), *shapes)
    digest = hashlib.sha256(after.encode()).hexdigest()[:16]
    return [
        f"plan of the result: {after.splitlines()[0]}; digest {digest}",
        f"plan of the model: {lines[0]}",
        *(f"  {line}" for line in runs_joined(lines[1:])),
    ]


def number(value: object) -> object:
    """Without the digits in which sums of another order differ."""
    return f"{value:.6g}" if isinstance(value, float) else value


def metrics(cost: dict | None, engine: str) -> str:
    """The built-in runtime's memory is left out: kernels with much scratch size it by the caches. Its plans are below."""
    left_out = "peak_bytes" if engine == "onednn" else None
    return " ".join(f"{key} {number(value)}" for key, value in cost.items() if key != left_out) if cost else "unknown"


def search(isomer: str, path: Path, result: Path, shapes: list[str], *options: str) -> list[str]:
    command = [isomer, "optimize", str(path), "-o", str(result), *SEARCH, "--json", *options]
    for shape in shapes:
        command += ["--shape", shape]
    report = json.loads(run(*command))
    found, cost = report["search"], report["cost"]
    # fmt: off
    lines = [f"search by {report['engine']}: {report['outcome']}",
             f"  result {hashlib.sha256(result.read_bytes()).hexdigest()[:16]}",
             f"  {found['candidates']} candidates, {found['duplicates']} duplicates, {found['matches']} matches, {found['stop_reason']}",
             f"  before: {metrics(cost['before'], report['engine'])}",
             f"  after: {metrics(cost['after'], report['engine'])}"]
    # fmt: on
    for step in report["steps"] + report["dropped"]:
        places = " ".join(step["nodes"])
        lines.append(f"  {step['rule']} at {places}: {number(step['delta'])}, {step['ops_after']} operators, {step['verdict']}")
    return lines + [f"  rejected: {one['rule']}: {one['reason']}" for one in found["rejected"]]


@dataclass(frozen=True)
class Programs:
    isomer: str
    plans: str
    kernels: Path  # the database, unpacked

    def engines(self, model: Model) -> tuple[str, ...]:
        """The engines by whose kernels a model is searched."""
        return ENGINES[:1] if model.exported else ENGINES

    def record(self, model: Model) -> str:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path, result = folder / "model.onnx", folder / "result.onnx"
            model.make(self.isomer, path)
            shapes = model.shapes()
            lines = search(self.isomer, path, result, shapes, "--engine", "roofline")
            plans = plan(self.plans, path, shapes, result)
            for engine in self.engines(model):
                locked = ("--engine", engine, "--locked", "--profile-db", str(self.kernels))
                try:
                    lines += search(self.isomer, path, result, shapes, *locked)
                except RuntimeError as error:  # a kernel that kernels.db.xz lacks
                    lines.append(f"{FAILED} {engine}: {error}")
            lines += plans
            text = ("\n".join(lines) + "\n").replace(str(path), "MODEL").replace(str(result), "RESULT")
            return re.sub(r"/\S*/isomer-temporary-\w+/", "TEMPORARY/", text)

    def measure(self, model: Model) -> None:
        """Until the rounded times suffice: with them, a search may look at other candidates than with those measured."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model.make(self.isomer, folder / "model.onnx")
            for engine in self.engines(model):
                database = ("--engine", engine, "--profile-db", str(self.kernels))
                lacks_some = True
                while lacks_some:
                    try:
                        search(self.isomer, folder / "model.onnx", folder / "result.onnx", model.shapes(), "--locked", *database)
                        lacks_some = False
                    except RuntimeError as error:
                        known = count(self.kernels)
                        search(self.isomer, folder / "model.onnx", folder / "result.onnx", model.shapes(), "--costs-only", *database)
                        if count(self.kernels) == known:
                            raise RuntimeError(f"{model.name}: nothing is left to measure, yet: {error}") from error
                        pack(self.kernels)
                        unpack(self.kernels, measured_here=True)


def unpack(path: Path, measured_here: bool) -> None:
    """`measured_here`: as if this processor had measured all, so that nothing is measured again."""
    if not KERNELS.exists():
        return
    path.write_bytes(lzma.decompress(KERNELS.read_bytes()))
    if measured_here:
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE device SET processor = ?", [processor()])


def count(path: Path) -> int:
    """The number of times, and of kernels that could not be measured."""
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE name IN ('kernel', 'failure')").fetchall()
        return sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for (table,) in tables)


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))


def pack(path: Path) -> None:
    """Times are rounded: the record is not a measurement, and is compressed to half the size."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        rows = database.execute("SELECT device, signature, us FROM kernel").fetchall()
        rounded = [(float(f"{us:.3g}"), device, signature) for device, signature, us in rows]
        database.executemany("UPDATE kernel SET us = ?, spread = 0, runs = 1 WHERE device = ? AND signature = ?", rounded)
        database.execute("UPDATE device SET processor = ?", [RECORDED])
        database.commit()
        database.execute("VACUUM")
    KERNELS.write_bytes(lzma.compress(path.read_bytes(), preset=9))


def verdicts_differ(isomer: str) -> bool:
    """Checks and proves every built-in rule anew; whether a verdict is another than that of the lock."""
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "verdicts.lock"
        shutil.copy(VERDICTS, made)
        run(isomer, "rules", "verify", "--write", str(made))
        difference = difflib.unified_diff(VERDICTS.read_text().splitlines(), made.read_text().splitlines(), lineterm="", n=0)
        lines = list(difference)
    print(*lines[:40], sep="\n  ", end="\n" if lines else "")
    return bool(lines)


def compare(model: Model, actual: str) -> bool:
    file = EXPECTED / f"{model.name}.txt"
    expected = file.read_text() if file.exists() else ""
    if actual == expected:
        return True
    difference = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "recorded", "now", lineterm="", n=1)
    failed = [line for line in actual.splitlines() if line.startswith(FAILED)]
    print(f"{model.name}:", *failed, *list(difference)[:40], sep="\n  ", flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("isomer")
    parser.add_argument("plans")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these models")
    parser.add_argument("--update", action="store_true", help="write the record instead of comparing with it")
    parser.add_argument("--measure", action="store_true", help="measure kernels that are missing in kernels.db.xz")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    chosen = [model for model in models(arguments.isomer) if not arguments.only or model.name in arguments.only]
    different = 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        kernels = Path(name) / "kernels.db"
        unpack(kernels, arguments.measure)
        programs = Programs(arguments.isomer, arguments.plans, kernels)
        if arguments.measure:
            for model in chosen:
                programs.measure(model)
                print(f"measured: {model.name}", flush=True)
            return 0
        for model, actual in zip(chosen, pool.map(programs.record, chosen), strict=True):
            if arguments.update:
                if FAILED in actual:
                    sys.exit(f"{model.name}: {actual[actual.index(FAILED):].splitlines()[0]} (try --measure)")
                EXPECTED.mkdir(exist_ok=True)
                (EXPECTED / f"{model.name}.txt").write_text(actual)
            else:
                different += not compare(model, actual)
    if arguments.update:
        print(f"{len(chosen)} models recorded")
        return 0
    if not arguments.only:
        gone = {file.stem for file in EXPECTED.glob("*.txt")} - {model.name for model in chosen}
        for model_name in sorted(gone):
            print(f"{model_name}: in the record, but there is no such model")
        different += len(gone) + verdicts_differ(arguments.isomer)
    print(f"{len(chosen)} models, {different} differ from the record")
    return 1 if different or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
