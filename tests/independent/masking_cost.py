"""Observation masking over mini-swe-agent trajectories, by its own arithmetic: tokens saved, hits and cost of a perfect prompt cache.

Usage: masking_cost.py FOLDER INPUT READ OUTPUT KEEP POLLING [KEEP POLLING ...]    prices in dollars for a million tokens
Prints one JSON object: the recorded sums, and for each pair of KEEP and POLLING what masking makes of them.

What a message costs is taken from the recorded prompts alone: the prompt of a call less the one before is the reply and the observation
between them; the reply is its completion less the reasoning. A placeholder costs 11 tokens. SWE-agent counts the task as the first observation, which
it never masks: with n results in the prompt it masks floor((n + 1) / polling) * polling - keep - 1 of them, the oldest.
"""

import json
import sys
from decimal import Decimal
from pathlib import Path

PLACEHOLDER = 11


def calls_of(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    messages = document if isinstance(document, list) else document["messages"]
    for message in messages:
        response = (message.get("extra") or {}).get("response") or {}
        usage = response.get("usage")
        if message["role"] == "assistant" and usage:
            prompt = usage.get("prompt_tokens_details") or {}
            completion = usage.get("completion_tokens_details") or {}
            yield {
                "model": response.get("model") or "",
                "prompt": usage["prompt_tokens"],
                "cached": prompt.get("cached_tokens") or 0,
                "output": usage["completion_tokens"],
                "reasoning": completion.get("reasoning_tokens") or 0,
                "cost": Decimal(str(usage.get("cost") or 0)),
            }


def masked(session, keep, polling):
    """Prompt and perfect hits of each call."""
    saved_by = []  # tokens that masking each observation takes away, oldest first
    ends = []  # where each observation begins in the unmasked prompt
    last = None
    for index, call in enumerate(session):
        if index:
            before = session[index - 1]
            reply = before["output"] - before["reasoning"]
            observation = max(call["prompt"] - before["prompt"] - reply, 0)
            ends.append(call["prompt"] - observation)
            saved_by.append(max(observation - PLACEHOLDER, 0))
        count = max(0, (len(saved_by) + 1) // polling * polling - keep - 1)
        prompt = call["prompt"] - sum(saved_by[:count])
        if last is None:
            hit = 0
        elif count == last[0]:
            hit = min(last[1], prompt)
        else:
            # The first observation that was whole in the request before and is masked in this one.
            first = last[0]
            hit = min(ends[first] - sum(saved_by[:first]), prompt)
        yield prompt, hit
        last = (count, prompt)


def main():
    folder, prices, pairs = Path(sys.argv[1]), [Decimal(text) for text in sys.argv[2:5]], [int(text) for text in sys.argv[5:]]
    per_input, per_read, per_output = (price / 1_000_000 for price in prices)
    sessions = [list(calls_of(path)) for path in sorted(folder.glob("*.json"))]
    sessions = [[call for call in session] for session in sessions if session and "gemini" in session[0]["model"]]
    calls = [call for session in sessions for call in session]
    total = {key: sum(call[key] for call in calls) for key in ("prompt", "cached", "output", "cost")}
    listed = (total["prompt"] - total["cached"]) * per_input + total["cached"] * per_read + total["output"] * per_output
    report = {
        "sessions": len(sessions),
        "calls": len(calls),
        "prompt": total["prompt"],
        "cached": total["cached"],
        "output": total["output"],
        "logged_usd": float(total["cost"]),
        "list_usd": float(listed),
        "masking": [],
    }
    for keep, polling in zip(pairs[::2], pairs[1::2]):
        rows = [row for session in sessions for row in masked(session, keep, polling)]
        prompt, hits = sum(row[0] for row in rows), sum(row[1] for row in rows)
        replies = total["output"] * per_output
        report["masking"].append(
            {
                "keep": keep,
                "polling": polling,
                "saved": total["prompt"] - prompt,
                "hit_share": hits / prompt,
                "uncached_usd": float(prompt * per_input + replies),
                "perfect_usd": float((prompt - hits) * per_input + hits * per_read + replies),
            }
        )
    print(json.dumps(report))


main()
