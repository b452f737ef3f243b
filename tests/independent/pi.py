#!/usr/bin/env python3
"""Counts the calls of pi session files straight from their JSON, without any of the program's own logic.

Prints for each file: name, calls with usage, prompt tokens, output tokens, largest prompt.
"""
import sys

from lines import records, report


def whole(number):
    return isinstance(number, (int, float)) and number >= 0 and number == int(number) and number <= 1 << 40


for path in sys.argv[1:]:
    seen, calls = set(), []
    for record in records(path):
        if record.get("id") in seen:
            continue
        if record.get("id"):
            seen.add(record["id"])
        usages = [record.get("usage")]
        message = record.get("message") or {}
        if message.get("role") == "assistant":
            usages.append(message.get("usage"))
        for usage in filter(None, usages):
            numbers = [usage.get(key, 0) for key in ("input", "cacheRead", "cacheWrite", "output")]
            if all(map(whole, numbers)) and sum(numbers[:3]) > 0:
                calls.append((int(sum(numbers[:3])), int(numbers[3])))
    report(path, calls)
