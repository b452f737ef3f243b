"""Independent count of Kimi CLI contexts: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report

for path in sys.argv[1:]:
    rows, calls = list(records(path)), []
    for before, reply, after in zip(rows, rows[1:], rows[2:]):
        if (before["role"], reply["role"], after["role"]) == ("_usage", "assistant", "_usage"):
            prompt, output = before["token_count"], after["token_count"] - before["token_count"]
            if prompt > 0 and output >= 0:
                calls.append((prompt, output))
    report(path, calls)
