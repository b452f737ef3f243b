"""Counts the calls of Langfuse exports, straight from the raw JSON.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt.
A GENERATION around other ones repeats their figures and does not count. Where the total is the sum of all parts, the parts lie
beside each other; where it is input and output alone, within them.
"""

import json
import sys

from lines import report


def call(details):
    plain_in, plain_out = details.get("input", 0), details.get("output", 0)
    cached = [value for key, value in details.items() if key.startswith("input_") or key.startswith("prompt_details.cache")]
    beside = [value for key, value in details.items() if key.startswith("output_") or key.startswith("completion_details.r")]
    total = details.get("total", plain_in + plain_out)
    for extra_in in (0, sum(cached)):
        for extra_out in (0, sum(beside)):
            if total == plain_in + extra_in + plain_out + extra_out:
                return plain_in + extra_in, plain_out + extra_out
    return plain_in, plain_out


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as export:
            trace = json.load(export)
        observations = trace["observations"] if isinstance(trace, dict) else trace
        parents = {item["id"]: item.get("parentObservationId") for item in observations}
        generations = [item for item in observations if item["type"] == "GENERATION"]
        around = set()
        for item in generations:
            parent = item.get("parentObservationId")
            while parent and parent not in around:
                around.add(parent)
                parent = parents.get(parent)
        leaves = [item for item in generations if item["id"] not in around]
        calls = [call(item["usageDetails"]) for item in leaves if (item.get("usageDetails") or {}).get("input")]
        report(path, calls)


main()
