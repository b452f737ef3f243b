"""Independent count of Kimi CLI contexts: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys

for path in sys.argv[1:]:
    rows, decoder = [], json.JSONDecoder()
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.strip()
        while line:
            try:
                value, end = decoder.raw_decode(line)
            except ValueError:
                break
            rows.append(value)
            line = line[end:].lstrip()
    calls = []
    for before, reply, after in zip(rows, rows[1:], rows[2:]):
        if (before["role"], reply["role"], after["role"]) == ("_usage", "assistant", "_usage"):
            prompt, output = before["token_count"], after["token_count"] - before["token_count"]
            if prompt > 0 and output >= 0:
                calls.append((prompt, output))
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
