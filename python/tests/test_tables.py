"""Tables in and out: Arrow, pandas, polars, DuckDB, Parquet; exports of others; what a notebook shows; errors."""

import json
import re

import pytest
from conftest import SAMPLES, shared

import ctxsim

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def replayed():
    return ctxsim.replay(SAMPLES, ["none", "pi", "opencode"], calls=True)


def test_arrow_and_pandas_hold_every_row(replayed):
    for name, table in replayed.tables.items():
        if table.rows:
            arrow = table.to_arrow()
            assert arrow.to_pylist() == [{column: row.get(column) for column in table.columns} for row in table], name
    frame = replayed.sessions.to_pandas()
    assert int(frame["calls"].sum()) == sum(row["calls"] for row in replayed.sessions)
    assert replayed.to_pandas("policies")["policy"].tolist() == [row["policy"] for row in replayed.table]


def test_columns_are_stable_whatever_the_logs_hold(replayed):
    others = [ctxsim.replay("transcripts/codex", "none", calls=True), ctxsim.replay("transcripts/gemini-cli", "codex", calls=True)]
    for name in ("policies", "sessions", "calls"):
        promised = ctxsim._keys.COLUMNS[f"replay.{name}"]
        for result in [replayed, *others]:
            schema = result.tables[name].to_arrow().schema
            assert list(schema.names)[: len(promised)] == list(promised)
            kinds = {"int": "int64", "float": "double", "text": "string", "flag": "bool"}
            assert [str(schema.field(column).type) for column in promised] == [kinds[kind] for kind in promised.values()]


def test_parquet_comes_back_as_it_was_written(replayed, tmp_path):
    replayed.to_parquet(tmp_path / "figures")
    again = ctxsim.read_parquet(tmp_path / "figures")
    assert list(again.tables) == [name for name, table in replayed.tables.items() if table.rows]
    for name, table in again.tables.items():
        assert table.to_arrow().equals(replayed.tables[name].to_arrow()), name
    assert again.notes == replayed.notes and again.notes and again.command == "replay"
    assert again.document["corpus"] == replayed.document["corpus"]
    with pytest.raises(FileExistsError, match="sessions.parquet"):
        replayed.to_parquet(tmp_path / "figures")
    with pytest.raises(FileNotFoundError):
        ctxsim.read_parquet(tmp_path)
    parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="not written by ctxsim"):
        ctxsim.read_parquet(tmp_path)


def test_duckdb_and_polars_read_the_files(replayed, tmp_path):
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    replayed.to_parquet(tmp_path / "figures")
    expected = {row["policy"]: row["prompt_tokens"] for row in replayed.table if row["policy"] in ("none", "pi@1.5", "opencode@1.18")}
    file = str(tmp_path / "figures/sessions.parquet")
    summed = dict(duckdb.sql(f"select policy, sum(prompt_tokens) from '{file}' group by policy").fetchall())
    assert {policy: int(summed[policy]) for policy in expected} == expected
    frame = polars.read_parquet(file).group_by("policy").agg(polars.col("prompt_tokens").sum())
    assert {policy: tokens for policy, tokens in frame.iter_rows() if policy in expected} == expected


