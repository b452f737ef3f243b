#!/usr/bin/env python3
"""Counts the calls of OpenCode sessions straight from their JSON or SQLite, without any of the program's own logic.

Prints for each file: name, calls with usage, prompt tokens, output tokens, largest prompt.
"""
import glob
import json
import os
import shutil
import sqlite3
import sys
import tempfile


def of_export(path):
    with open(path, encoding="utf-8") as file:
        for message in json.load(file)["messages"]:
            yield message["info"], message["parts"]


def of_tree(path):
    name = os.path.basename(path)[: -len(".json")]
    folder = os.path.dirname(path)
    if os.path.basename(folder) == "info":
        base = os.path.dirname(folder)
        messages, parts = os.path.join(base, "message", name), os.path.join(base, "part", name)
    else:
        base = os.path.dirname(os.path.dirname(folder))
        messages, parts = os.path.join(base, "message", name), os.path.join(base, "part")
    for file in sorted(glob.glob(os.path.join(messages, "*.json"))):
        try:
            info = json.load(open(file, encoding="utf-8"))
        except ValueError:
            continue
        files = sorted(glob.glob(os.path.join(parts, info["id"], "*.json")))
        yield info, [json.load(open(part, encoding="utf-8")) for part in files]


def of_database(path):
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("", "-wal"):
            if os.path.exists(path + ending):
                shutil.copyfile(path + ending, os.path.join(folder, "copy" + ending))
        database = sqlite3.connect(os.path.join(folder, "copy"))
        for id, data in database.execute("SELECT id, data FROM message").fetchall():
            rows = database.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (id,)).fetchall()
            yield json.loads(data), [json.loads(row[0]) for row in rows]
        database.close()


def messages(path):
    with open(path, "rb") as file:
        if file.read(6) == b"SQLite":
            return of_database(path)
    with open(path, encoding="utf-8") as file:
        return of_export(path) if "messages" in json.load(file) else of_tree(path)


def numbers(tokens):
    cache = tokens.get("cache", {})
    prompt = tokens["input"] + cache.get("read", 0) + cache.get("write", 0)
    output, reasoning = tokens["output"], tokens.get("reasoning", 0)
    if min(tokens["input"], output, reasoning) < 0 or prompt <= 0:
        return None
    beside = tokens["total"] == prompt + output + reasoning if "total" in tokens else reasoning > output
    return prompt, output + (reasoning if beside and reasoning else 0)


for path in sys.argv[1:]:
    calls = []
    for info, parts in messages(path):
        if info["role"] != "assistant":
            continue
        steps = [part["tokens"] for part in parts if part["type"] == "step-finish"]
        calls += filter(None, map(numbers, steps if len(steps) > 1 else [info["tokens"]]))
    prompts = [prompt for prompt, _ in calls]
    print(path, len(calls), sum(prompts), sum(output for _, output in calls), max(prompts, default=0), sep="\t")
