"""Video switches for tests that import this, each on a port of 127.0.0.1 and, through socat, on a
pseudo-terminal.

They are written from their makers' documents alone: Extron's SIS (CrossPoint 300, Programmer's
Guide), Kramer's Protocol 3000 (VP-8x8AK), NTI's KEEMUX (MAN077, where CS connects, RO reads and a
command is echoed first), Black Box' ServSwitch CX (a byte, echoed) and Lightware's LW3 (UCX series,
User's Manual, Programmers' Reference). A device counts what it has
carried out and may have FAULTS:
  split     sends a reply byte by byte       late      answers after half a second
  merged    sends all it has to say at once, what nobody asked for included
  garbled   sends one letter wrong           echo      echoes, or does not, against its habit
  silent    does it, and says nothing        news      tells of things that nobody asked about
  error     refuses                          busy      says yes, and an error behind it
  drop      does it, and hangs up            other     tells of another input than was asked for
  slow      takes its time for the login     half      stops in the middle of a reply
  mute      does not tell what is shown
All but `slow` and `mute` are of what connects. Each comes once, so that what follows it can be seen.
"""

import contextlib
import re
import socket
import subprocess
import threading
import time

FAULTS = ("split", "late", "merged", "garbled", "echo", "silent", "news", "error", "busy", "drop", "other",
          "slow", "half", "mute")
PASSWORD = "Tr0ub4dor"
BAUD_9600 = 10 / 9600  # seconds a byte, start and stop bits included


