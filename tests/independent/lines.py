"""What the scripts share: the objects of a file of JSON lines, and the line that they print of a file's calls."""
import gzip
import json


def records(path):
    """Each object of the lines, several on a line among them; what stands behind damage in a line is left out."""
    opened = gzip.open if path.endswith(".gz") else open
    decoder = json.JSONDecoder()
    with opened(path, "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            rest = line.strip()
            while rest:
                try:
                    value, end = decoder.raw_decode(rest)
                except ValueError:
                    break
                if isinstance(value, dict):
                    yield value
                rest = rest[end:].lstrip()


def report(path, calls):
    """Name, calls with usage, sums of prompts and of outputs, largest prompt; of pairs of both."""
    prompts = [prompt for prompt, _ in calls]
    print(path, len(calls), sum(prompts), sum(output for _, output in calls), max(prompts, default=0), sep="\t")
