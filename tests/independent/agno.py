"""Independent count of Agno's sessions in JSON: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

from lines import report


def runs_of(session):
    """The runs of a session, those of members among them, each once."""
    waiting, seen = list(session.get("runs") or (session.get("memory") or {}).get("runs") or []), set()
    while waiting:
        run = waiting.pop(0)
        run = run if "messages" in run else run.get("response", run)
        waiting += run.get("member_responses") or []
        if run.get("run_id") not in seen:
            seen.add(run.get("run_id"))
            yield run


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    calls = []
    for session in document if isinstance(document, list) else [document]:
        for run in runs_of(session):
            for message in run.get("messages") or []:
                metrics = message.get("metrics") or {}
                if message["role"] == "assistant" and not message.get("from_history") and metrics.get("input_tokens", 0) > 0:
                    calls.append((metrics["input_tokens"], metrics.get("output_tokens", 0)))
    report(path, calls)
