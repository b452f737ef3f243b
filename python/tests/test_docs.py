"""What the documents say runs, and says what they say."""

import os
import re

import pytest
from conftest import ROOT

import ctxsim


def blocks(language):
    text = (ROOT / "docs/python.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_the_questions_in_sql_have_the_answers_that_are_printed(tmp_path, monkeypatch):
    """CTXSIM_WRITE=1 writes the answers anew."""
    duckdb = pytest.importorskip("duckdb")
    page = ROOT / "docs/python.md"
    text, answers, questions = page.read_text(), blocks("text"), blocks("sql")
    assert len(questions) == len(answers) == 3
    ctxsim.replay("transcripts/", ["none", "pi", "opencode"], calls=True).to_parquet(tmp_path / "figures")
    monkeypatch.chdir(tmp_path)
    found = [aligned(duckdb.sql(question)) for question in questions]
    if os.environ.get("CTXSIM_WRITE"):
        for answer, now in zip(answers, found):
            text = text.replace(f"```text\n{answer}```", f"```text\n{now}```", 1)
        page.write_text(text)
    else:
        assert found == answers


def aligned(answer):
    rows = [[str(value) for value in row] for row in [answer.columns, *answer.fetchall()]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n" for row in rows)


def test_every_promised_column_is_described():
    text = (ROOT / "docs/python.md").read_text()
    for table, columns in ctxsim._keys.COLUMNS.items():
        for name in columns:
            assert f"`{name}`" in text, (table, name)


def test_examples_run(tmp_path, monkeypatch):
    for example in blocks("python"):
        monkeypatch.chdir(ROOT)
        code = (
            example.replace('"logs/"', '"transcripts/"')
            .replace('"figures/"', repr(str(tmp_path / "figures")))
            .replace('"figures"', repr(str(tmp_path / "figures")))
        )
        exec(compile(code, "docs/python.md", "exec"), {"ctxsim": ctxsim})
