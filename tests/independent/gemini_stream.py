"""Independent count of runs that Gemini CLI printed: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report


def spent(replies, own, stats):
    """The usage of a run with one reply, by one model or by the run's own with others on the side; nothing is known of the calls of others."""
    used = {name: numbers for name, numbers in stats.get("models", {}).items() if numbers.get("total_tokens") != 0}
    reports = [stats] if len(used) < 2 else list(used.values()) if own in used else []
    calls = []
    for report in reports if replies == 1 else []:
        numbers = [report.get(key, 0) for key in ("input_tokens", "output_tokens", "total_tokens")]
        if all(isinstance(number, int) and number >= 0 for number in numbers) and numbers[0] > 0:
            calls.append((numbers[0], max(numbers[1], numbers[2] - numbers[0])))
    return calls


for path in sys.argv[1:]:
    calls, replies, speaking, own = [], 0, False, ""
    for event in records(path):
        kind = event.get("type")
        if kind == "init":
            replies, speaking, own = 0, False, event.get("model", "")
        elif kind == "tool_use" or (kind == "message" and event.get("role") == "assistant"):
            replies += not speaking
            speaking = True
        elif kind == "tool_result" or (kind == "message" and event.get("role") == "user"):
            speaking = False
        elif kind == "result":
            calls += spent(replies, own, event.get("stats") or {})
    report(path, calls)
