"""What the preset `swe-agent@1.0` does, as a program: for each request, tool outputs but for the newest become a line.

Source: SWE-agent, sweagent/agent/history_processors.py, LastNObservations. swe_agent.toml is its document."""

from ctxsim_policy import Answer, mask, run

LINE = "Old environment output: (100 lines omitted)"


def decide(view):
    n, polling = int(view.params["n"]), int(view.params["polling"])
    # What was shown masked for one request alone comes back, and is masked again for the next one.
    results = view.items(kind="tool_result")
    outputs = [item for item in results if item.state != "masked"]
    old = outputs[: max(len(outputs) - n, 0)]
    # So many are masked that what stays of the history is a multiple of `polling`, the task counted.
    bunch = (len(old) + n + 1) // polling * polling - (n + 1)
    old = old[: max(bunch, 0)]
    when = {"count": {"of": "tool_results", "gt": n}}
    return Answer([mask(old, LINE)] if len(outputs) > n and old else [], when=when)


run(decide)
