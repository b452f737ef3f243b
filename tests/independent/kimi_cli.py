"""Independent count of Kimi CLI contexts, with the requests of the wire beside that no context holds: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import os
import sys
from collections import Counter

from lines import records, report


def steps(wire):
    for record in records(wire):
        tokens = record.get("message", {}).get("payload", {}).get("token_usage")
        if tokens and min(tokens.values()) >= 0:
            yield sum(number for name, number in tokens.items() if name.startswith("input")), tokens["output"]


for path in sys.argv[1:]:
    rows, calls = list(records(path)), []
    for before, reply, after in zip(rows, rows[1:], rows[2:]):
        if (before["role"], reply["role"], after["role"]) == ("_usage", "assistant", "_usage"):
            prompt, output = before["token_count"], after["token_count"] - before["token_count"]
            if prompt > 0 and output >= 0:
                calls.append((prompt, output))
    wire = os.path.join(os.path.dirname(path), "wire.jsonl")
    if os.path.basename(path) == "context.jsonl" and os.path.exists(wire):
        calls += (Counter(steps(wire)) - Counter(calls)).elements()
    report(path, calls)
