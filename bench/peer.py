"""What the peers of `padir bench` share: JSON commands on stdin, one a line, each answered by one line on stdout."""

import json
import os
import resource
import sys


class Refused(Exception):
    """A command that cannot be followed; its text is the answer."""


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def peak_rss():
    """The high-water mark of this process; ru_maxrss would start from that of the process that spawned it."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def number(value, name, least=1):
    """The value, if it is an integer that is large enough."""
    if type(value) is not int or value < least:
        raise Refused(f"{name} is {json.dumps(value)}, not an integer from {least} on")
    return value


def say(answer):
    print(json.dumps(answer), flush=True)


def serve(answer):
    """Answers commands until told to quit, or until there are no more."""
    for line in filter(str.strip, sys.stdin):
        try:
            command = json.loads(line)
            if isinstance(command, dict) and "quit" in command:
                break
            say(answer(command))
        except json.JSONDecodeError as error:
            say({"error": f"not a JSON command: {error}"})
        except Refused as error:
            say({"error": str(error)})


def all_refused(answer, cases):
    """Whether commands, by name, are refused: not answered and not fatal."""
    agrees = True
    for name, command in cases.items():
        try:
            answer(command)
        except Refused:
            continue
        say({"not refused": name})
        agrees = False
    return agrees
