"""A policy for ctxsim in Python: one file, no dependencies. docs/policy-program.md describes the protocol that it hides.

    from ctxsim_policy import run, mask

    def decide(view):
        old = view.items(kind="tool_result", state="whole")[:-5]
        return [mask(old, "[old output]")] if old else []

    run(decide)

`decide` gets a `View` and hands back a list of edits, or an `Answer`. It is called at every check point whose rule has `ask = true`.
What is printed goes to stderr: stdout belongs to the protocol.
"""

import json
import sys

PROTOCOL = "ctxsim.policy/1"


class Item:
    """A part of a message: id, kind, tool, tokens, state, error, superseded, chars, utf16, bytes, newlines, text, message."""

    __slots__ = ("id", "kind", "tool", "tokens", "state", "error", "superseded", "cut_by_agent", "chars", "utf16", "bytes", "newlines", "text", "message")

    def __init__(self, message, told):
        self.message = message
        self.text = None
        self.learn(told)

    def learn(self, told):
        get = told.get
        self.id, self.kind, self.tool = told["id"], told["kind"], get("tool")
        self.tokens, self.state = told["tokens"], told["state"]
        self.error, self.superseded, self.cut_by_agent = get("error", False), get("superseded", False), get("cut_by_agent", False)
        self.chars, self.utf16, self.bytes, self.newlines = get("chars"), get("utf16"), get("bytes"), get("newlines")
        self.text = get("text")


class Message:
    """A message: id, role, turn, call, tokens, usage, opens_turn, summary, unseen, own, items."""

    __slots__ = ("id", "role", "turn", "call", "tokens", "usage", "opens_turn", "summary", "unseen", "own", "items")

    def __init__(self, told):
        get = told.get
        self.id, self.role, self.turn, self.call = told["id"], told["role"], told["turn"], told["call"]
        self.tokens, self.usage = told["tokens"], get("usage")
        self.opens_turn, self.summary = get("opens_turn", False), get("summary", False)
        self.unseen, self.own = get("unseen", False), get("own", False)
        self.items = [Item(self, item) for item in told["items"]]


class View:
    """The context before a decision. `memory` is a dictionary of your own, empty at the start of each session."""

    def __init__(self, begin):
        self.session = begin
        self.params, self.window, self.reserve = begin["params"], begin["window"], begin["reserve"]
        self.memory = {}
        self.messages = []
        self.rule = self.at = self.arrives = self.sizes = self.attempt = None
        self.call = self.turn = 0

    def items(self, kind=None, state=None, tool=None):
        """The items in prompt order, those of a kind, in a state, of a tool."""
        return [
            item
            for message in self.messages
            for item in message.items
            if (kind is None or item.kind == kind) and (state is None or item.state == state) and (tool is None or item.tool == tool)
        ]

    def age(self, message):
        """So many calls have been made since the message came."""
        return self.call - message.call

    def learn(self, question):
        get = question.get
        self.rule, self.at, self.call, self.turn = question["rule"], question["at"], question["call"], question["turn"]
        self.sizes, self.attempt = get("sizes"), get("attempt")
        arrives = get("arrives")
        self.arrives = Message(arrives) if arrives else None
        gone = get("gone")
        if gone:
            gone = set(gone)
            self.messages = [message for message in self.messages if message.id not in gone]
        for put in get("put", ()):
            self.messages.insert(put["place"], Message(put))
        changed = get("changed")
        if changed:
            known = {message.id: message for message in self.messages}
            for news in changed:
                message = known[news["id"]]
                message.tokens, message.usage = news["tokens"], news.get("usage")
                without = set(news.get("without", ()))
                if without:
                    message.items = [item for item in message.items if item.id not in without]
                items = {item.id: item for item in message.items}
                for item in news.get("items", ()):
                    items[item["id"]].learn(item)


def ids(things):
    """The ids of items or messages; a single one will do."""
    things = things if isinstance(things, (list, tuple)) else [things]
    return [thing if isinstance(thing, int) else thing.id for thing in things]


def mask(items, text, preview=None):
    """Items are replaced by a short text. `preview` leaves something of both ends: {"head": 10, "tail": 10, "unit": "lines"}."""
    return {"mask": {"text": text, **({"preview": preview} if preview else {})}, "items": ids(items)}


def truncate(items, **limits):
    """Items are cut, in the words of a policy document: truncate(item, max=30000, unit="chars", head=1.0, marker="...")."""
    return {"truncate": limits, "items": ids(items)}


def drop(messages, **words):
    """Messages are removed: drop(messages, marker="[{dropped} messages left out]")."""
    return {"drop": words, "messages": ids(messages)}


def drop_items(items):
    """Items are removed from their messages: reasoning, pictures."""
    return {"drop": {}, "items": ids(items)}


def summarise(messages, text=None, **words):
    """Messages are replaced by a summary: of `tokens`, or with its text. Further words as in a policy document: input, prompt_tokens, place, role."""
    edit = {"summarise": words, "messages": ids(messages)}
    return {**edit, "text": text} if text is not None else edit


def inject(what, tokens=0, text=None, **words):
    """A text is put in, of so many tokens or as it stands."""
    edit = {"inject": {"what": what, "tokens": tokens, **words}}
    return {**edit, "text": text} if text is not None else edit


class Answer:
    """Edits, and what was looked at: `when` in the words of a rule's trigger, as in {"level": {"of": "usage_total", "gt": 100000}}.

    `fired=True` without edits says that there was something to do and nothing came of it."""

    def __init__(self, edits=(), when=None, fired=None):
        self.edits, self.when, self.fired = list(edits), when, fired


def run(decide):
    """Answers ctxsim's questions until it has no more."""
    # Written straight, so that a print of yours does not end up among the answers.
    to, sys.stdout = sys.stdout, sys.stderr
    dumps = json.JSONEncoder(separators=(",", ":")).encode
    view = None
    for line in sys.stdin.buffer:
        question = json.loads(line)
        if "begin" in question:
            if question["begin"] != PROTOCOL:
                raise SystemExit(f"this library speaks {PROTOCOL}, not {question['begin']}")
            view = View(question)
            answer = {"n": 0, "ready": PROTOCOL}
        else:
            view.learn(question)
            decided = decide(view)
            if not isinstance(decided, Answer):
                decided = Answer(decided or ())
            answer = {"n": question["n"], "edits": decided.edits}
            if decided.when is not None:
                answer["when"] = decided.when
            if decided.fired is not None:
                answer["fired"] = decided.fired
        to.write(dumps(answer))
        to.write("\n")
        to.flush()
