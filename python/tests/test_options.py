"""The options of isomer.optimize are those of the table, with its names, defaults and checks."""

import inspect
import pathlib
import pydoc

import numpy as np
import pytest
from models import gate

import isomer
from isomer._options import OPTIONS

PARAMETERS = {
    name: parameter
    for name, parameter in inspect.signature(isomer.optimize).parameters.items()
    if name not in ("model", "output")
}
#: What is not the default, for options that take texts.
TEXTS = {
    "engine": "roofline",
    "dtype": "bf16",
    "python": "python3",
    "provider": "CPUExecutionProvider",
    "profile_db": pathlib.Path("p.db"),
    "objective": "kernels",
    "limits": ["kernels <= 1e9"],
    "search": "beam",
    "layout": "joint",
    "extract": "greedy",
    "rules": str(pathlib.Path(__file__).parents[2] / "rulesets/written.rules"),
    "skip_rules": ("factor-gate", "square"),
    "shapes": ["f:2,16"],
}


def other(option):
    """A value that is not the default."""
    if option["name"] in TEXTS:
        return TEXTS[option["name"]]
    default = option["default"]
    if isinstance(default, bool):
        return not default
    return 1e9 if default is None else default + 1


def test_the_signature_has_the_options_with_their_defaults():
    assert list(PARAMETERS) == list(OPTIONS)
    for name, option in OPTIONS.items():
        default = PARAMETERS[name].default
        assert (list(default) if default == () else default) == option["default"], name
    assert OPTIONS["time_budget"]["default"] is None


def test_help_shows_every_option():
    text = pydoc.plaintext.document(isomer.optimize)
    for name, option in OPTIONS.items():
        assert f"{name}: {option['takes']}; default {option['default']!r}" in text
        assert option["help"] in text


def test_defaults_may_be_given():
    defaults = {name: parameter.default for name, parameter in PARAMETERS.items()} | {"engine": "roofline"}
    given = isomer.optimize(gate(), **defaults).report["options"]
    left_out = isomer.optimize(gate(), engine="roofline").report["options"]
    assert given == left_out
    for name in set(OPTIONS) - {"engine", "memory_limit", "python", "rules", "shapes", "time_budget", "tolerance"}:
        assert given[name] == OPTIONS[name]["default"], name


def test_every_option_is_taken(tmp_path):
    values = {name: other(option) for name, option in OPTIONS.items() if name not in ("certificate", "dry_run")}
    values["certificate"] = tmp_path / "gate.cert"
    reported = isomer.optimize(gate(), **values).report["options"]
    assert reported.pop("shapes") == {"f": [2, 16]}
    assert reported.pop("limits") == ["kernels <= 1e9", "peak_bytes <= 1000000000"]
    for name in set(values) & set(reported):
        value = values[name]
        expected = str(value) if isinstance(value, pathlib.Path) else list(value) if isinstance(value, tuple) else value
        assert reported[name] == expected, name


def test_numbers_of_numpy_are_numbers():
    options = isomer.optimize(gate(), engine="roofline", threads=np.int64(2), alpha=np.float32(1.5)).report["options"]
    assert (options["threads"], options["alpha"]) == (2, 1.5)


def test_an_unknown_option_is_a_type_error_that_names_the_nearest():
    with pytest.raises(TypeError, match="no option 'thread'; the nearest is 'threads'"):
        isomer.optimize(gate(), thread=1)
    with pytest.raises(TypeError, match="no option 'budget'; the nearest is 'time_budget'"):
        isomer.optimize(gate(), budget=1)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "python"])
def test_a_value_of_another_kind_is_refused(name):
    bad = 1 if OPTIONS[name]["type"] in ("text", "file", "flag") else "1"
    with pytest.raises(ValueError, match=f"options: {name}: must be "):
        isomer.optimize(gate(), **{name: bad})


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="threads: must be an integer from 1 to 1024"):
        isomer.optimize(gate(), threads=0)
    with pytest.raises(ValueError, match="dtype: must be f32 or bf16"):
        isomer.optimize(gate(), dtype="int8")
    with pytest.raises(ValueError, match="shapes: must be a list of strings"):
        isomer.optimize(gate(), shapes="N=4")
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="options: time_budget: must be a number from 0 to 1e[+]09, not "):
            isomer.optimize(gate(), time_budget=number)
