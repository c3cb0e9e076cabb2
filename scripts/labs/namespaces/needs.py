"""What a lab needs of the machine, said in one line when it is not there."""

import os
import shutil
import subprocess

from . import links, plan

# Program or file, and the Debian package that brings it; scripts/install-deps has them as `lab`.
NETWORK = {"ip": "iproute2", "tc": "iproute2"}
SERVICES = {
    "/usr/sbin/sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "/usr/bin/ganesha.nfsd": "nfs-ganesha",
    "/usr/lib/ganesha/libfsalvfs.so": "nfs-ganesha-vfs",
    "/usr/sbin/rpcbind": "rpcbind",
    "/usr/bin/nbd-server": "nbd-server",
    "mksquashfs": "squashfs-tools",
    "mke2fs": "e2fsprogs",
    "losetup": "mount",
    "/usr/bin/iperf3": "iperf3",
    "/usr/sbin/snmpd": "snmpd",
    "/usr/include/nfsc/libnfs.h": "libnfs-dev",
    "nfs-cat": "libnfs-utils",
    "nbdcopy": "libnbd-bin",
    "fio": "fio",
    "cc": "gcc",
}
PROBE = "pult-probe"


def _there(what):
    if os.path.exists(what) if what.startswith("/") else shutil.which(what):
        return True
    # Libraries stand in a folder for each architecture.
    return what.endswith(".so") and any(
        os.path.exists(os.path.join("/usr/lib", entry, "ganesha", os.path.basename(what)))
        for entry in os.listdir("/usr/lib"))


def missing(wanted):
    """The packages of what is not there."""
    return sorted({package for what, package in wanted.items() if not _there(what)})


def _features():
    """Each feature and the commands that need it, in a namespace that is thrown away."""
    program = "bytecode '1,6 0 0 1'"
    yield "veth", ["ip", "link add v0 type veth peer name v1", "link set v0 up"]
    yield "bridge", ["ip", "link add b0 type bridge", "link set v1 master b0"]
    yield "tbf", ["tc", links.shape("v0", 10**6)]
    yield "clsact", ["tc", "qdisc add dev v1 clsact"]
    filters, redirect = "filter add dev v1 ingress protocol all", "action mirred egress redirect"
    yield "u32 and mirred", ["tc", f"{filters} prio 2 u32 match u32 0 0 {redirect} dev v0"]
    yield "cls_bpf", ["tc", f"{filters} prio 1 bpf {program} {redirect} dev v0"]


def _disks():
    """What the kernel lacks for a disk in a file, None if nothing."""
    if subprocess.run(["losetup", "--find"], capture_output=True, check=False).returncode != 0:
        return "loop device"
    with open("/proc/filesystems", encoding="ascii") as file:
        return None if "\text4\n" in file.read() else "ext4"


def _kernel():
    """The first feature of networks this kernel lacks, None if it has all."""
    namespace = f"{PROBE}{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", namespace], capture_output=True, check=False)
    if made.returncode != 0:
        return "network namespaces"
    try:
        for feature, (tool, *lines) in _features():
            done = subprocess.run([tool, "-n", namespace, "-batch", "-"], text=True,
                                  input="\n".join(lines) + "\n", capture_output=True, check=False)
            if done.returncode != 0:
                return feature
        return None
    finally:
        subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)


def check(options):
    lacking = missing(NETWORK | ({} if options.bare else SERVICES))
    if lacking:
        raise plan.Wrong(f"missing packages: {' '.join(lacking)} (scripts/install-deps lab)")
    lacks = _kernel() or (None if options.bare else _disks())
    if lacks:
        raise plan.Wrong(f"this kernel has no {lacks}, or does not let us use it")
