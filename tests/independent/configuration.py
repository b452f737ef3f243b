"""Reads pieces of agents' configuration back, each by the parser of its own language: what a key was set to.

A line of JSON in, {"syntax", "frame", "text"}; a line of JSON out, from keys with dots between them to numbers."""
import ast, json, re, shlex, sys, tomllib


def flat(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, prefix + key + ".")
        else:
            yield prefix + key, value


def constant(node):
    value = ast.literal_eval(node)
    return value[1] if isinstance(value, tuple) else value


def read(syntax, frame, text):
    code = [line for line in text.splitlines() if not line.lstrip().startswith(("//", "#"))]
    if syntax in ("json", "jsonc"):
        return dict(flat(json.loads("\n".join(code))))
    if syntax == "toml":
        return dict(flat(tomllib.loads(text)))
    if syntax == "environment":
        return dict(word.split("=", 1) for line in code for word in shlex.split(line)[1:])
    if syntax == "python_dictionary":
        call = ast.parse(text).body[0].value
        assert call.func.value.id == frame and call.func.attr == "update"
        return {key.value: constant(value) for key, value in zip(call.args[0].keys, call.args[0].values)}
    if syntax == "python_call":
        call = ast.parse(text).body[0].value
        assert call.func.id == frame
        return {keyword.arg: constant(keyword.value) for keyword in call.keywords}
    if syntax == "javascript":
        body = re.fullmatch(r"export default \{(.*)\};", "\n".join(code), re.S).group(1)
        return {key: json.loads(value) for key, value in re.findall(r"(\w+): ([^,]+),", body)}
    return dict(line.rsplit(" = ", 1) for line in code)


for line in sys.stdin:
    given = json.loads(line)
    found = read(given["syntax"], given["frame"], given["text"])
    print(json.dumps({key: float(value) for key, value in found.items()}))
