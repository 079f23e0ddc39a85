"""Re-runs two experiments of MetaFlow (SysML 2019) on the roofline cost: Table 3 and Figure 10.

    bench/metaflow.py [--program build/isomer] [--seconds 600] --out docs/measurements/metaflow

Table 3: backtracking (alpha = 1.05) against exhaustive search, without a split, with the substitutions that the paper names.
Figure 10: Inception-v3 for a row of alphas, split at 30 operators. Costs are those of the default roofline, so that all figures
but the seconds are the same on every machine.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

RULES = """fold-batch-norm flatten-concat cancel-concat-split move-relu-below-concat
    merge-convolutions merge-convolutions-bias merge-convolutions-relu merge-convolutions-bias-relu
    enlarge-sibling-kernels merge-convolutions-enlarged merge-convolutions-enlarged-bias merge-convolutions-enlarged-bias-relu
    join-convolutions join-convolutions-bias join-convolutions-biases join-convolution-and-summand""".split()
NETWORKS = ["alexnet", "vgg16", "inception-e-1", "resnet18"]
ALPHAS = [1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5]


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def write_rules(program: pathlib.Path, path: pathlib.Path) -> None:
    """The paper's substitutions as a rule file: `rules show` prints a rule and then its verdict."""
    texts = []
    for rule in RULES:
        shown = subprocess.run([program, "rules", "show", rule], check=True, capture_output=True, text=True).stdout
        texts.append(shown.rsplit("\n\n", 1)[0])
    path.write_text("\n\n".join(texts) + "\n")


def optimize(program: pathlib.Path, model: pathlib.Path, rules: pathlib.Path, *options: str) -> dict:
    command = [program, "optimize", model, "--dry-run", "--json", "--engine", "roofline", "--rules", rules, *options]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"cost_us": report["cost"]["after_us"], **{key: report["search"][key] for key in
            ("seconds", "candidates", "duplicates", "stop_reason")}}


def table_3(program: pathlib.Path, folder: pathlib.Path, rules: pathlib.Path, seconds: float) -> list[dict]:
    rows = []
    for network in NETWORKS:
        model = folder / f"{network}.onnx"
        subprocess.run([program, "models", network, "-o", model], check=True, capture_output=True)
        budget = ("--time-budget", str(seconds), "--split", "0", "--max-candidates", "1000000000")
        rows.append({"network": network,
                     "exhaustive": optimize(program, model, rules, "--search", "enumerate", *budget),
                     "backtracking": optimize(program, model, rules, "--search", "backtrack", "--alpha", "1.05", *budget)})
        print(network, rows[-1], flush=True)
    return rows


def figure_10(program: pathlib.Path, folder: pathlib.Path, rules: pathlib.Path, seconds: float) -> list[dict]:
    model = folder / "inception-v3.onnx"
    subprocess.run([program, "models", "inception-v3", "-o", model], check=True, capture_output=True)
    rows = []
    for alpha in ALPHAS:
        options = ("--search", "backtrack", "--alpha", str(alpha), "--time-budget", str(seconds))
        rows.append({"alpha": alpha, **optimize(program, model, rules, *options)})
        print(rows[-1], flush=True)
    return rows


def markdown(data: dict) -> str:
    lines = [f"{data['processor']}, one thread; costs of the default roofline, {len(RULES)} substitutions.", "",
             "Table 3: exhaustive search and backtracking (alpha = 1.05), without a split.", "",
             "| network | exhaustive, s | graphs | backtracking, s | graphs | cost, us | same result |",
             "|---|---:|---:|---:|---:|---:|---|"]
    for row in data["table_3"]:
        all_, some = row["exhaustive"], row["backtracking"]
        ended = "" if all_["stop_reason"] == "exhausted" else " (stopped)"
        same = "yes" if abs(all_["cost_us"] - some["cost_us"]) < 1e-6 else f"no: {all_['cost_us']:.1f}"
        lines.append(f"| {row['network']} | {all_['seconds']:.2f}{ended} | {all_['candidates']} | {some['seconds']:.2f} | "
                     f"{some['candidates']} | {some['cost_us']:.1f} | {same} |")
    lines += ["", "Figure 10: Inception-v3 in parts of at most 30 operators.", "",
              "| alpha | cost, us | s | graphs | stopped by |", "|---:|---:|---:|---:|---|"]
    for row in data["figure_10"]:
        lines.append(f"| {row['alpha']} | {row['cost_us']:.1f} | {row['seconds']:.2f} | {row['candidates']} | "
                     f"{row['stop_reason']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/isomer"))
    parser.add_argument("--seconds", type=float, default=600, help="that one search may take")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="PATH without ending: PATH.json and PATH.md")
    args = parser.parse_args()
    program = args.program.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        rules = folder / "paper.rules"
        write_rules(program, rules)
        data = {"processor": processor(), "table_3": table_3(program, folder, rules, args.seconds),
                "figure_10": figure_10(program, folder, rules, args.seconds)}
    args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    main()
