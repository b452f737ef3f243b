"""Counts the calls of Claude Code sessions, straight from the raw lines.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
A reply is logged on several lines with the same message id; its output count may grow from line to line.
"""

import sys

from lines import records, report


def main():
    for path in sys.argv[1:]:
        calls = {}
        for number, record in enumerate(records(path)):
            message = record.get("message")
            if record.get("type") != "assistant" or not isinstance(message, dict):
                continue
            usage = message.get("usage")
            if not isinstance(usage, dict) or message.get("model") == "<synthetic>":
                continue
            prompt = sum(
                usage.get(key) or 0
                for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            )
            if prompt == 0:
                continue
            key = message.get("id") or record.get("requestId") or record.get("uuid") or number
            seen = calls.setdefault(key, [prompt, 0])
            seen[1] = max(seen[1], usage.get("output_tokens") or 0)
        report(path, calls.values())


main()
