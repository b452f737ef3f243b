"""Independent count of runs that Gemini CLI printed: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import json
import sys


def spent(replies, stats):
    """The usage of a run with one reply by one model; nothing is known of the calls of another."""
    models = [name for name, used in stats.get("models", {}).items() if used.get("total_tokens") != 0]
    numbers = [stats.get(key, 0) for key in ("input_tokens", "output_tokens", "total_tokens")]
    sound = all(isinstance(number, int) and number >= 0 for number in numbers)
    if replies != 1 or len(models) > 1 or not sound or numbers[0] == 0:
        return []
    return [(numbers[0], max(numbers[1], numbers[2] - numbers[0]))]


for path in sys.argv[1:]:
    calls, replies, speaking = [], 0, False
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        kind = event.get("type")
        if kind == "init":
            replies, speaking = 0, False
        elif kind == "tool_use" or (kind == "message" and event.get("role") == "assistant"):
            replies += not speaking
            speaking = True
        elif kind == "tool_result" or (kind == "message" and event.get("role") == "user"):
            speaking = False
        elif kind == "result":
            calls += spent(replies, event.get("stats") or {})
    print(path, len(calls), sum(p for p, _ in calls), sum(o for _, o in calls), max((p for p, _ in calls), default=0), sep="\t")
