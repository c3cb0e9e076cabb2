"""PiKVM beside one computer, or with its switch before several, for tests that import this.

It speaks as its Handbook's "HTTP API reference" and the switch's interface have it, over HTTPS with
a certificate of its own. A machine may have one FAULT, of the next request that changes something:
  busy     is not ready                     refuse  says that it cannot
  html     shows a page to log in           cut     breaks off in the middle of its answer
  flood    does not end                     drop    breaks off without an answer
  mute     never answers                    split   does it, and answers byte by byte
  late     does it, and answers later       garbled does it, and one letter of its answer is wrong
  merged   does it, and answers twice       page    does it, and answers with what nobody can read
"""

import base64
import hashlib
import json
import random
import re
import socketserver
import ssl
import threading
import time
import urllib.parse

from bmc_lab import run, same
from http_power import Handler, Machine


class Api(Handler):
    """Answers are `{"ok": true, "result": {...}}`, indented, as kvmd writes them."""

    def tell(self, status, result):
        self.answer(status, self.text(status == 200, result))

    @staticmethod
    def text(good, result):
        return json.dumps({"ok": good, "result": result}, indent=4, sort_keys=True)

    def fails(self, status, error):
        self.tell(status, {"error": error, "error_msg": error})

    def may(self):
        user, password = self.headers.get("X-KVMD-User"), self.headers.get("X-KVMD-Passwd")
        if user is None or password is None:
            self.fails(401, "UnauthorizedError")
        elif (user, password) != ("admin", self.server.machine.password):
            self.fails(403, "ForbiddenError")
        else:
            return True
        return False

    def spoilt(self):
        """Whether the one fault it has was this request's."""
        machine = self.server.machine
        fault = machine.fault
        if fault in self.DONE_FIRST:
            return False
        machine.fault = None
        if fault == "busy":
            self.fails(503, "ServiceUnavailable")
        elif fault == "html":
            self.answer(200, "<html>log in, please</html>", "text/html")
        elif fault == "refuse":
            self.fails(400, "ValidatorError")
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b'{"ok": true, ')
            self.break_off()
        elif fault == "flood":
            self.answer(200, "x" * 1000000)
        elif fault == "drop":
            self.break_off()
        elif fault == "mute":
            self.hang()
        else:
            return False
        return True

    def do_GET(self):
        machine = self.server.machine
        if not self.may():
            return
        if self.path == "/api/atx":
            self.tell(200, {"busy": False, "enabled": not machine.boardless,
                            "leds": {"hdd": False, "power": machine.is_on()}})
        elif self.path == "/api/switch":
            power = [machine.powered.get(i, False) for i in range(4)]
            self.tell(200, {"atx": {"busy": [False] * 4, "leds": {"hdd": [False] * 4, "power": power}},
                            "video": {"links": [True] * 4}, "summary": {"active_id": str(machine.active + 1), "active_port": machine.active,
                                        "synced": True}})
        else:
            self.fails(404, "NotFound")

    def do_POST(self):
        machine = self.server.machine
        self.body()
        machine.asked += 1
        path, _, query = self.path.partition("?")
        given = {key: values[-1] for key, values in urllib.parse.parse_qs(query).items()}
        if not self.may() or self.spoilt():
            return
        if path == "/api/hid/events/send_shortcut" and given.get("keys"):
            machine.press(given["keys"])
        elif path == "/api/switch/set_active" and re.fullmatch(r"\d+", given.get("port", "")):
            machine.active = int(given["port"])
        elif path == "/api/switch/atx/power" and given.get("action") in self.ACTIONS:
            machine.switch(int(given["port"]), self.ACTIONS[given["action"]])
        elif path == "/api/atx/power" and given.get("action") in self.ACTIONS:
            machine.carry_out(self.ACTIONS[given["action"]])
        else:
            self.fails(404, "NotFound")
            return
        self.tell_done()

    def tell_done(self):
        """That it was carried out, with the fault that this has."""
        machine = self.server.machine
        fault, machine.fault = machine.fault, None
        text = self.text(True, {})
        whole = f"HTTP/1.1 200 OK\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
        if fault == "late":
            time.sleep(0.5)
        if fault == "split":
            for i in range(len(whole)):
                self.wfile.write(whole[i:i + 1])
                time.sleep(0.002)
        elif fault == "merged":
            self.wfile.write(whole + b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
            self.break_off()
        elif fault == "garbled":
            self.answer(200, text.replace("true", "trve"))
        elif fault == "page":
            self.wfile.write(b"\x00\xff" * 200)
            self.break_off()
        else:
            self.answer(200, text)

    DONE_FIRST = ("split", "late", "merged", "garbled", "page")
    ACTIONS = {"on": "on", "off": "soft", "off_hard": "off", "reset_hard": "reset"}


def certificate(folder, name):
    """What a server shows, with its key, and the pin of that key."""
    made = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
               "-days", "2", "-subj", "/CN=pikvm", "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}")
    same(made.returncode, 0, made.stderr)
    text = ""
    for part in (f"{folder}/{name}.key", f"{folder}/{name}"):
        with open(part, encoding="ascii") as file:
            text += file.read()
    with open(f"{folder}/{name}.both", "w", encoding="ascii") as file:
        file.write(text)
    run("openssl", "pkey", "-in", f"{folder}/{name}.key", "-pubout", "-outform", "DER", "-out", f"{folder}/{name}.der")
    with open(f"{folder}/{name}.der", "rb") as file:
        digest = hashlib.sha256(file.read()).digest()
    return f"{folder}/{name}.both", "sha256//" + base64.b64encode(digest).decode()


