"""Independent count of sessions of Claude Managed Agents: file, calls with usage, sum of prompts, sum of outputs, largest prompt (TSV)."""
import sys

from lines import records, report

INPUTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
for path in sys.argv[1:]:
    ends = [record.get("raw", record) for record in records(path)]
    usages = [end["model_usage"] for end in ends if end["type"] == "span.model_request_end" and not end["is_error"]]
    report(path, [(sum(usage[name] for name in INPUTS), usage["output_tokens"]) for usage in usages])