class Switch(threading.Thread):
    """One that answers until the process ends. PACE is seconds a byte, in either direction."""
    hello = news_before = news_after = b""

    def __init__(self, faults=(), password=None, pace=0):
        super().__init__(daemon=True)
        self.faults, self.password, self.pace = set(faults), password, pace
        self.shown, self.did, self.clients, self.lock = {}, [], [], threading.RLock()
        self.line = None
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            client, _ = self.socket.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serial(self, path):
        """A pseudo-terminal at PATH, whose other end this is."""
        self.line = subprocess.Popen(["socat", f"PTY,link={path},rawer", f"TCP:127.0.0.1:{self.port}"],
                                     stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return path

    def close(self):
        if self.line is not None:
            self.line.kill()
            self.line.wait()

    def serve(self, client):
        with contextlib.suppress(OSError), client:
            self.say(client, self.hello)
            if self.password is None or self.log_in(client):
                with self.lock:
                    self.clients.append(client)
                self.hear(client)
        with self.lock:
            self.clients = [other for other in self.clients if other is not client]

    def read(self, client):
        """The next byte, as fast as the line brings it; OSError at its end."""
        byte = client.recv(1)
        if not byte:
            raise OSError("it is gone")
        time.sleep(self.pace)
        return byte

    def read_line(self, client, end=b"\r"):
        line = b""
        while not line.endswith(end):
            line += self.read(client)
        return line[:-len(end)].decode("latin-1")

    def say(self, client, text):
        for i in range(len(text)) if self.pace else []:
            client.sendall(text[i:i + 1])
            time.sleep(self.pace)
        if not self.pace:
            client.sendall(text)

    def log_in(self, client):
        return True

    # ---- Faults ------------------------------------------------------------------------------

    def has(self, fault):
        """Whether it has it now."""
        with self.lock:
            found = fault in self.faults
            self.faults.discard(fault)
            return found

    def reply(self, client, text, echo=b"", wrong=b""):
        """TEXT to what was asked, with the faults. WRONG says it of something else."""
        if self.has("drop"):
            # With a reset, so that socat ends too.
            client.shutdown(socket.SHUT_RDWR)
            raise OSError("it hung up")
        if self.has("silent"):
            return
        whole = echo + (wrong if self.has("other") else text) + (self.busy if self.has("busy") else b"")
        if self.has("garbled"):
            whole = whole[:-4] + bytes([whole[-4] ^ 1]) + whole[-3:] if len(whole) > 4 else \
                bytes([whole[0] ^ 1]) + whole[1:]
        if self.has("news"):
            self.say(client, self.news_before)
        if self.has("late"):
            time.sleep(0.5)
        if self.has("half"):
            self.say(client, whole[:len(whole) // 2])
        elif self.has("merged"):
            self.say(client, self.news_before + whole + self.news_after)
        elif self.has("split"):
            for i in range(len(whole)):
                self.say(client, whole[i:i + 1])
                time.sleep(0.002)
        else:
            self.say(client, whole)

    def tell(self, client, text):
        """The answer to a question."""
        if not self.has("mute"):
            self.say(client, text)

    def tie(self, output, source):
        with self.lock:
            self.shown[output] = source
            self.did.append((output, source))

    def tell_others(self, client, text):
        with self.lock:
            for other in self.clients:
                if other is not client:
                    with contextlib.suppress(OSError):
                        self.say(other, text)


class Extron(Switch):
    """No end of a command: `3*1!` ties an input to an output, `1&` asks, `Q` asks for the version."""
    hello = b"\r\n(c) Copyright 2009, Extron Electronics, CrossPoint 300, V1.23, 60-333-01\r\n"
    news_before = b"Out05 In02 All\r\nQik\r\n"
    news_after = b"In04 All\r\n"
    busy = b"E22\r\n"
    begun = r"\d+(\*\d*)?"

    def log_in(self, client):
        time.sleep(3 if self.has("slow") else 0)
        while True:
            self.say(client, b"\r\nPassword:")
            if self.read_line(client) == self.password:
                self.say(client, b"\r\nLogin Administrator\r\n")
                return True

    def hear(self, client):
        text = ""
        while True:
            byte = self.read(client)
            if byte == b"\xff":  # Telnet's
                self.read(client)
                self.read(client)
                continue
            text += byte.decode("latin-1")
            tied, asked = re.fullmatch(r"(\d+)\*(\d+)!", text), re.fullmatch(r"(\d+)&", text)
            if tied:
                self.connect(client, text, int(tied[1]), int(tied[2]))
            elif asked:
                self.tell(client, b"%02d\r\n" % self.shown.get(int(asked[1]), 0))
            elif text == "Q":
                self.say(client, b"1.23\r\n")
            elif self.press(client, text):
                pass
            elif not re.fullmatch(self.begun, text):
                self.say(client, b"E10\r\n")
            else:
                continue
            text = ""

    def press(self, client, text):
        """Whether TEXT was a key."""

    def connect(self, client, text, source, output):
        if self.has("error") or source > 24:
            self.say(client, b"E01\r\n")
        elif output > 24:
            self.say(client, b"E12\r\n")
        else:
            self.tie(output, source)
            said = b"Out%02d In%02d All\r\n" % (output, source)
            self.tell_others(client, said)
            self.reply(client, said, echo=text.encode() if self.has("echo") else b"",
                       wrong=b"Out%02d In07 All\r\n" % output)


MATRIX_WITH_KEYS = r"""device: matrix-with-keys
about: a matrix whose serial line has the keyboard too
source: tests/peers/switch_devices.py
serial: {speed: 9600}
replies: {end: '\r\n'}
parameters:
  in: 1 to 64
  out: {is: 1 to 64, default: 1}
  key: {words: {F12: F12, Down: DN, Enter: CR}}
errors: {E01: there is no such input}
scripts:
  connect:
    steps: [{send: '{in}*{out}!', expect: 'Out(?<out>\d+) In(?<in>\d+) All'}]
  query:
    steps: [{send: '{out}&', expect: '(?<in>\d+)'}]
  keys:
    steps: [{send: 'K{key}\r', expect: 'Key (?<key>\w+)'}]
"""


class ExtronWithKeys(Extron):
    """One that is none of its maker's: `KDN CR` presses Down at what output 1 shows."""
    hello, begun = b"", rf"{Extron.begun}|K\w*"

    def __init__(self, *arguments, **options):
        self.pressed = []
        super().__init__(*arguments, **options)

    def press(self, client, text):
        key = re.fullmatch(r"K(\w+)\r", text)
        if key:
            self.pressed_at(self.shown[1], key[1])
            self.say(client, b"Key " + key[1].encode() + b"\r\n")
        return key

    def pressed_at(self, source, key):
        self.pressed.append((source, key))


class Kramer(Switch):
    """`#…CR`, `~nn@…CRLF`, its number 01. An empty command asks whether it is there."""
    hello = b"Kramer Electronics LTD. , Device Model = VP-8x8AK\r\n"
    news_before = b"~01@VID 2>5\r\n"
    news_after = b"~01@AUD 2>5\r\n"
    busy = b"~01@ERR 003\r\n"

    def hear(self, client):
        may = self.password is None
        while True:
            text = self.read_line(client)
            tied, asked = re.fullmatch(r"#VID (\d+)>(\d+)", text), re.fullmatch(r"#VID\? (\d+)", text)
            login = re.fullmatch(r"#LOGIN Admin,(.*)", text)
            if login:
                time.sleep(1.5 if self.has("slow") else 0)
                may = login[1] == self.password
                self.say(client, b"~01@LOGIN Admin," + login[1].encode() + b" OK\r\n" if may else
                         b"~01@LOGIN ERR004\r\n")
            elif not may:
                self.say(client, b"~01@ERR004\r\n")
            elif tied:
                self.connect(client, text, int(tied[1]), int(tied[2]))
            elif asked:
                output = int(asked[1])
                self.tell(client, b"~01@VID %d>%d\r\n" % (self.shown.get(output, 0), output))
            else:
                self.say(client, b"~01@ OK\r\n" if text == "#" else b"~01@ERR001\r\n")

    def connect(self, client, text, source, output):
        if self.has("error") or source > 8 * 4 or output > 8 * 4:
            self.say(client, b"~01@VID ERR003\r\n")
            return
        self.tie(output, source)
        said = b"~01@VID %d>%d" % (source, output)
        self.tell_others(client, said + b"\r\n")
        self.reply(client, said + b" OK\r\n",
                   echo=text.encode() + b"\r\n" if self.has("echo") else b"",
                   wrong=b"~01@VID 7>%d OK\r\n" % output)


class Keemux(Switch):
    """`CS 01,05,02 CR` echoes itself, then says `*`, or `?` where it did not understand. A command
    for another unit is nobody's. A command whose characters stand 500 ms apart is none."""
    news_before = news_after = b"NTI KEEMUX-P8 VER 2.3\r"
    busy = b"?\r"

    def hear(self, client):
        while True:
            text = self.read_command(client)
            tied = re.fullmatch(r"CS 01,(\d\d),(\d\d)", text)
            asked = re.fullmatch(r"RO 01,(\d\d)", text)
            if re.fullmatch(r"\w\w (?!01)\d\d,.*", text):
                continue
            echo = b"" if tied and self.has("echo") else text.encode("latin-1") + b"\r"
            if not (tied or asked) or (tied and self.has("error")):
                self.say(client, echo + b"?\r")
            elif asked:
                self.tell(client, text.encode("latin-1") + b"\r*\r%02d\r" % self.shown.get(int(asked[1]), 0))
            else:
                self.tie(int(tied[2]), int(tied[1]))
                self.reply(client, b"*\r", echo, wrong=b"!\r")

    def read_command(self, client):
        text = b""
        while True:
            client.settimeout(0.5 if text else None)
            try:
                byte = self.read(client)
            except TimeoutError:
                text = b""
                continue
            if byte == b"\r":
                return text.decode("latin-1")
            text += byte


class BlackBox(Switch):
    """A byte: the user's half, less one, and the computer's half. What is valid comes back."""
    news_before = b"B"

    def hear(self, client):
        while True:
            byte = self.read(client)
            user, computer = byte[0] >> 4, (byte[0] & 15) + 1
            if user <= 5 and not self.has("error"):
                self.tie(user, computer)
                self.reply(client, b"" if self.has("echo") else byte, wrong=bytes([byte[0] ^ 4]))


class Lightware(Switch):
    """A tree of nodes: `CALL` a method, `GET` a property, `OPEN` a node, of whose changes one is
    told from then on. `mO` says a method was carried out, not what it did. Commands end in CRLF."""
    crosspoint = "/V1/MEDIA/VIDEO/XP"
    news_before = b"CHG /V1/MEDIA/VIDEO/XP/O2.ConnectedSource=I4\r\n"
    news_after = b"CHG /V1/MEDIA/VIDEO/XP/O2.Mute=false\r\n"
    busy = b"mF /V1/MEDIA/VIDEO/XP:switch\r\n"

    def hear(self, client):
        while True:
            text = self.read_line(client, b"\r\n")
            tied = re.fullmatch(rf"CALL {self.crosspoint}:switch\(I(\d+):O(\d+)\)", text)
            asked = re.fullmatch(rf"GET {self.crosspoint}/O(\d+)\.ConnectedSource", text)
            opened = re.fullmatch(rf"OPEN ({self.crosspoint}/\*)", text)
            if tied:
                self.connect(client, int(tied[1]), int(tied[2]))
            elif asked:
                output = int(asked[1])
                source = self.shown.get(output, 0)
                self.tell(client, f"pw {self.crosspoint}/O{output}.ConnectedSource="
                                  f"{f'I{source}' if source else '0'}\r\n".encode())
            elif opened:
                self.say(client, f"o- {opened[1]}\r\n".encode())
            elif text == "GET /.ProductName":
                self.say(client, b"pr /.ProductName=UCX-4x2-HC30\r\n")
            elif text.startswith(("GET ", "CALL ", "OPEN ")):
                self.say(client, b"nE " + text.partition(" ")[2].encode() + b" %E002:Not exists\r\n")
            else:
                self.say(client, b"-E " + text.encode() + b" %E001:Syntax error\r\n")

    def connect(self, client, source, output):
        if self.has("error") or source > 5 or output > 2:
            self.say(client, f"mE {self.crosspoint}:switch %E004:Invalid value\r\n".encode())
            return
        self.tie(output, source)
        if self.has("other"):
            self.shown[output] = 7
        self.tell_others(client, f"CHG {self.crosspoint}/O{output}.ConnectedSource=I{source}\r\n".encode())
        self.reply(client, f"mO {self.crosspoint}:switch=\r\n".encode())