class PiKvm(Machine):
    def __init__(self, password, both, fault=None, on=False, boardless=False):
        self.active, self.pressed, self.asked, self.boardless = 0, [], 0, boardless
        self.powered = {}  # of the switch's ports
        super().__init__(Api, password, fault, on, both)

    def press(self, keys):
        """KEYS at the port that is shown."""
        self.pressed.append((self.active, keys))

    def switch(self, port, what):
        """The power of the computer at PORT."""
        self.did.append((port, what))
        if what != "reset":
            self.powered[port] = what == "on"


class Babble(socketserver.ThreadingTCPServer):
    """At every address of 127.0.0.0/8, on one port: whatever is asked there, the answer is random
    bytes, or HTTP with something wrong in it, or now and then nothing wrong. `said` has for each
    address whether that was a success, in its order."""
    daemon_threads = allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, both):
        super().__init__(("0.0.0.0", 0), None)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(both)
        self.port, self.said = self.server_address[1], {}
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def finish_request(self, request, client_address):
        place = request.getsockname()[0]
        said = self.said.setdefault(place, [])
        draw = random.Random(f"{place} {len(said)}")
        with self.context.wrap_socket(request, server_side=True) as line:
            heard = b""
            while b"\r\n\r\n" not in heard:
                piece = line.recv(65536)
                if not piece:  # whoever asked has lost patience
                    return
                heard += piece
            whole, good = self.answer(draw)
            said.append(good)
            line.sendall(whole)

    @staticmethod
    def answer(draw):
        """Its bytes, and whether they say that it was done."""
        body = Api.text(True, {}).encode()
        kind = draw.randrange(10)
        if kind == 0:
            return draw.randbytes(draw.randrange(400)), False
        if kind == 1:
            body = draw.randbytes(draw.randrange(400))
        elif kind == 2:
            body = body[:draw.randrange(10)]
        elif kind == 3:
            body = body.replace(b"true", draw.choice([b"false", b"TRUE", b"1", b"\"true\"", b"trxe"]))
        status = draw.choice([100, 204, 302, 400, 403, 409, 500, 503, 999]) if kind == 4 else 200
        length = len(body) + (draw.randrange(1, 9) if kind == 5 else 0)
        head = f"HTTP/1.1 {status} OK\r\nContent-Length: {length}\r\n\r\n".encode()
        if kind == 6:
            at = draw.randrange(len(head))
            head = head[:at] + draw.randbytes(1) + head[at + 1:]
        elif kind == 7:
            head = head[:draw.randrange(len(head))]
        # With one wrong byte in its head, or a status that has no body, it may still be an answer.
        return head + body, kind in (6, 8, 9)
