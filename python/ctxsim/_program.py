"""The program that this package carries, and how it is run."""

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Any, Dict, List, Optional, Sequence

_NAME = "ctxsim.exe" if sys.platform == "win32" else "ctxsim"


class CtxsimError(Exception):
    """The program refused: an argument, a policy or a place is wrong. The text is its own, with file and reason.

    Attributes:
        code: the exit code, 2; or that of a crash.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        # Engines send what a task raises to the driver.
        return (type(self), (str(self), self.code))


class NothingReadable(CtxsimError):
    """None of the logs could be read (exit code 3)."""


class WorkerKilled(CtxsimError):
    """A signal ended the program, for want of memory perhaps: an engine may repeat the task. ``code`` is the signal, below 0."""


def program() -> str:
    """The path of the program that all functions run.

    That is what the variable ``CTXSIM_PROGRAM`` names, else the script that ``pip`` installed with this package, else the first
    ``ctxsim`` on the search path.

    Raises:
        FileNotFoundError: there is none of these.
    """
    named = os.environ.get("CTXSIM_PROGRAM")
    if named:
        return named
    schemes = [None, f"{os.name}_user"]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    for folder in [*folders, os.path.dirname(sys.executable)]:
        place = os.path.join(folder, _NAME)
        if os.path.isfile(place):
            return place
    found = shutil.which("ctxsim")
    if found:
        return found
    raise FileNotFoundError("the program ctxsim is neither installed with this package nor on the search path; CTXSIM_PROGRAM can name it")


def run(arguments: Sequence[str], stdin: Optional[bytes] = None) -> bytes:
    """What the program prints on standard output.

    Raises:
        NothingReadable: exit code 3.
        CtxsimError: every other exit code but 0.
    """
    done = subprocess.run(
        [program(), *arguments], input=stdin if stdin is not None else b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip() or f"{arguments[0]} ended with {done.returncode}"
    raise (NothingReadable if done.returncode == 3 else CtxsimError)(said, done.returncode)


def options(named: Dict[str, Any]) -> List[str]:
    """Keyword arguments as options of the command line: ``subject_to=["overflows = 0"]`` is ``--subject-to "overflows = 0"``.

    ``None`` and ``False`` leave an option out, ``True`` gives it without a value, a list gives it once for each element.
    """
    words: List[str] = []
    for name, value in named.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is None or each is False:
                continue
            # One word, so that a value which begins with a dash stays a value.
            words.append(option if each is True else f"{option}={each}")
    return words