def test_a_table_of_messages_replays_as_its_file():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    rows = []
    for number in range(2):
        for turn in range(1, 9):
            session = f"s{number}"
            rows.append(
                {
                    "session": session,
                    "agent": "mine",
                    "model": "gpt-5",
                    "role": "user",
                    "time": 1767323047000 + turn * 2000,
                    "text": f"Step {turn} " * 400,
                }
            )
            usage = {"prompt": 1_000 * turn, "output": 40, "cache_read": 900 * (turn - 1)}
            rows.append(
                {
                    "session": session,
                    "agent": "mine",
                    "model": "gpt-5",
                    "role": "assistant",
                    "time": 1767323048000 + turn * 2000,
                    "text": "Done.",
                    "usage": usage,
                }
            )
    written = "".join(
        (
            json.dumps({"ctxsim": "native/1", "session": row["session"], "agent": "mine", "model": "gpt-5"}) + "\n"
            if row["role"] == "user" and "Step 1 " in row["text"]
            else ""
        )
        + json.dumps({key: row[key] for key in ("role", "time", "text", "usage") if key in row})
        + "\n"
        for row in rows
    )
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "mine.jsonl"
        file.write_text(written)
        expected = ctxsim.replay(str(file), ["none", "pi"])
    spread = [
        {
            **{key: value for key, value in row.items() if key != "usage"},
            **{f"usage_{key}": value for key, value in row.get("usage", {}).items()},
        }
        for row in rows
    ]
    texts = [{**row, "usage": json.dumps(row["usage"]) if "usage" in row else None} for row in rows]
    mixed = sorted(rows, key=lambda row: row["time"])
    for table in (
        rows,
        mixed,
        texts,
        pyarrow.Table.from_pylist(texts),
        polars.DataFrame(texts),
        pandas.DataFrame(texts),
        spread,
        pandas.DataFrame(spread),
    ):
        found = ctxsim.replay(table, ["none", "pi"])
        without = [{**row, "source": None} for row in found.sessions]
        assert without == [{**row, "source": None} for row in expected.sessions]
    assert next(row for row in expected.table if row["policy"] == "none")["prompt_tokens"] == 2 * sum(1_000 * turn for turn in range(1, 9))


def test_tables_that_are_none_are_refused():
    with pytest.raises(ValueError, match="row 1 has no `session`"):
        ctxsim.native([{"session": "a", "role": "user", "text": "x"}, {"role": "user", "text": "x"}])
    with pytest.raises(ValueError, match="`usage` is no JSON"):
        ctxsim.native([{"session": "a", "role": "user", "usage": "{"}])
    with pytest.raises(TypeError):
        ctxsim.replay(5)
    with pytest.warns(UserWarning, match="colour"):
        ctxsim.native([{"session": "a", "role": "user", "text": "x", "colour": "red"}])


def test_exports_of_langfuse_give_what_its_traces_give(tmp_path):
    """Public traces, written as rows of `observations_v2/`, as JSON lines and as Parquet, against the program's own reading of the
    trace."""
    compared = 0
    for trace in sorted((shared() / "langfuse_trace").glob("*.json")):
        direct = ctxsim.replay(str(trace), "none")
        observations = json.loads(trace.read_text())["observations"]
        snake = lambda name: re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()  # noqa: E731
        wanted = (
            "id",
            "traceId",
            "parentObservationId",
            "type",
            "startTime",
            "model",
            "input",
            "output",
            "metadata",
            "usageDetails",
            "costDetails",
            "totalCost",
        )
        rows = []
        for observation in observations:
            row = {snake(key): observation.get(key) for key in wanted}
            row["provided_model_name"] = row.pop("model")
            # As Parquet has them: payloads as texts, usage as a map.
            for key in ("input", "output", "metadata"):
                row[key] = None if row[key] is None else row[key] if isinstance(row[key], str) else json.dumps(row[key])
            rows.append(row)
        lines = tmp_path / f"{trace.stem}.jsonl"
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
        figures = [(row["calls"], row["prompt_tokens"], row["output_tokens"]) for row in direct.sessions if row["policy"] == "none"]
        maps = {
            "usage_details": pyarrow.map_(pyarrow.string(), pyarrow.float64()),
            "cost_details": pyarrow.map_(pyarrow.string(), pyarrow.float64()),
        }
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        table = pyarrow.table(
            {
                key: pyarrow.array([None if value is None else list(value.items()) for value in values], maps[key])
                if key in maps
                else pyarrow.array(values)
                for key, values in columns.items()
            }
        )
        packed = tmp_path / f"{trace.stem}.parquet"
        parquet.write_table(table, packed)
        for source in (lines, packed, rows):
            found = ctxsim.replay(ctxsim.read_langfuse(source), "none")
            assert sorted(
                (row["calls"], row["prompt_tokens"], row["output_tokens"]) for row in found.sessions if row["policy"] == "none"
            ) == sorted(figures), (trace, source)
        compared += len(figures)
    assert compared >= 5


