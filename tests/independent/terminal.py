"""Runs a program in a terminal of 100 columns and says what was drawn and what is left: terminal.py SECONDS FILE WORDS...
FILE is piped to it after so many seconds. Prints JSON: `drawn` (each line as it stood when the cursor left it or it was cleared), `left`, `code`."""
import fcntl, json, os, pty, re, struct, subprocess, sys, termios, threading, time

seconds, file, words = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
environment = {**{k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}, "TERM": "xterm", "CTXSIM_CONFIG": ""}
program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, env=environment)
os.close(theirs)


def feed():
    time.sleep(seconds)
    try:
        program.stdin.write(open(file, "rb").read())
        program.stdin.close()
    except BrokenPipeError:
        pass


threading.Thread(target=feed, daemon=True).start()
written = b""
while True:
    try:
        more = os.read(ours, 65536)
    except OSError:
        break
    if not more:
        break
    written += more

lines, row, column, drawn = [""], 0, 0, []
for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", written.decode("utf-8", "replace")):
    if token == "\r":
        column = 0
    elif token == "\n":
        row += 1
        lines += [""] * (row + 1 - len(lines))
    elif token.startswith("\x1b["):
        number = int(re.sub(r"\D", "", token) or 1)
        if token[-1] == "K":
            drawn.append(lines[row].rstrip())
            lines[row] = ""
        elif token[-1] == "A":
            row = max(0, row - number)
        elif token[-1] == "B":
            row += number
    else:
        lines[row] = lines[row][:column].ljust(column) + token + lines[row][column + len(token):]
        column += len(token)
print(json.dumps({"drawn": drawn, "left": [line.rstrip() for line in lines], "code": program.wait()}))
