"""The program and the samples that all tests ask."""

import csv
import io
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = "transcripts/"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CTXSIM_CONFIG", "")


def asked(*words):
    """What the command line prints as CSV, row by row."""
    import ctxsim

    said = subprocess.run([ctxsim.program(), *words, "--csv"], check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    return list(csv.DictReader(io.StringIO(said.decode())))


def shared():
    """Recorded sessions that are not part of the project; skips where there are none and none are required."""
    folder = pathlib.Path(os.environ.get("CTXSIM_SHARED", ROOT.parent / "shared")) / "transcripts"
    if not folder.is_dir():
        assert not os.environ.get("CTXSIM_REQUIRE_SHARED"), f"{folder} is missing"
        pytest.skip("no recorded sessions here")
    return folder
