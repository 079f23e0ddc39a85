"""What counts as a command of a page, and what is read from its comments."""

from commands import Command, commands, printed_as_said

PAGE = """\
# A page

Models are optimized so. This takes no prisoners:

    isomer optimize model.onnx -o faster.onnx   # takes about 2 minutes
    isomer compare a.onnx \\
      b.onnx                                    # exits with 1: they differ

    rule a  (Relu ?x) => ?x

What it costs, in a list:

- costs:

        isomer inspect 'a # b
          c'            # exits with 2

To install (installs much):

    ./check
    # takes about an hour
    ./check all

It prints:

    $ isomer rules axioms Relu
    # a comment of its own
    y0[] = Relu(x0)
    ...
    $ cat nothing

```sh
isomer run model.onnx
```

```c
isomer run(model);
```

and `isomer run` in a sentence
    isomer is a name in a paragraph's second line
"""


def test_commands_are_found_with_what_is_said_of_them():
    assert commands(PAGE) == [
        Command(5, "isomer optimize model.onnx -o faster.onnx", seconds=120),
        Command(6, "isomer compare a.onnx \\\n  b.onnx", status=1),
        Command(15, "isomer inspect 'a # b\n  c'", status=2),
        Command(20, "./check", installs=True),
        Command(22, "./check all", seconds=3600, installs=True),
        Command(26, "isomer rules axioms Relu", output=["# a comment of its own", "y0[] = Relu(x0)", "..."]),
        Command(30, "cat nothing", output=[]),
        Command(33, "isomer run model.onnx"),
    ]


def test_dots_stand_for_any_lines():
    assert printed_as_said(["a", "b"], ["a", "b"])
    assert printed_as_said(["a", "b", "c"], ["a", "..."])
    assert printed_as_said(["a", "b", "c"], ["...", "c"])
    assert not printed_as_said(["a", "b"], ["a"])
    assert not printed_as_said(["a"], ["a", "b"])
    assert not printed_as_said(["a", "x"], ["...", "c"])
