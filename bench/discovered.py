#!/usr/bin/env python3
"""How much of the cost reduction of the written rules discovered rules reach by themselves, network by network.

    bench/discovered.py --engine roofline --out docs/measurements/discovered      # writes discovered.json and discovered.md
    bench/discovered.py --engine onednn --time-budget 15 --out docs/measurements/discovered-onednn

The rule sets are the written rules, rulesets/discovered.rules, and, with `--generic FILE`, rules that were generated from TASO's
set of operators alone. All get the same budget and one and the same database of kernels, which a first round of runs warms where
costs are measured. The reduction is that of the report: cost.before_us less cost.after_us; what the engine does by itself is in
all. `--rules FILE` takes the tactics of that file: discovered rules have none, so the written tactics apply only to the written
rules. A network whose search fails (for lack of memory, say: --memory) has a row without figures.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pathlib
import resource
import subprocess
import tempfile

import table

ROOT = table.ROOT
NETWORKS = "sru nasrnn bert-8 bert-base resnext50 inception-v3 nasnet-a nasnet-mobile squeezenet".split()
RULES = {"written": ROOT / "rulesets/written.rules", "discovered": ROOT / "rulesets/discovered.rules"}


def optimized(model: pathlib.Path, rules: pathlib.Path, args: argparse.Namespace, database: pathlib.Path) -> dict:
    """What `isomer optimize` promises with one rule set."""
    report = table.isomer(
        "optimize", str(model), "--dry-run", "--engine", args.engine, "--threads", str(args.threads),
        "--time-budget", str(args.time_budget), "--profile-db", str(database), "--rules", str(rules),
    )
    cost = report["cost"]
    return {
        "before_us": cost["before_us"],
        "after_us": cost["after_us"],
        "speedup": (report["measured"] or {}).get("speedup"),
        "improved": report["improved"],
        "stop_reason": report["search"]["stop_reason"],
        "steps": [step["rule"] for step in report["steps"]] if report["improved"] else [],
    }


def tried(model: pathlib.Path, rules: pathlib.Path, args: argparse.Namespace, database: pathlib.Path) -> dict:
    try:
        return optimized(model, rules, args, database)
    except (RuntimeError, subprocess.SubprocessError) as error:
        return {"before_us": None, "after_us": None, "steps": [], "error": str(error).splitlines()[0]}


def reduction(entry: dict) -> float | None:
    if entry["before_us"] is None or entry["after_us"] is None:
        return None
    return 1 - entry["after_us"] / entry["before_us"]


def fraction(row: dict, rules: str) -> float | None:
    """Nothing where the written rules bring nothing, or a kernel could not be measured."""
    written, reached = reduction(row["written"]), reduction(row[rules])
    return reached / written if written is not None and reached is not None and written > 1e-9 else None


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def short_name(rule: str) -> str:
    """`0f3a12` of discovered-0f3a12..., `0f3a12-add` of discovered-0f3a12...-add, a rule of a family."""
    digits = rule.removeprefix("discovered-")
    return digits[:6] + digits[16:]


def cell(entry: dict) -> str:
    """The cost, what ended the search if it was the time, and the reduction."""
    if entry["after_us"] is None:
        return ""
    late = " t" if entry["stop_reason"] == "time budget" else ""
    return f"{entry['after_us']:.1f}{late} ({percent(reduction(entry))})"


def texts_of(file: pathlib.Path, used: set[str]) -> dict[str, str]:
    """The rules of a file that were used, by short name; a family stands for its rules."""
    out: dict[str, str] = {}
    for paragraph in file.read_text().split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        if not lines or not lines[0].startswith("rule "):
            continue
        name = lines[0].split()[1].removesuffix("-{F}")
        if any(rule == name or rule.startswith(name + "-") for rule in used):
            out[short_name(name)] = "\n".join(lines[1:])
    return out


def markdown(data: dict) -> str:
    others = [rules for rules in data["rules"] if rules != "written"]
    lines = [
        f"{data['processor']}, {data['threads']} thread(s), engine `{data['engine']}`, at most {data['time_budget']:g} s for each search;",
        "`t`: the time ended it. Costs in microseconds: of the network, and after `isomer optimize --rules FILE`, with the part of",
        "the cost that the rules take away. `reached`: how much of the reduction of the written rules (blank where there is none).",
        "Rule sets (SHA-256): " + ", ".join(f"{rules} `{digest[:12]}`" for rules, digest in data["rules"].items()) + ".",
        "",
        "| network | cost | " + " | ".join(["written", *(f"{rules} | reached | used" for rules in others)]) + " |",
        "|---|" + "---:|" * 2 + "---:|---:|---|" * len(others),
    ]
    for row in data["rows"]:
        before = row["written"]["before_us"]
        cells = [row["name"], "" if before is None else f"{before:.1f}", cell(row["written"])]
        for rules in others:
            used = ", ".join(f"`{short_name(rule)}`" for rule in dict.fromkeys(row[rules]["steps"]))
            cells += [cell(row[rules]), percent(fraction(row, rules)), used]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "The discovered rules that were used:", "", "```"]
    lines += [f"{name}\n{text}" for name, text in sorted(data["texts"].items())]
    return "\n".join([*lines, "```"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--engine", default="roofline", choices=["roofline", "onednn", "ort"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--time-budget", type=float, default=30)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="PATH without ending: PATH.json and PATH.md")
    parser.add_argument("--generic", type=pathlib.Path, help="rules that were generated from TASO's set of operators")
    parser.add_argument("--memory", type=float, default=8, help="GB that a search may take")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (int(args.memory * 1e9), int(args.memory * 1e9)))
    sets = RULES | ({"generic": args.generic.resolve()} if args.generic else {})
    data: dict = {"processor": table.processor(), "threads": args.threads, "engine": args.engine}
    data |= {"rules": {key: hashlib.sha256(file.read_bytes()).hexdigest() for key, file in sets.items()}}
    data |= {"time_budget": args.time_budget, "texts": {}, "rows": []}
    for name in args.networks:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            model = folder / "model.onnx"
            table.isomer("models", name, "-o", str(model))
            runs: dict = {}
            for _ in range(1 if args.engine == "roofline" else 2):
                runs = {key: tried(model, rules, args, folder / "profile.db") for key, rules in sets.items()}
        data["rows"].append({"name": name, **runs})
        for key in [key for key in sets if key != "written"]:
            data["texts"] |= texts_of(sets[key], set(runs[key]["steps"]))
        print(f"{name}: {percent(fraction(data['rows'][-1], 'discovered')) or 'nothing to reach'}", flush=True)
        args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        raise SystemExit(str(error)) from error
