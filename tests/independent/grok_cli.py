"""Independent count of Grok CLI sessions: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import os
import sys

from lines import records, report


for path in sys.argv[1:]:
    folder = os.path.dirname(os.path.abspath(path))
    log = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(folder))), "logs", "unified.jsonl")
    session = next((line["params"]["sessionId"] for line in records(path) if "params" in line), os.path.basename(folder))
    calls = []
    if os.path.basename(os.path.dirname(os.path.dirname(folder))) == "sessions" and os.path.exists(log):
        done = [line["ctx"] for line in records(log) if line.get("sid") == session and line.get("msg") == "shell.turn.inference_done"]
        calls = [(spent["prompt_tokens"], spent["completion_tokens"]) for spent in done if spent["prompt_tokens"] > 0]
    report(path, calls)
