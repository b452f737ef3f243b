#!/usr/bin/env python3
"""Finds the references of pi and Claude Code sessions by the first definition, straight from their JSON and with none of the program's logic.

A unit is a line (a listing's number stripped, trimmed, at least 24 characters) or an identifier (a run of at least 10 characters of A-Z a-z 0-9 _ . / -).
Units in more than 8 messages are dropped. An assistant message (text and the strings of tool arguments) refers to the latest earlier message that
holds a unit of it. Only sources that are tool results are counted. Distance: characters / 4 between the source's end and the message.

The summary of a recorded compaction is no message: the compaction is undone. With --summaries it is one, as in the first measurements.

Prints for each file and kind: name, kind, references, and how many of them 10k, 20k, 40k, 80k tokens keep.
"""
import re
import sys

from lines import records

IDENTIFIER = re.compile(r"[A-Za-z0-9_./\-]{10,}")
SUMMARIES = "--summaries" in sys.argv
NUMBER = re.compile(r"^\s*\d+(?:→|\t|\||:)")


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def blocks(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def pi(path):
    for record in records(path):
        if record.get("type") != "message":
            continue
        message = record["message"]
        texts = []
        for block in blocks(message.get("content")):
            if block.get("type") == "text":
                texts.append(block["text"])
            elif block.get("type") == "toolCall":
                texts.extend(strings(block.get("arguments")))
        yield {"toolResult": "tool"}.get(message["role"], message["role"]), texts


def claude(path):
    messages, places = [], {}
    for record in records(path):
        if record.get("type") not in ("user", "assistant") or record.get("isSidechain") or (record.get("isCompactSummary") and not SUMMARIES):
            continue
        message = record.get("message") or {}
        if record["type"] == "assistant":
            texts = []
            for block in blocks(message.get("content")):
                if block["type"] == "text":
                    texts.append(block["text"])
                elif block["type"] == "tool_use":
                    texts.extend(strings(block["input"]))
            place = places.setdefault(message.get("id"), len(messages))
            if place == len(messages):
                messages.append(("assistant", texts))
            else:
                messages[place][1].extend(texts)
            continue
        for block in blocks(message.get("content")):
            if block.get("type") == "text":
                messages.append(("user", [block["text"]]))
            elif block.get("type") == "tool_result":
                content = block.get("content")
                text = "\n".join(inner.get("text", "") for inner in content) if isinstance(content, list) else content or ""
                messages.append(("tool", [text]))
    return messages


def lines(text):
    stripped = (NUMBER.sub("", line).strip() for line in text.split("\n"))
    return {line for line in stripped if len(line) >= 24}


def main():
    for path in (argument for argument in sys.argv[1:] if argument != "--summaries"):
        with open(path, encoding="utf-8", errors="replace") as file:
            head = file.readline()
        messages = list(pi(path) if '"type":"session"' in head.replace(" ", "") else claude(path))
        ends, total = [], 0
        for _, texts in messages:
            total += sum(map(len, texts)) // 4
            ends.append(total)
        for kind, units_of in (("line", lines), ("identifier", lambda text: set(IDENTIFIER.findall(text)))):
            units = [set().union(*map(units_of, texts)) if texts else set() for _, texts in messages]
            counts = {}
            for own in units:
                for unit in own:
                    counts[unit] = counts.get(unit, 0) + 1
            latest, distances = {}, []
            for place, (role, _) in enumerate(messages):
                if role == "assistant":
                    sources = {latest[unit] for unit in units[place] if counts[unit] <= 8 and unit in latest}
                    distances.extend(ends[place - 1] - ends[source] for source in sources if messages[source][0] == "tool")
                for unit in units[place]:
                    latest[unit] = place
            kept = [sum(distance <= limit for distance in distances) for limit in (10_000, 20_000, 40_000, 80_000)]
            print(path, kind, len(distances), *kept, sep="\t")


main()
