"""Counts the calls of Claude Code sessions, straight from the raw lines.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
A reply is logged on several lines with the same message id; its output count may grow from line to line.
"""

import json
import os
import sys


def objects(path):
    decoder = json.JSONDecoder()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            rest = line.strip()
            while rest:
                try:
                    value, end = decoder.raw_decode(rest)
                except ValueError:
                    break
                if isinstance(value, dict):
                    yield value
                rest = rest[end:].lstrip()


def main():
    for path in sys.argv[1:]:
        calls = {}
        for number, record in enumerate(objects(path)):
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
        prompts = [prompt for prompt, _ in calls.values()]
        outputs = [output for _, output in calls.values()]
        print(os.path.basename(path), len(calls), sum(prompts), sum(outputs), max(prompts, default=0), sep="\t")


main()
