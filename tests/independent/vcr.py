"""Counts the calls of VCR cassettes by PyYAML, which reads YAML in another way than the program does.

Prints one tab-separated line for each file: name, calls with usage, sum of prompt tokens, sum of output tokens, largest prompt;
nothing but `skipped` where PyYAML is not installed.
"""

import json
import struct
import sys

from api_exchange import calls_of
from lines import report


def body(response):
    found = response.get("parsed_body")
    if found is None:
        held = response.get("body") or {}
        found = held.get("string") if isinstance(held, dict) else held
    if isinstance(found, (str, bytes)):
        try:
            return json.loads(found)
        except ValueError:
            return frames(found) if isinstance(found, bytes) else None
    return found


def frames(stream):
    """The usage at the end of Amazon's binary streams: lengths of the frame and of its headers, a checksum, headers, JSON, a checksum."""
    at, found = 0, None
    while at + 16 <= len(stream):
        size, headers = struct.unpack(">II", stream[at : at + 8])
        if size < 16:
            break
        try:
            event = json.loads(stream[at + 12 + headers : at + size - 4])
        except ValueError:
            break
        found = event if "usage" in event else found
        at += size
    return found


def main():
    try:
        import yaml
    except ImportError:
        print("skipped")
        return
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as cassette:
            recorded = yaml.load(cassette, Loader=loader)
        calls = []
        for interaction in recorded["interactions"]:
            calls += calls_of(body(interaction.get("response") or {}))
        report(path, calls)


main()
