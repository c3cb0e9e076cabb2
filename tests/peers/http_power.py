"""Machines whose power is switched over HTTP, for tests that import this: a Redfish service and an
Intel AMT (its SOAP interface), a server a machine on a port of 127.0.0.1.

They speak as DMTF's DSP0266 (Redfish Specification) and DSP0268 (ComputerSystem, its Reset action)
have it, and as Intel's AMT Network Interface Guide does. A machine counts what it has carried out,
and may have one FAULT:
  slow     answers late                     lost    does it, and breaks off without an answer
  mute     never answers                   deaf    says yes and does nothing
  refuse   says that it cannot             soft    shuts down a second after it was asked
  odd      reports a state that is neither on nor off (Redfish)
"""

import base64
import contextlib
import hashlib
import http.server
import json
import re
import ssl
import threading
import time

USER, NONCE, AMT_REALM = "admin", "a4f1", "Digest:B5E10000000000000000000000000000"


class Machine(threading.Thread):
    """One that answers until the process ends."""

    def __init__(self, speaks, password, fault=None, on=False, certificate=None):
        super().__init__(daemon=True)
        self.password, self.fault, self.on, self.did, self.ending = password, fault, on, [], None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), speaks)
        self.server.daemon_threads = True
        self.server.machine = self
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.start()

    def run(self):
        self.server.serve_forever(poll_interval=0.1)

    def is_on(self):
        if self.ending is not None and time.monotonic() >= self.ending:
            self.on, self.ending = False, None
        return self.on

    def carry_out(self, what):
        if self.fault == "deaf":
            return
        self.did.append(what)
        if what == "soft":
            self.ending = time.monotonic() + (1 if self.fault == "soft" else 0)
        elif what != "reset":
            self.on = what == "on"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status, text="", kind="application/json", **headers):
        machine = self.server.machine
        if machine.fault == "slow":
            time.sleep(0.3)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def handle(self):
        with contextlib.suppress(ConnectionError):  # whoever asked may have lost patience
            super().handle()

    def break_off(self):
        self.close_connection = True

    def hang(self):
        while self.rfile.read(1):
            pass
        self.break_off()


class Redfish(Handler):
    SYSTEM = "/redfish/v1/Systems/1"
    RESETS = {"On": "on", "ForceOff": "off", "GracefulShutdown": "soft", "ForceRestart": "reset"}

    def wrong(self, status, message, **headers):
        error = {"code": f"Base.1.18.{message}", "message": "See @Message.ExtendedInfo",
                 "@Message.ExtendedInfo": [{"MessageId": f"Base.1.18.{message}"}]}
        self.answer(status, json.dumps({"error": error}), **headers)

    def may(self):
        given = self.headers.get("Authorization", "").removeprefix("Basic ")
        wanted = base64.b64encode(f"{USER}:{self.server.machine.password}".encode()).decode()
        if given != wanted:
            self.wrong(401, "NoValidSession", WWW_Authenticate='Basic realm="Redfish"')
        return given == wanted

    def do_GET(self):
        machine = self.server.machine
        if machine.fault == "mute":
            self.hang()
        elif not self.may():
            pass
        elif self.path == self.SYSTEM:
            state = "Paused" if machine.fault == "odd" else "On" if machine.is_on() else "Off"
            if machine.ending is not None:
                state = "PoweringOff"
            self.answer(200, json.dumps({
                "@odata.id": self.SYSTEM, "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem",
                "Id": "1", "Name": "Seat", "PowerState": state, "Status": {"State": "Enabled"},
                "Actions": {"#ComputerSystem.Reset": {
                    "target": f"{self.SYSTEM}/Actions/ComputerSystem.Reset",
                    "ResetType@Redfish.AllowableValues": list(self.RESETS)}}}))
        else:
            self.wrong(404, "ResourceMissingAtURI")

    def do_POST(self):
        machine, body = self.server.machine, self.body()
        if not self.may():
            return
        kind = self.RESETS.get(json.loads(body).get("ResetType"))
        if self.path != f"{self.SYSTEM}/Actions/ComputerSystem.Reset" or kind is None or \
                not self.headers["Content-Type"].startswith("application/json"):
            self.wrong(400, "ActionParameterNotSupported")
        elif machine.fault == "refuse":
            self.wrong(409, "ResourceInUse")
        else:
            machine.carry_out(kind)
            if machine.fault == "lost":
                self.break_off()
            else:
                self.answer(204)


class Amt(Handler):
    """What `amttool` asks for: RFC 2617 digests without qop, and calls of four methods."""
    COMMANDS = {"16": "reset", "17": "on", "18": "off"}

    def may(self):
        given = dict(re.findall(r'(\w+)="?([^",]*)"?', self.headers.get("Authorization", "")))

        def digest(text):
            return hashlib.md5(text.encode()).hexdigest()

        first = digest(f"{USER}:{AMT_REALM}:{self.server.machine.password}")
        wanted = digest(f"{first}:{NONCE}:" + digest(f"POST:{self.path}"))
        if given.get("response") == wanted:
            return True
        self.answer(401, "", WWW_Authenticate=f'Digest realm="{AMT_REALM}", nonce="{NONCE}", '
                                              'stale="false"')
        return False

    def out(self, method, *values):
        inner = "".join(f"<{name}>{value}</{name}>" for name, value in (("Status", 0), *values))
        self.answer(200, '<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/'
                    f'soap/envelope/"><soap:Body><{method}Response>{inner}</{method}Response>'
                    "</soap:Body></soap:Envelope>", "text/xml")

    def do_POST(self):
        machine, body = self.server.machine, self.body().decode()
        if machine.fault == "mute":
            self.hang()
            return
        if not self.may():
            return
        method = re.search(r"Body><(?:\w+:)?(\w+)", body)[1]
        power = ("SystemPowerState", 0 if machine.is_on() else 5)
        answers = {"GetCoreVersion": [("Version", "5.0.2")], "GetHostName": [("Value", "seat")],
                   "GetDomainName": [("Value", "example")], "GetSystemPowerState": [power],
                   "GetRemoteControlCapabilities": [("Oem", 343), ("OemCapabilities", 0),
                                                    ("Special", 0), ("System", 15), ("Firmware", 0)]}
        if method in answers:
            self.out(method, *answers[method])
        elif machine.fault == "refuse":
            self.answer(200, '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">'
                        "<soap:Body><RemoteControlResponse><Status>16</Status>"
                        "</RemoteControlResponse></soap:Body></soap:Envelope>", "text/xml")
        else:
            machine.carry_out(self.COMMANDS[re.search(r"<Command[^>]*>(\d+)<", body)[1]])
            if machine.fault == "lost":
                self.break_off()
            else:
                self.out(method)
