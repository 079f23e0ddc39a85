"""Finds the commands in the documentation.

A command stands in an indented block, or in a block fenced as sh. It begins with one of PROGRAMS, or with a $: then the
lines behind it are what it prints, where `...` stands for any lines. It goes on in the next line behind a backslash and
within quotes. Comments say to the reader, and to the test, what is special: behind the command or on a line of its own
above it, or, for all commands of a block, in the sentence in front of the block.

    # takes about 4 minutes      no quick test runs it
    # installs ...               no test runs it: it would change the machine
    # exits with 1               instead of 0
"""

from __future__ import annotations

import dataclasses
import re

PROGRAMS = re.compile(r"(isomer|python3|pip|cmake|ninja|ctest|dot|\./\w+|(build|bench|tools|tests|\.venv[\w-]*)/\S+)(\s|$)")
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
TAKES = re.compile(r"takes (?:(?:about |over )?(\d+|half an|an?) )?(second|minute|hour|day)s?\b")  # or "takes hours"
EXITS = re.compile(r"exits with (\d+)")
INSTALLS = re.compile(r"\binstalls\b")


@dataclasses.dataclass
class Command:
    line: int  # where it begins, from 1
    text: str  # for a shell, without comments
    seconds: int = 0  # that it is said to take; 0: nothing is said
    installs: bool = False
    status: int = 0  # that it is said to exit with
    output: list[str] | None = None  # that it is said to print; None: nothing is said


def commands(page: str) -> list[Command]:
    """The commands of a page in Markdown, in their order."""
    found = []
    for first, lines, sentence in blocks(page.splitlines()):
        found += commands_of_block(first, lines, sentence)
    return found


def blocks(lines: list[str]) -> list[tuple[int, list[str], str]]:
    """The blocks of code: number of the first line, lines without indentation, and the sentence in front."""
    found = []
    at = 0
    while at < len(lines):
        fence = re.match(r"\s*```(\w*)", lines[at])
        start = at + 1 if fence else at
        end = start
        if fence:
            while end < len(lines) and not lines[end].lstrip().startswith("```"):
                end += 1
            if fence[1] == "sh":
                found.append((start + 1, lines[start:end], sentence_before(lines, at)))
            at = end + 1
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            indent = len(lines[at]) - len(lines[at].lstrip())
            found.append((start + 1, [line[indent:] for line in lines[start:end]], sentence_before(lines, at)))
            at = end
        else:
            at += 1
    return found


def sentence_before(lines: list[str], at: int) -> str:
    """The last sentence of the paragraph above a line."""
    end = at
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    start = end
    while start > 0 and lines[start - 1].strip():
        start -= 1
    return re.split(r"(?<=[.!?])\s", " ".join(lines[start:end]))[-1]


def commands_of_block(first: int, lines: list[str], sentence: str) -> list[Command]:
    found: list[Command] = []
    shown = False  # behind a $
    above = ""  # comments on lines of their own
    at = 0
    while at < len(lines):
        line, begin = lines[at], at
        at += 1
        if line.startswith("#") and not shown:
            above += " " + line
            continue
        shown = line.startswith("$ ") or (shown and bool(line.strip()))
        if line.startswith("$ ") or (not shown and PROGRAMS.match(line)):
            text = line.removeprefix("$ ")
            while unfinished(text) and at < len(lines):
                text += "\n" + lines[at]
                at += 1
            end = end_of_code(text)[0]
            command = Command(first + begin, text[:end].rstrip())
            note(command, f"{sentence} {above} {text[end:]}")
            command.output = [] if line.startswith("$ ") else None
            found.append(command)
        elif shown:
            found[-1].output.append(line)
        above = ""
    return found


def unfinished(text: str) -> bool:
    end, quote = end_of_code(text)
    return quote != "" or text[:end].endswith("\\")


def end_of_code(text: str) -> tuple[int, str]:
    """Where the comment begins, or the end; the quote that is open there, or nothing."""
    quote = ""
    for i, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (i == 0 or text[i - 1].isspace()):
            return i, ""
    return len(text), quote


def note(command: Command, comment: str) -> None:
    """Takes from comments what they say."""
    for number, unit in TAKES.findall(comment):
        count = int(number) if number.isdigit() else 0.5 if number == "half an" else 1
        command.seconds = int(count * UNITS[unit])
    for status in EXITS.findall(comment):
        command.status = int(status)
    command.installs = bool(INSTALLS.search(comment))


def printed_as_said(printed: list[str], said: list[str]) -> bool:
    """Whether lines are those that a page shows, where `...` stands for any lines."""
    if not said:
        return not printed
    if said[0].strip() == "...":
        return any(printed_as_said(printed[i:], said[1:]) for i in range(len(printed) + 1))
    return bool(printed) and printed[0].rstrip() == said[0].rstrip() and printed_as_said(printed[1:], said[1:])
