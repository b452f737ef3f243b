#!/usr/bin/env python3
"""Counts the calls of pi session files straight from their JSON, without any of the program's own logic.

Prints for each file: name, calls with usage, prompt tokens, output tokens, largest prompt.
"""
import json
import sys


def records(path):
    decoder = json.JSONDecoder()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            line = line.strip()
            while line:
                try:
                    value, end = decoder.raw_decode(line)
                except ValueError:
                    break
                yield value
                line = line[end:].lstrip()


def whole(number):
    return isinstance(number, (int, float)) and number >= 0 and number == int(number) and number <= 1 << 40


for path in sys.argv[1:]:
    seen, calls = set(), []
    for record in records(path):
        if not isinstance(record, dict) or record.get("id") in seen:
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
    prompts = [prompt for prompt, _ in calls]
    print(path, len(calls), sum(prompts), sum(output for _, output in calls), max(prompts, default=0), sep="\t")