def test_runs_of_langsmith(tmp_path):
    """Three runs of one thread, in the published form, as LangChain and as OpenAI's wrapper write them; figures worked out by hand."""

    def run(number, inputs, outputs, prompt, cached):
        return {
            "id": f"r{number}",
            "trace_id": "t",
            "parent_run_id": "root",
            "run_type": "llm",
            "start_time": f"2026-05-01T10:00:0{number}.000000",
            "inputs": json.dumps(inputs),
            "outputs": json.dumps(outputs),
            "extra": json.dumps({"metadata": {"ls_model_name": "gpt-5"}}),
            "prompt_tokens": prompt,
            "completion_tokens": 7,
            "total_tokens": prompt + 7,
            "total_cost": None,
            "prompt_token_details": json.dumps({"cache_read": cached}),
        }

    def message(kind, text):
        return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": {"content": text}}

    said = [("Human", "Why?"), ("AI", "Because."), ("Human", "And then?"), ("AI", "Nothing."), ("Human", "Sure?"), ("AI", "Yes.")]
    root = {
        "id": "root",
        "trace_id": "t",
        "parent_run_id": None,
        "run_type": "chain",
        "start_time": "2026-05-01T10:00:00.000000",
        "inputs": "{}",
        "outputs": "{}",
    }
    chained, wrapped = [root], [root]
    for number in range(3):
        asked, answer = said[: 2 * number + 1], said[2 * number + 1]
        usage = (100 * (number + 1), 90 * number)
        chained.append(
            run(
                number,
                {"messages": [[message(f"{kind}Message", text) for kind, text in asked]]},
                {"generations": [[{"text": answer[1], "message": message("AIMessage", answer[1])}]]},
                *usage,
            )
        )
        roles = {"Human": "user", "AI": "assistant"}
        wrapped.append(
            run(
                number,
                {"messages": [{"role": roles[kind], "content": text} for kind, text in asked], "model": "gpt-5"},
                {"choices": [{"message": {"role": "assistant", "content": answer[1]}}]},
                *usage,
            )
        )
    parquet.write_table(pyarrow.Table.from_pylist(chained[1:]), tmp_path / "runs.parquet")
    for source in (chained, wrapped, tmp_path / "runs.parquet", str(tmp_path / "*.parquet")):
        result = ctxsim.replay(ctxsim.read_langsmith(source), "none", calls=True)
        session = [row for row in result.sessions if row["policy"] == "none"]
        assert [(row["agent"], row["calls"], row["prompt_tokens"], row["output_tokens"], row["model"]) for row in session] == [
            ("langsmith", 3, 600, 21, "gpt-5")
        ]
        assert [call["recorded"] for call in result.calls] == [100, 200, 300]
        assert result.table[0]["cache_read_tokens"] == 270
    with pytest.raises(ValueError, match="no run of LangSmith"):
        ctxsim.read_langsmith([{"id": 1}])
    with pytest.raises(FileNotFoundError):
        ctxsim.read_langsmith(str(tmp_path / "nothing*.parquet"))


def test_a_notebook_shows_a_table_a_chart_and_the_notes(replayed):
    shown = replayed._repr_html_()
    assert shown.count("<tr>") == 1 + len(replayed.table) and "opencode@1.18" in shown and "data:image/svg+xml;base64," in shown
    assert replayed.chart().startswith(b"<svg") and all(
        note.split("`")[0][:20] in shown.replace("&#x27;", "'") for note in replayed.notes[:1]
    )
    hostile = ctxsim.Table("sessions", [{"session": "<script>alert(1)</script>", "calls": 1}])._repr_html_()
    assert "<script>" not in hostile and "&lt;script&gt;" in hostile


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(ctxsim.CtxsimError, match="codexx") as refused:
        ctxsim.replay(SAMPLES, "codexx")
    assert refused.value.code == 2
    (tmp_path / "empty.jsonl").write_text("nothing\n")
    with pytest.raises(ctxsim.NothingReadable):
        ctxsim.replay(str(tmp_path), "none")
    # A path is never an option.
    with pytest.raises(ctxsim.CtxsimError):
        ctxsim.replay("--help", "none")
    with pytest.raises(LookupError, match="calls=True"):
        ctxsim.replay("transcripts/pi", "none").calls
    with pytest.raises(LookupError, match="estimators"):
        ctxsim.drift("transcripts/pi").sessions
