"""Estimates beside recorded prompts of mini-swe-agent trajectories, counted again without the program.

Usage: drift.py FOLDER. Prints, as JSON, calls, bias, MAPE and the quantiles of recorded / estimated for chars/4, each text rounded down.
A message's content is its text and its tool calls; a call's prompt is everything before the message that answers it.
"""

import glob
import json
import os
import sys


def text_of(content):
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if part.get("type") == "text"]


def calls(path):
    with open(path, encoding="utf-8") as file:
        trajectory = json.load(file)
    messages = trajectory if isinstance(trajectory, list) else trajectory["messages"]
    estimated = 0
    for message in messages:
        if message.get("role") == "exit":
            continue
        usage = ((message.get("extra") or {}).get("response") or {}).get("usage") or {}
        if message["role"] == "assistant" and usage.get("prompt_tokens"):
            yield estimated, usage["prompt_tokens"]
        estimated += sum(len(text) // 4 for text in text_of(message.get("content")))
        for call in message.get("tool_calls") or []:
            # Name and arguments are rounded separately.
            function = call["function"]
            estimated += len(function["name"]) // 4 + len(function["arguments"]) // 4


def quantile(numbers, percent):
    rank = max(1, -(-len(numbers) * percent // 100))
    return numbers[rank - 1]


def main():
    pairs = []
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "**", "*.json"), recursive=True)):
        pairs.extend(calls(path))
    estimated, recorded = (sum(column) for column in zip(*pairs))
    ratios = sorted(real / guess for guess, real in pairs)
    figures = {
        "calls": len(pairs),
        "bias": (estimated - recorded) / recorded,
        "mape": sum(abs(guess - real) / real for guess, real in pairs) / len(pairs),
    }
    for name, percent in (("p05", 5), ("p50", 50), ("p95", 95), ("p99", 99)):
        figures[name] = quantile(ratios, percent)
    print(json.dumps(figures))


main()
