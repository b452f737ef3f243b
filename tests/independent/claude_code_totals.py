"""Two totals of Claude Code sessions, straight from the raw lines of all files together.

Prints two tab-separated lines: calls with usage, sum of prompt tokens, sum of output tokens; first of what stands in the files as messages of
their own, then of that together with the replies that progress records alone mirror. A reply is known by the id of its message.
"""

import sys

from lines import records


def note(replies, record, fallback):
    message = record.get("message")
    if record.get("type") != "assistant" or not isinstance(message, dict) or message.get("model") == "<synthetic>":
        return
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return
    prompt = sum(usage.get(key) or 0 for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
    if prompt:
        key = message.get("id") or record.get("uuid") or record.get("requestId") or fallback
        figures = replies.setdefault(key, [0, 0])
        figures[0] = max(figures[0], prompt)
        figures[1] = max(figures[1], usage.get("output_tokens") or 0)


def show(replies):
    print(len(replies), sum(prompt for prompt, _ in replies.values()), sum(output for _, output in replies.values()), sep="\t")


def main():
    own, mirrored = {}, {}
    for path in sys.argv[1:]:
        for number, record in enumerate(records(path)):
            note(own, record, (path, number))
            data = record.get("data")
            if record.get("type") == "progress" and isinstance(data, dict) and isinstance(data.get("message"), dict):
                note(mirrored, data["message"], (path, number))
    show(own)
    show({**mirrored, **own})


main()
