"""A script of one afternoon: Claude Code logs through prune policies, counts remembered.

    python script.py POLICIES FILE...

For each policy the context is summed at each call, old tool results above the protected tail are cleared where it is over the limit.
"""

import json
import sys

import tiktoken

PLACEHOLDER = 10


def texts(message):
    """Kind and text of each part of a message."""
    content = message.get("content")
    if isinstance(content, str):
        yield "text", content
        return
    for block in content or []:
        kind = block.get("type")
        if kind == "text":
            yield "text", block["text"]
        elif kind == "tool_use":
            yield "call", block["name"] + json.dumps(block["input"])
        elif kind == "tool_result":
            inner = block.get("content")
            inner = inner if isinstance(inner, str) else "".join(part.get("text", "") for part in inner or [])
            yield "result", inner


def main():
    policies, files = int(sys.argv[1]), sys.argv[2:]
    encoding = tiktoken.get_encoding("o200k_base")
    known = {}

    def count(text):
        if text not in known:
            known[text] = len(encoding.encode_ordinary(text))
        return known[text]

    settings = [(60_000 + 8_000 * index, 20_000 + 2_000 * index) for index in range(policies)]
    totals = [[0, 0, 0] for _ in settings]
    for name in files:
        messages, seen = [], set()
        with open(name, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if record.get("type") not in ("user", "assistant") or record.get("isSidechain"):
                    continue
                message = record["message"]
                answer = message.get("id")
                messages.append((record["type"] == "assistant" and answer not in seen, [(kind, count(text)) for kind, text in texts(message)]))
                seen.add(answer)
        for (limit, protect), total in zip(settings, totals):
            context = []
            for called, parts in messages:
                if called:
                    size = sum(tokens for _, tokens in context)
                    if size > limit:
                        kept = 0
                        for index in range(len(context) - 1, -1, -1):
                            kind, tokens = context[index]
                            kept += tokens
                            if kept > protect and kind == "result" and tokens > PLACEHOLDER:
                                context[index] = ("cleared", PLACEHOLDER)
                        total[2] += 1
                        size = sum(tokens for _, tokens in context)
                    total[0] += 1
                    total[1] += size
                context.extend(parts)
    for (limit, protect), (calls, tokens, prunes) in zip(settings, totals):
        print(limit, protect, calls, tokens, prunes)


main()
