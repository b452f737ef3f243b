#!/usr/bin/env python3
"""Counts what pi and Claude Code sessions read again, straight from their JSON and with none of the program's logic.

A reading is a call of a tool whose name says that it looks and not that it changes something, or a shell command that begins, behind a change of folder,
with a program that looks, and writes into no file. Two ask for the same if tool and arguments (of a shell: the command) are the same.

At each recorded compaction the latest result of each request is taken that no earlier compaction took away: removed, where it stands before the first
entry that was kept, else kept. It was asked for again if the same request comes later: of what was removed, up to the end; of what was kept, up to the
compaction that removes it. The order of the file stands for the conversation: what a user took back is not looked for.

Prints for each file: name, readings, those that repeat one, results removed, of these asked for again, results kept, of these asked for again.
"""
import json
import re
import sys

from lines import records

LOOKING = {"read", "readfile", "view", "cat", "open", "grep", "search", "glob", "find", "list", "ls", "fetch", "webfetch"}
CHANGING = {"edit", "write", "patch", "replace", "insert", "create"}
PROGRAMS = {"cat", "head", "tail", "less", "more", "nl", "bat", "ls", "tree", "find", "fd", "grep", "rg", "ag"}


def only_looks(command):
    command = command.strip()
    moved = re.match(r"cd .*?&&\s*(.*)", command, re.S)
    if moved:
        command = moved.group(1)
    quiet = command.replace("2>&1", "").replace("2>/dev/null", "").replace("2> /dev/null", "")
    writes = ">" in quiet or " -delete" in quiet or " -exec" in quiet or "xargs" in quiet
    first = (command.split() or [""])[0]
    return (first in PROGRAMS or command.startswith("sed -n ")) and not writes


def request(name, arguments):
    if isinstance(arguments, dict):
        for key in ("command", "cmd", "script"):
            command = arguments.get(key)
            if isinstance(command, str) and command.strip() == "view":
                return name, json.dumps(arguments)
            if isinstance(command, str) and only_looks(command):
                return name, command.strip()
    words = set(re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().replace("_", " ").replace("-", " ").split())
    return (name, json.dumps(arguments)) if words & LOOKING and not words & CHANGING else None


def pi(path):
    """Yields (place, kind, what) in the order of the file: calls, results, compactions with the place of the first kept entry."""
    places = {}
    for place, record in enumerate(records(path)):
        if record.get("id"):
            places.setdefault(record["id"], place)
        if record.get("type") == "compaction":
            kept = record.get("firstKeptEntryIndex")
            yield place, "compaction", places.get(record["firstKeptEntryId"], place) if record.get("firstKeptEntryId") else place if kept is None else kept
        message = record.get("message") or {}
        if record.get("type") != "message":
            continue
        if message.get("role") == "toolResult":
            yield place, "result", message.get("toolCallId")
        for block in message.get("content") if isinstance(message.get("content"), list) else []:
            if block.get("type") == "toolCall":
                yield place, "call", (block.get("id"), block.get("name", ""), block.get("arguments"))


def claude(path):
    places, seen = {}, set()
    for place, record in enumerate(records(path)):
        uuid = record.get("uuid")
        if record.get("isSidechain") or (uuid and uuid in seen):
            continue
        seen.add(uuid)
        places[uuid] = place
        if record.get("type") == "system" and record.get("subtype") == "compact_boundary":
            head = ((record.get("compactMetadata") or {}).get("preservedSegment") or {}).get("headUuid")
            yield place, "compaction", places.get(head, place) if head else place
        content = (record.get("message") or {}).get("content")
        for block in content if isinstance(content, list) and record.get("type") in ("user", "assistant") else []:
            if block.get("type") == "tool_use":
                yield place, "call", (block.get("id"), block.get("name", ""), block.get("input"))
            elif block.get("type") == "tool_result":
                yield place, "result", block.get("tool_use_id")


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="replace") as file:
            head = file.readline()
        readings, results, compactions = [], {}, []
        for place, kind, what in (pi if '"type":"session"' in head.replace(" ", "") else claude)(path):
            if kind == "compaction":
                compactions.append((place, what))
            elif kind == "result":
                results.setdefault(what, place)
            else:
                asked = request(what[1], what[2])
                if asked:
                    readings.append((place, what[0], asked))
        counts = {"removed": [0, 0], "kept": [0, 0]}
        for number, (at, kept_from) in enumerate(compactions):
            latest = {}
            for _, call, asked in readings:
                if results.get(call, at) < at:
                    latest[asked] = results[call]
            for asked, place in latest.items():
                if any(place < kept for _, kept in compactions[:number]):
                    continue
                later = [again for again, _, other in readings if other == asked and again > at]
                if place < kept_from:
                    mine = counts["removed"]
                else:
                    mine = counts["kept"]
                    until = min((other for other, kept in compactions[number + 1 :] if place < kept), default=None)
                    later = [again for again in later if until is None or again < until]
                mine[0] += 1
                mine[1] += bool(later)
        repeated = len(readings) - len({asked for _, _, asked in readings})
        print(path, len(readings), repeated, *counts["removed"], *counts["kept"], sep="\t")


main()
