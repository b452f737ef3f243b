"""Independent count of Kiro CLI conversations: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import os
import sys


def conversation(value):
    for pair in value.get("history", []):
        spent = pair.get("request_metadata") or {}
        keys = ("uncached_input_tokens", "cache_read_input_tokens", "cache_write_input_tokens")
        prompt = sum(spent.get(key) or 0 for key in keys)
        if pair.get("assistant") and prompt:
            yield prompt, spent.get("output_tokens") or 0


def stream(path):
    beside = path[: -len(".jsonl")] + ".json"
    if not os.path.exists(beside):
        return
    state = json.load(open(beside, encoding="utf-8"))["session_state"]
    for turn in (state.get("conversation_metadata") or {}).get("user_turn_metadatas") or []:
        if turn.get("input_token_count") and turn.get("total_request_count") == 1:
            yield turn["input_token_count"], turn["output_token_count"]


for path in sys.argv[1:]:
    if path.endswith(".jsonl"):
        calls = list(stream(path))
    elif open(path, "rb").read(6) == b"SQLite":
        import sqlite3

        rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("SELECT value FROM conversations_v2").fetchall()
        calls = [call for (value,) in rows if value.startswith("{") for call in conversation(json.loads(value))]
    else:
        calls = list(conversation(json.load(open(path, encoding="utf-8"))))
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
