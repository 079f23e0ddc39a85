#!/usr/bin/env python3
"""Checks that every room of src/isomer includes only the rooms that CMakeLists.txt lets it, that vendor headers stay in the
room that owns them, that folders which must stand by themselves include nothing that they shall not see, not even through
other headers, and that no two types have one name: compilers do not notice, and what the linker makes of it is wrong. Types
of anonymous namespaces must differ within their folder, whose sources are compiled together.
Exit code 1 with a line for each violation."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENDORS = {  # header prefix: rooms that may include it
    "onnx-ml.pb.h": {"onnx"},
    "google/protobuf": {"onnx"},
    "z3": {"smt"},
    "coin/": {"egraph"},
    "dnnl": {"engine"},
    "oneapi/dnnl": {"engine"},
    "CLI/": {"cli"},
    "sqlite3": {"cost"},
}
FORBIDDEN = {  # folder: headers that nothing but its tests may see
    "certificate": re.compile(r"rules/(match|rewrite|delta|record|expr|functions)\.h|plan/(candidate|stored_decisions)\.h"),
    "plan/checker": re.compile(
        r"plan/(simulate|resource_log|incremental_simulator|happens_before|memory_plan|closure|path_cover|assign_streams)\.h"
    ),
}


def includes(path: pathlib.Path) -> list[tuple[int, str]]:
    """The headers that a file includes, with the lines that do."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if include := re.match(r'\s*#include ["<]([^">]+)[">]', line):
            found.append((number, include.group(1)))
    return found


def seen_by(header: str, seen: dict[str, str], through: str) -> None:
    """Adds to `seen` a header of ours, and those that it includes, with the header that is included directly."""
    path = ROOT / "src" / header
    if header in seen or not header.startswith("isomer/") or not path.exists():
        return
    seen[header] = through
    for _, inner in includes(path):
        seen_by(inner, seen, through)


def forbidden(path: pathlib.Path) -> list[str]:
    """What a file of a folder that stands by itself sees and must not."""
    name = str(path.relative_to(ROOT / "src/isomer"))
    problems = []
    for folder, pattern in FORBIDDEN.items():
        if not name.startswith(folder + "/") or name.endswith("_test.cc"):
            continue
        for number, header in includes(path):
            seen: dict[str, str] = {}
            seen_by(header, seen, header)
            for one in seen:
                if pattern.match(one.removeprefix("isomer/")):
                    problems.append(f"{path.relative_to(ROOT)}:{number}: {folder}/ may not see {one}")
    return problems


def types(path: pathlib.Path) -> list[str]:
    """The types that a file defines, with their namespaces; an anonymous one is called by the file's folder."""
    text = re.sub(r'//[^\n]*|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', " ", path.read_text())
    scopes: list[str | None] = []  # names of namespaces; None: anything else
    found = []
    head = ""
    for token in re.findall(r"[{};]|[^{};]+", text):
        if token == "{":
            namespace = re.search(r"\bnamespace\s*([\w:]*)\s*$", head)
            kind = re.search(r"\b(?:struct|class|enum)\s+(\w+)\s*(?:final\s*)?(?::[^:].*)?$", head.replace("\n", " "))
            if kind and None not in scopes and "template <>" not in head:
                anonymous = f"{path.parent.relative_to(ROOT)}{' (tests)' if path.stem.endswith('_test') else ''}"
                found.append("::".join([*((scope or anonymous) for scope in scopes), kind.group(1)]))
            scopes.append(namespace.group(1) if namespace else None)
        elif token == "}" and scopes:
            scopes.pop()
        head = token if token not in "{};" else ""
    return found


def rooms() -> dict[str, set[str]]:
    """Each room with all rooms that it may include: those after USES, and theirs."""
    reach: dict[str, set[str]] = {}
    for words in re.findall(r"^isomer_room\((.*)\)", (ROOT / "CMakeLists.txt").read_text(), re.M):
        name, *rest = words.split()
        direct = []
        if "USES" in rest:
            direct = rest[rest.index("USES") + 1 :]
            direct = direct[: next((i for i, word in enumerate(direct) if word.isupper()), None)]
        reach[name] = {name, *direct}.union(*(reach[used] for used in direct))
    return reach


def main() -> int:
    reach = rooms()
    problems = []
    defined: dict[str, pathlib.Path] = {}
    for path in sorted((ROOT / "src/isomer").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        for name in types(path):
            if (other := defined.setdefault(name, path)) != path:
                problems.append(f"{path.relative_to(ROOT)}: {name} is a type of {other.relative_to(ROOT)} already")
        room = path.relative_to(ROOT / "src/isomer").parts[0]
        if room not in reach:
            problems.append(f"{path.relative_to(ROOT)}: the room '{room}' is not listed in CMakeLists.txt")
            continue
        problems += forbidden(path)
        for number, header in includes(path):
            own = re.match(r"isomer/(\w+)/", header)
            where = f"{path.relative_to(ROOT)}:{number}"
            if own and own.group(1) not in reach[room]:
                problems.append(f"{where}: {room}/ may not include {own.group(1)}/")
            for vendor, allowed in VENDORS.items():
                if header.startswith(vendor) and room not in allowed:
                    problems.append(f"{where}: {header} belongs to {', '.join(sorted(allowed))}/")
    print("\n".join(problems) if problems else f"rooms: {len(reach)} rooms in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
