"""PiKVM beside one computer, or with its switch before several, for tests that import this.

It speaks as its Handbook's "HTTP API reference" and the switch's interface have it, over HTTPS with
a certificate of its own. A machine may have one FAULT, of the next request that changes something:
  busy     is not ready                     refuse  says that it cannot
  html     shows a page to log in           cut     breaks off in the middle of its answer
  flood    does not end                     drop    breaks off without an answer
  mute     never answers
"""

import base64
import hashlib
import json
import re
import urllib.parse

from bmc_lab import run, same
from http_power import Handler, Machine


class Api(Handler):
    """Answers are `{"ok": true, "result": {...}}`, indented, as kvmd writes them."""

    def tell(self, status, result):
        self.answer(status, json.dumps({"ok": status == 200, "result": result}, indent=4, sort_keys=True))

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
        fault, machine.fault = machine.fault, None
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
            self.tell(200, {"summary": {"active_id": str(machine.active + 1), "active_port": machine.active,
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
        self.tell(200, {})

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
        super().__init__(Api, password, fault, on, both)

    def press(self, keys):
        """KEYS at the port that is shown."""
        self.pressed.append((self.active, keys))

    def switch(self, port, what):
        """The power of the computer at PORT."""
        self.did.append((port, what))
