"""A machine of the lab: a tree of processes with namespaces of its own.

Its first process (`sleep`, process 1 in there) lives as long as the machine; when it is killed, the
kernel ends all others. The root file system is the console's, read-only, with the lab's folder
writable; OWN is its own and empty, users and hosts are the lab's.
"""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import time

from . import kernel, plan, state

PR_SET_PDEATHSIG = 1
OWN = ("/run", "/tmp", "/home", "/var/log", "/var/tmp", "/dev/shm")
ETC = ("passwd", "group", "shadow", "hosts", "hostname", "libvirt")


def folder(lab, node):
    return os.path.join(lab, "nodes", node)


def pid_file(lab, node):
    return os.path.join(folder(lab, node), "pid")


def running(lab, node):
    """Its first process as seen from the console, None when the machine is off."""
    return state.noted_pid(pid_file(lab, node))


def _mount_all(lab, node, more):
    """The view of the file system, MORE folders being its own and empty; the network namespace is
    entered already, /proc comes later."""
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    # Our copies of the names would keep other labs' namespaces alive after their `down`.
    with contextlib.suppress(OSError):  # until it is no mount any more
        while True:
            kernel.unmount(state.NETNS)
    kernel.unmount("/sys")
    kernel.mount("sysfs", "/sys", "sysfs", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.mount(lab, lab, None, kernel.MS_BIND)
    kept = os.open(lab, os.O_PATH | os.O_DIRECTORY)
    kernel.mount(None, "/", None, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY)
    for path in OWN + more:
        mode = "mode=1777" if path.endswith(("tmp", "shm")) else "mode=755"
        kernel.mount("tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, mode)
        if lab.startswith(path + "/"):
            os.makedirs(lab)
            kernel.mount(f"/proc/self/fd/{kept}", lab, None, kernel.MS_BIND)
    os.close(kept)
    for name in ETC:
        own = os.path.join(folder(lab, node), "etc", name)
        if os.path.exists(own) and os.path.exists(f"/etc/{name}"):
            kernel.mount(own, f"/etc/{name}", None, kernel.MS_BIND)


def _plug_disk(image, path):
    """IMAGE, mounted at PATH, as the machine's only disk: what it reads is counted by itself, whatever
    else this computer reads. When the machine's namespaces go, so does the loop device."""
    # Without what the kernel would write of its own accord.
    done = subprocess.run(["mount", "-o", "loop,noatime,noinit_itable", image, path],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise OSError(done.stderr.strip())
    number = os.stat(path).st_dev
    counter = os.open(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat", os.O_PATH)
    kernel.mount("tmpfs", "/sys/block", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755")
    os.makedirs("/sys/block/sda/device")
    os.close(os.open("/sys/block/sda/stat", os.O_WRONLY | os.O_CREAT, 0o444))
    kernel.mount(f"/proc/self/fd/{counter}", "/sys/block/sda/stat", None, kernel.MS_BIND)
    os.close(counter)


def _fill_run(user_id):
    for path in ("/run/sshd", "/run/lock", "/run/rpcbind", "/run/ganesha"):
        os.makedirs(path, mode=0o755)
    for path in ("/run/utmp", "/var/log/wtmp"):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))  # `who` works
    os.mkdir("/home/root", mode=0o700)
    os.mkdir("/home/lab", mode=0o755)
    os.chown("/home/lab", user_id, user_id)


def _own_devices():
    """Terminals of its own, and no key that reaches the machine below."""
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    if os.path.exists("/proc/sysrq-trigger"):
        kernel.mount("/dev/null", "/proc/sysrq-trigger", None, kernel.MS_BIND)
    kernel.mount("devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC,
                 "newinstance,ptmxmode=0666,mode=0620,gid=5")
    if not os.path.islink("/dev/ptmx"):
        kernel.mount("/dev/pts/ptmx", "/dev/ptmx", None, kernel.MS_BIND)


def _become(argv, log):
    """Makes this process ARGV, without anything of ours open."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, 256)
    os.chdir("/")
    os.umask(0o022)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/home/root",
                   "MIBS": "", "SNMP_PERSISTENT_DIR": "/run/snmp"}
    os.execve(argv[0], argv, environment)


def _greet(node):
    """A frame, so that the switches know who is where, as they would since DHCP."""
    if node.kind == "client":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as greeter:
            greeter.sendto(b"", (plan.SERVER_IP, 9))


def _await(socket_name):
    """Until it is listened on. If it never is, who wants to know finds that out by himself."""
    deadline = time.monotonic() + 30
    while socket_name not in listening("self") and time.monotonic() < deadline:
        time.sleep(0.01)


def _first_process(lab, node, services):
    """Process 1: starts the services, then only waits. Never returns."""
    os.setsid()
    _greet(node)
    _own_devices()
    # NFS clients name themselves by process numbers; on machines just started these are the same.
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
        file.write(str(100 * node.number + 1))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    for service in services:
        if isinstance(service, tuple):
            _await(service)
        elif os.fork() == 0:
            _become(service,
                    os.path.join(folder(lab, node.name), os.path.basename(service[0]) + ".log"))
    # Orphans of ended jobs come to us; ignored, they go at once.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _become(["/bin/sleep", "infinity"], "/dev/null")


def _enter(options, lab, node, services, user_id, own, disk, tell):
    """In the child: takes the namespaces and forks the first process, whose number goes to TELL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.setns(os.path.join(state.NETNS, plan.namespace(options, node.name)))
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC)
    socket.sethostname(node.name)
    _mount_all(lab, node.name, own)
    _fill_run(user_id)
    if disk:
        _plug_disk(*disk)
    kernel.unshare(kernel.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        _first_process(lab, node, services)
    os.write(tell, str(pid).encode())


def start(options, lab, node, services, user_id, own=(), disk=None):
    """Switches a machine on. SERVICES: argument lists, programs by their whole path, and between them
    what must be listened on before those behind it start, as ("tcp", 22); OWN: folders that are its
    own beside the usual ones; DISK: an image of a file system, and where it is mounted."""
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(mine)
            _enter(options, lab, node, services, user_id, own, disk, its)
            status = 0
        except OSError as error:
            os.write(its, f"!{error}".encode())
        finally:
            os._exit(status)
    os.close(its)
    with open(mine, "rb") as pipe:
        told = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    if not told.isdigit():
        raise plan.Wrong(f"{node.name} does not start: {told.lstrip('!') or 'killed'}")
    state.note_pid(pid_file(lab, node.name), int(told))


def stop(lab, node):
    """Pulls the plug; returns when all its processes are gone."""
    pid = running(lab, node)
    if pid is None:
        return False
    fd = os.pidfd_open(pid)
    try:
        if state.noted_pid(pid_file(lab, node)) == pid:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while state.started(pid) is not None and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        os.close(fd)
    os.unlink(pid_file(lab, node))
    return True


def listening(pid):
    """What a machine listens on: {("tcp", 22), …}, read without connecting."""
    found = set()
    for protocol, state_word in (("tcp", "0A"), ("udp", "07")):
        for suffix in ("", "6"):
            for line in state.read(f"/proc/{pid}/net/{protocol}{suffix}").splitlines()[1:]:
                words = line.split()
                if words[3] == state_word:
                    found.add((protocol, int(words[1].rpartition(":")[2], 16)))
    return found


def last_words(lab, node):
    """The last line of each log, for a person."""
    told = []
    for name in sorted(os.listdir(folder(lab, node))):
        lines = state.read(os.path.join(folder(lab, node), name)).split("\n") \
            if name.endswith(".log") else []
        told += [f"; {name}: {line.strip()[:200]}" for line in [one for one in lines if one][-1:]]
    return "".join(told)
