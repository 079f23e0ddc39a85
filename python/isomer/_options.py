"""The options of `optimize`, as the compiled part declares them."""

from __future__ import annotations

import difflib
import inspect
import json
import math
import numbers
import os
from typing import Any, Callable, Iterable, Mapping, TypeVar

from . import _native

#: By name: "type", "takes", "default", "help", "note" and more.
OPTIONS: dict[str, dict[str, Any]] = {option["name"]: option for option in json.loads(_native.options())}

_PYTHON_TYPES = {
    "flag": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "file": "str | os.PathLike[str]",
    "list": "Sequence[str]",
}


def options_as_json(given: Mapping[str, Any]) -> str:
    """The options for the compiled part, which checks their values. Raises TypeError for an unknown name."""
    for name in given:
        if name not in OPTIONS:
            nearest = difflib.get_close_matches(name, OPTIONS, 1, 0)[0]
            raise TypeError(f"optimize() has no option '{name}'; the nearest is '{nearest}'")
    return json.dumps({name: _plain(name, value) for name, value in given.items()})


def _plain(name: str, value: Any) -> Any:
    """A value as JSON has it: NumPy's numbers, paths and sequences are read as Python's own."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    if OPTIONS[name]["type"] == "list" and isinstance(value, Iterable):
        return [_plain(name, element) for element in value]
    raise ValueError(f"options: {name}: must be {OPTIONS[name]['takes']}, not {value!r}")


Function = TypeVar("Function", bound=Callable[..., Any])


def takes_options(function: Function) -> Function:
    """Gives a function with **options the options of the table in its signature and its documentation."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    rows = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=() if option["type"] == "list" else option["default"],
            annotation=_PYTHON_TYPES[option["type"]] + (" | None" if option["default"] is None else ""),
        )
        for name, option in OPTIONS.items()
    ]
    function.__signature__ = signature.replace(parameters=[*own, *rows])  # type: ignore[attr-defined]
    described = "\n".join(map(_described, OPTIONS.values()))
    function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n\n{described}\n"
    return function


def _described(option: Mapping[str, Any]) -> str:
    note = f" {option['note']}" if option["note"] else ""
    return f"{option['name']}: {option['takes']}; default {option['default']!r}\n    {option['help']}.{note}"
