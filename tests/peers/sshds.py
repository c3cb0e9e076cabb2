"""Real sshds on loopback for tests and benchmarks, and a layout of clients that they stand for.

Each has an address, a host key and a list of who may in of its own; nothing of the machine's own
configuration is read or written. Their users have /bin/sh and an empty home where a mount namespace
can be had: what a login shell reads there may take seconds. They end with the program.
"""

import ctypes
import os
import pwd
import signal
import socket
import subprocess
import time

SSHD = "/usr/sbin/sshd"
PR_SET_PDEATHSIG = 1
CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
libc = ctypes.CDLL(None, use_errno=True)


def why_not():
    """Why no sshd can run here; None."""
    if not os.access(SSHD, os.X_OK):
        return "sshd is not installed (openssh-server)"
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    return None


def free_port(address):
    with socket.socket() as s:
        s.bind((address, 0))
        return s.getsockname()[1]


def listens(address, port):
    try:
        socket.create_connection((address, port), 5).close()
        return True
    except OSError:
        return False


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path],
                   check=True)


class Sshds:
    """N of them: `c1` … `cN` at 127.1.x.y, all on one port."""

    def __init__(self, folder, n, same_key=False):
        self.folder = folder
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.names = [f"c{i}" for i in range(1, n + 1)]
        self.address = {name: f"127.{1 + os.getpid() % 250}.{i // 250}.{1 + i % 250}"
                        for i, name in enumerate(self.names)}
        self.processes = {}
        self.key = os.path.join(folder, "key")
        self.known_hosts = os.path.join(folder, "known_hosts")
        self.port = free_port(self.address["c1"])
        os.mkdir(os.path.join(folder, "home"))
        make_key(self.key)
        self.write_passwd()
        with open(self.known_hosts, "w") as known:
            for name in self.names:
                host_key = os.path.join(folder, "c1.key" if same_key else f"{name}.key")
                if not os.path.exists(host_key):
                    make_key(host_key)
                self.configure(name, host_key)
                public = open(host_key + ".pub").read()
                known.write(f"[{self.address[name]}]:{self.port} {public}")
        for name in self.names:
            self.start(name)
        for name in self.names:
            self.wait(name)

    def write_passwd(self):
        home = os.path.join(self.folder, "home")
        entry = f"{self.user}:x:{os.getuid()}:{os.getgid()}::{home}:/bin/sh\n"
        with open(os.path.join(self.folder, "passwd"), "w") as passwd:
            passwd.write(entry + open("/etc/passwd").read())

    def configure(self, name, host_key):
        with open(os.path.join(self.folder, name + ".conf"), "w") as config:
            config.write(f"ListenAddress {self.address[name]}\nPort {self.port}\n"
                         f"HostKey {host_key}\nAuthorizedKeysFile {self.key}.pub\nPidFile none\n"
                         "UsePAM no\nUseDNS no\nStrictModes no\nPermitRootLogin yes\n"
                         "MaxStartups 100:30:300\nPasswordAuthentication no\nLogLevel QUIET\n")

    def prepare(self):
        """In sshd's process before it is sshd."""
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        passwd = os.path.join(self.folder, "passwd").encode()
        if libc.unshare(CLONE_NEWNS) == 0 and libc.mount(None, b"/", None, MS_REC | MS_PRIVATE,
                                                         None) == 0:
            libc.mount(passwd, b"/etc/passwd", None, MS_BIND, None)

    def start(self, name):
        config = os.path.join(self.folder, name + ".conf")
        self.processes[name] = subprocess.Popen([SSHD, "-D", "-f", config],
                                                stdin=subprocess.DEVNULL, preexec_fn=self.prepare)

    def wait(self, name):
        end = time.monotonic() + 60
        while not listens(self.address[name], self.port):
            if self.processes[name].poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"sshd of {name} did not come up")
            time.sleep(0.02)

    def stop(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self):
        for name in list(self.processes):
            self.stop(name)

    def layout(self, settings="", rest=""):
        """One client a sshd, reached by it for everything."""
        nodes = "".join(f"      {name}: {{address: {self.address[name]}}}\n" for name in self.names)
        clients = "".join(
            f"  {name}: {{switch: sw1, speed: 1 Gbit/s, mac: 52:54:00:0a:{i // 250:02x}:"
            f"{i % 250:02x}, ip: 10.21.{i // 250}.{1 + i % 250}}}\n"
            for i, name in enumerate(self.names))
        return (f"lab: sshds\ndefaults: {{power: ssh, exec: ssh}}\nswitches: {{sw1: {{}}}}\n"
                f"clients:\n{clients}backends:\n  ssh:\n    user: \"{self.user}\"\n"
                f"    port: {self.port}\n    key: {self.key}\n    agent: false\n"
                f"    known-hosts: {self.known_hosts}\n{settings}    nodes:\n{nodes}{rest}")

    def write_layout(self, settings="", rest="", name="layout.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(self.layout(settings, rest))
        return path
