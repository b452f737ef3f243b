"""A policy that no document can say: results fade. What a tool's output may keep halves every so many calls, down to a floor.

Sizes that hang on age are no word of the policy language. Cuts are made in bunches, since each of them breaks the prompt's prefix in the cache.
Where the provider refuses a call, the older half of the conversation goes. fading.toml is its document."""

from ctxsim_policy import drop, run, truncate


def fade(view):
    params, whole = view.params, view.memory
    edits, saved = [], 0
    for item in view.items(kind="tool_result"):
        size = whole.setdefault(item.id, item.tokens)
        allowed = max(params["floor"], size * 0.5 ** (view.age(item.message) / params["half_life"]))
        # A text that was cut is cut again when half of it has to go.
        if item.state != "masked" and item.tokens > 2 * allowed:
            saved += item.tokens - allowed
            edits.append(truncate(item, max=int(allowed) * 4, unit="chars", head=0.5, marker="\n[{removed_bytes} bytes have faded]\n"))
    return edits if saved >= params["worth"] else []


def give_way(view):
    history = [message for message in view.messages if message.role != "system"]
    middle = len(history) // 2
    # No result outlives its call.
    while middle < len(history) and history[middle].role == "tool":
        middle += 1
    return [drop(history[:middle], marker="[{dropped} older messages left out]")] if middle else []


run(lambda view: give_way(view) if view.at == "overflow" else fade(view))
