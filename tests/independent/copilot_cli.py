"""Independent count of Copilot CLI events: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV).

Prompts are recorded in three places alone: reports by programs that drive the agent, compactions, and the exit's totals, which are a
call's where the session made one.
"""
import sys

from lines import records, report

for path in sys.argv[1:]:
    calls, replies, totals = [], 0, []
    for event in records(path):
        data = event.get("data") or {}
        if event["type"] == "assistant.message":
            replies += 1
        if event["type"] == "assistant.usage":
            calls.append((data["inputTokens"], data["outputTokens"]))
        used = data.get("compactionTokensUsed")
        if used:
            calls.append((used.get("inputTokens", used.get("input")), used.get("outputTokens", used.get("output"))))
        if event["type"] == "session.shutdown":
            totals += list(data.get("modelMetrics", {}).values())
    if replies == 1 and len(totals) == 1 and totals[0]["requests"]["count"] == 1 and not calls:
        calls.append((totals[0]["usage"]["inputTokens"], totals[0]["usage"]["outputTokens"]))
    report(path, calls)
