"""Independent count of Crush's databases: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV).

A session has the usage of its last call. Where the reply is said to have more tokens than it has bytes, what was read from the cache is in
the figure, and it is not used.
"""

import json
import sqlite3
import sys

for path in sys.argv[1:]:
    found = []
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    for session, prompt, output in database.execute("SELECT id, prompt_tokens, completion_tokens FROM sessions"):
        replies = []
        rows = database.execute("SELECT parts FROM messages WHERE session_id = ? AND role = 'assistant' ORDER BY created_at, rowid", (session,))
        for (parts,) in rows:
            size, ended, empty = 0, None, True
            for part in json.loads(parts):
                data = part.get("data") or {}
                if part["type"] == "finish":
                    ended = data.get("reason")
                elif part["type"] != "text" or data.get("text"):
                    empty = False
                    said = [data.get(key) or "" for key in ("text", "thinking")]
                    if part["type"] == "tool_call":
                        said += [data.get("name") or "", data.get("input") or ""]
                    size += sum(len(text.encode()) for text in said)
            if ended not in (None, "canceled", "cancelled", "error") and not empty:
                replies.append(size)
        if prompt and replies and output <= replies[-1]:
            found.append((prompt, output))
    prompts = [prompt for prompt, _ in found]
    print(path, len(found), sum(prompts), sum(output for _, output in found), max(prompts, default=0), sep="\t")
