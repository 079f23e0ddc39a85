#!/usr/bin/env python3
"""Checks that code outside ops/, models/ and onnx/ names no operator: it asks for traits, operand roles and attribute
domains (src/isomer/ir/traits.h). ALLOWED lists the files that may name operators, each with the reason. Tests and comments
may name any. It finds string literals that consist of a name and, in engine/, enumerators written as `Type::NAME`, of all
types but Trait; elsewhere, types such as logical terms have enumerators of such names. Longer literals with names are
messages, examples of --help, and the text of the graph with which search/engine_runs.cc tries an engine.
Exit code 1 with a line for each violation. --count prints how many names stand in each allowed file."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src/isomer"
FREE_ROOMS = {"ops", "models", "onnx"}
ALLOWED = {  # files: what they do that concerns single operators
    "grad/batch_norm.cc": "writes batch normalizations in training form",
    "grad/training_network.cc": "writes losses",
    "grad/training_step.cc": "writes the updates of parameters as arithmetic",
    "certificate/merge_inputs.cc": "splits merged inputs and joins outputs",
    "eval/join.cc": "joins tensors",
    "plan/divisions.cc": "cuts operands into parts and joins results",
    "optimize/merge_parameters.cc": "knows the axes of weights that make channels, splits merged inputs and joins outputs",
    "engine/onednn/lower*.cc": "lower one operator to one kernel; lower.cc lists the kernels with their traits",
    "engine/onednn/recurrent_layer.cc": "tells apart the recurrent cells of oneDNN",
    "engine/onednn/fusion.cc": "lists the functions that oneDNN computes, and folds normalizations into convolutions",
    "engine/onednn/own_posts.h": "lists the functions that our own kernels compute after others",
    "engine/onednn/posts.cc": "finds them among the functions that oneDNN computes",
    "engine/onednn/gelu.cc": "finds Gelu where it is written with simpler operators",
    "engine/onednn/joined_rows.cc": "finds products whose rows are computed part by part",
    "engine/onednn/canonical.cc": "rewrites single operators into forms that have kernels",
    "engine/onednn/decompose.cc": "rewrites single operators into others that have kernels",
    "engine/onednn/einsum_product.cc": "writes Einsum as matrix products",
    "engine/onednn/rearranged.cc": "computes constants that kernels want in another order",
    "engine/onednn/kernel.cc": "builds the neighbors of a kernel that is timed by itself",
    "engine/ort/kernel.cc": "builds the neighbors of a kernel that is timed by itself",
    "engine/ort/p*.cc": "describe the fusions of ONNX Runtime",
    "engine/onednn/conv_problem.cc": "tells apart convolutions and transposed ones",
    "engine/onednn/filter_gradient.cc": "finds the gradient for filters, which is written with simpler operators",
    "engine/onednn/loss_gradient.cc": "finds the gradient of a cross entropy, which is written with simpler operators",
    "engine/onednn/max_pool_gradient.cc": "finds the gradient of a max pool, which is written with simpler operators",
    "engine/onednn/loop_nodes.cc": "lists the operators that loops compute, with their steps",
    "engine/onednn/loop_steps.h": "performs these steps",
    "engine/onednn/reduction.*": "lists what a reduction can compute, among others sums",
    "engine/openvino/openvino.cc": "times a chain of one operator, for the overhead of a node",
    "discover/universe.cc": "writes bundles of values as terms of the rule language",
    "discover/to_rule.cc": "writes rules whose sides have several results as Split",
    "discover/term_writer.cc": "writes uniform constants as ConstantOfShape",
    "discover/relaxation.cc": "writes uniform constants, and lists operators whose rank it does not derive",
}
MIN_NAMES = 150  # fewer: this tool no longer understands how ops/ declares operators


def is_checked(path: pathlib.Path) -> bool:
    return path.suffix in (".h", ".cc") and not re.search(r"(_test|_fuzz)\.cc$|testing\.h$", path.name)


def code(path: pathlib.Path) -> str:
    """The text of a file without its comments; lines keep their numbers."""

    def blank(match: re.Match[str]) -> str:
        return match.group() if match.group()[0] in "\"'" else re.sub(r"[^\n]", " ", match.group())

    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', blank, path.read_text(), flags=re.S)


def declared_names() -> set[str]:
    """The operators that ops/ declares: as fields, by functions that make a declaration, and by macro."""
    texts = [code(path) for path in sorted((SOURCES / "ops").glob("*")) if is_checked(path)]
    makers = set(re.findall(r"^OpDef (\w+)\(", "\n".join(texts), re.M))
    names = set()
    for text in texts:
        names.update(re.findall(r'\{\s*\.name = "([A-Z]\w*)"', text))
        names.update(re.findall(rf'\b(?:{"|".join(makers)})(?:<[^<>()]*>)?\("([A-Z]\w*)"', text))
        names.update(re.findall(r"^ISOMER_FUNCTION\((\w+),", text, re.M))
    return names


def main() -> int:
    names = declared_names()
    if len(names) < MIN_NAMES:
        print(f"tools/check_operators.py: found only {len(names)} operators in ops/: adapt declared_names()")
        return 1
    problems = []
    counts: dict[str, int] = {}
    for path in sorted(SOURCES.rglob("*")):
        name = str(path.relative_to(SOURCES))
        if not is_checked(path) or name.split("/")[0] in FREE_ROOMS:
            continue
        allowed = next((pattern for pattern in ALLOWED if fnmatch.fnmatch(name, pattern)), None)
        for number, line in enumerate(code(path).splitlines(), 1):
            found = re.findall(r'"([A-Z]\w*)"', line)
            if name.startswith("engine/"):
                found += re.findall(r"\b(?!Trait\b)[A-Z]\w*(?=::(\w+))", line)
            for operator in found:
                if operator not in names:
                    continue
                if allowed is None:
                    problems.append(f"{path.relative_to(ROOT)}:{number}: names the operator {operator}: ask for a trait")
                else:
                    counts[name] = counts.get(name, 0) + 1
    for pattern in ALLOWED:
        if not fnmatch.filter(counts, pattern):
            problems.append(f"tools/check_operators.py: {pattern} names no operator: remove it from ALLOWED")
    if "--count" in sys.argv[1:]:
        for name, count in sorted(counts.items(), key=lambda entry: -entry[1]):
            print(f"{count:4} {name}")
    print("\n".join(problems) if problems else f"operators: {len(names)} declared, {sum(counts.values())} names in allowed files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
