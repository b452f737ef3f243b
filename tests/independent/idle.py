"""Pauses between the calls of Claude Code sessions, and what remedies against a cold cache would have cost, straight from the raw lines.

Usage: idle.py CATALOG FILE...

CATALOG is the folder with the tables of prices, models and caches. Prints a tab-separated line `rest` with the prompt and the summary that a compaction leaves (what the
program takes them for is given in IDLE_REST as PROMPT,SUMMARY, for a summary's tokens are an estimate), and one for each lifetime, smallest context and remedy: lifetime in seconds,
tokens, remedy, pauses that ended with another call, those of them that outlasted the entry and whose next call paid for it again, sessions that were never resumed, thousand-millionths of a dollar over
the former and over the latter.
"""

import os
import sys

import cache

FLOORS = (0, 50_000, 100_000, 200_000)


def pauses(files, prices, rest):
    everything = [(side, calls) for path in files for side, calls in cache.conversations(path).items()]
    followed, owner = set(), {}
    for place, (_, calls) in sorted(enumerate(everything), key=lambda one: (-len(one[1][1]), one[0])):
        for call in calls:
            call.copy = owner.setdefault(call.key, place) != place
    for _, calls in everything:
        followed.update(before.key for before, call in zip(calls, calls[1:]) if not call.copy)
    for side, calls in everything:
        kept = None
        for place, call in enumerate(calls):
            rule = prices.cache(call.model)
            if call.written:
                kept = "long_lifetime" if call.long * 2 > call.written else "lifetime"
            if call.copy and call.key in owner and place + 1 < len(calls) and calls[place + 1].copy:
                continue
            after = calls[place + 1] if place + 1 < len(calls) else None
            if after is None and (side is not None or call.copy or call.key in followed):
                continue
            length = None
            if after is not None:
                if call.time is None or after.time is None:
                    continue
                length = max(0, after.time - call.time)
            tokens = call.expected_next()
            rates = prices.rates(call.model, call.time, tokens)
            if tokens and rates:
                # The call that ends the pause, over the whole context and behind a compaction.
                ends = [prices.rates(call.model, after.time, prompt) for prompt in (after.prompt, min(rest[0], tokens))] if after else None
                yield rule[kept or "lifetime"] * 1000, kept == "long_lifetime", length, tokens, lost_by(tokens, after), rates, ends, after


def lost_by(tokens, after):
    """What the call that ended the pause paid for again."""
    lacks = tokens - after.read if after else 0
    return min(tokens, after.prompt) - after.read if lacks > cache.NEAR and lacks * 100 > tokens * 2 and after.prompt > after.read else 0


def paid_again(lost, after, rates):
    """What it paid for that above the price of a read: written as far as it wrote anything, else new input."""
    long = min(lost, after.long)
    short = min(lost - long, after.written - after.long)
    paid = rates["cache_write_1h"] * long + rates["cache_write"] * short + rates["input"] * (lost - long - short)
    return max(0.0, paid - rates["cache_read"] * lost)


def spent(lifetime, long, length, tokens, lost, rates, ends, after, remedy, rest):
    interval = lifetime * 90 // 100
    write = "cache_write_1h" if long else "cache_write"
    read = rates["cache_read"] * tokens
    resumed, compacted = ends or (rates, rates)
    warm = resumed["cache_read"] * tokens
    cold = paid_again(lost, after, resumed) if after else 0.0
    if remedy == "nothing":
        return cold if length is not None and length > lifetime else 0.0
    if remedy == "compact":
        summarised = read + rates["output"] * rest[1]
        return summarised if length is None else max(0.0, summarised + compacted[write] * min(rest[0], tokens) - warm)
    if length is None:
        return remedy * read
    sent = min(remedy, (length - 1) // interval)
    return sent * read + (cold if length > sent * interval + lifetime else 0.0)


def main():
    prices = cache.Prices(sys.argv[1])
    rest = tuple(int(number) for number in os.environ["IDLE_REST"].split(","))
    most = int(os.environ.get("IDLE_PINGS", "19"))
    print("rest", *rest, sep="\t")
    remedies = ["nothing", *range(1, most + 1), "compact"]
    sums = {}
    for lifetime, long, length, tokens, lost, rates, ends, after in pauses(sys.argv[2:], prices, rest):
        if length is not None and length <= lifetime * 90 // 100:
            continue
        for floor in (floor for floor in FLOORS if tokens >= floor):
            row = sums.setdefault((lifetime, floor), {"resumed": 0, "cold": 0, "never": 0, "spent": {}})
            row["resumed"] += length is not None
            row["never"] += length is None
            row["cold"] += length is not None and length > lifetime and lost > 0
            for remedy in remedies:
                cost = row["spent"].setdefault(remedy, [0.0, 0.0])
                cost[length is None] += spent(lifetime, long, length, tokens, lost, rates, ends, after, remedy, rest)
    for (lifetime, floor), row in sorted(sums.items()):
        for remedy in remedies:
            name = remedy if isinstance(remedy, str) else f"pings {remedy}"
            figures = [round(cost) for cost in row["spent"][remedy]]
            print(lifetime // 1000, floor, name, row["resumed"], row["cold"], row["never"], *figures, sep="\t")


main()
