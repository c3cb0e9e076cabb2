"""What guests boot: Debian's kernel, an initramfs, and the root file system that is served to them.

Nothing is installed: packages are downloaded to a folder that all labs share and unpacked there. A
guest's system is busybox and dropbear; its root comes by NFS or NBD, read-only, with what it writes
in memory, or it stays in the initramfs.
"""

import fcntl
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys

from namespaces import plan as names, state

KERNEL = "linux-image-cloud-amd64"  # its dependency is the kernel
PACKAGES = ["busybox-static", "dropbear-bin", "libtomcrypt1", "libtommath1", "nbd-client",
            "lighttpd", "nfs-kernel-server"]
MODULES = ["virtio_pci", "virtio_net", "overlay", "nfs", "nfsv3", "nfsv4", "nbd", "squashfs",
           "bonding", "nfsd", "af_packet"]
PROGRAMS = {"sbin/dropbear": "usr/sbin/dropbear", "sbin/nbd-client": "**/sbin/nbd-client"}
SERVER_PROGRAMS = {"sbin/rpc.nfsd": "usr/sbin/rpc.nfsd", "sbin/rpc.mountd": "usr/sbin/rpc.mountd",
                   "sbin/exportfs": "usr/sbin/exportfs", "bin/ss": shutil.which("ss") or "/bin/ss"}
HERE = os.path.dirname(os.path.abspath(__file__))


# --- Debian's packages ---------------------------------------------------------------------------


def run(argv, **words):
    done = subprocess.run(argv, capture_output=True, check=False, **words)
    if done.returncode != 0:
        text = (done.stderr or done.stdout).decode(errors="replace").split("\n")
        raise names.Wrong(f"{' '.join(argv[:3])}: {' '.join(text)[:300].strip()}")
    return done.stdout.decode(errors="replace")


def _kernel_package():
    found = re.search(r"Depends: (linux-image-\S+)", run(["apt-cache", "depends", KERNEL]))
    if not found:
        raise names.Wrong(f"apt knows no {KERNEL}: `apt-get update` first")
    return found[1]


def unpacked():
    """The folder of the unpacked packages; they are fetched when it is not there."""
    folder = os.path.join(state.base(), ".packages")
    root = os.path.join(folder, "root")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if state.read(os.path.join(folder, "done")).split() != PACKAGES:
            shutil.rmtree(root, ignore_errors=True)
            debs = os.path.join(folder, "debs")
            shutil.rmtree(debs, ignore_errors=True)
            os.makedirs(debs)
            run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", _kernel_package(),
                 *PACKAGES], cwd=debs)
            for deb in sorted(glob.glob(os.path.join(debs, "*.deb"))):
                run(["dpkg", "-x", deb, root])
            shutil.rmtree(debs)
            state.write(os.path.join(folder, "done"), "\n".join(PACKAGES) + "\n")
    return root


def kernel(root):
    """Its file and its release."""
    found = sorted(glob.glob(os.path.join(root, "boot", "vmlinuz-*")))[-1]
    return found, os.path.basename(found).partition("-")[2]


# --- A guest's system ----------------------------------------------------------------------------


def _paths(root):
    return ":".join(os.path.join(root, folder) for folder in
                    ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))


def _libraries(root, program):
    """What PROGRAM is linked with: pairs of where it looks and where that is here."""
    environment = os.environ | {"LD_LIBRARY_PATH": _paths(root)}
    for line in run(["ldd", program], env=environment).splitlines():
        words = line.split()
        path = words[2] if "=>" in words else words[0]
        if path.startswith("/"):
            inside = path.removeprefix(root)
            yield inside.removeprefix("/usr"), path
        elif "=>" in words:
            raise names.Wrong(f"{os.path.basename(program)} needs {words[0]}, which is not here")


def _copy(source, target, mode=0o755):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, mode)


def _programs(root, target, programs):
    for inside, pattern in programs.items():
        program = glob.glob(os.path.join(root, pattern), recursive=True)[0]
        _copy(program, os.path.join(target, inside))
        for name, path in _libraries(root, program):
            _copy(path, target + name)


def _system(root, target, lab):
    """What a root file system and the initramfs have in common."""
    for folder in ("dev", "proc", "sys", "run", "tmp", "mnt", "etc/dropbear", "root/.ssh",
                   "home/lab/.ssh", "var/log", "usr/bin", "usr/sbin"):
        os.makedirs(os.path.join(target, folder))
    os.chmod(os.path.join(target, "tmp"), 0o1777)
    busybox = os.path.join(target, "bin", "busybox")
    _copy(os.path.join(root, "bin", "busybox"), busybox)
    os.makedirs(os.path.join(target, "sbin"), exist_ok=True)
    for word in run([busybox, "--list-full"]).split():
        path = os.path.join(target, word)
        if not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink("/bin/busybox", path)
    _programs(root, target, PROGRAMS)
    for name in ("passwd", "group", "shells", "inittab"):
        _copy(os.path.join(HERE, "guest", name), os.path.join(target, "etc", name), 0o644)
    for name in ("init", "network", "start"):
        _copy(os.path.join(HERE, "guest", name), os.path.join(target, "etc", name))
    key = os.path.join(target, "etc/dropbear/key")
    run([os.path.join(root, "usr/bin/dropbearconvert"), "openssh", "dropbear",
         os.path.join(lab, "host_key"), key], env=os.environ | {"LD_LIBRARY_PATH": _paths(root)})
    for home in ("root", "home/lab"):
        os.chmod(os.path.join(target, home), 0o755)
        _copy(os.path.join(lab, "id_ed25519.pub"),
              os.path.join(target, home, ".ssh", "authorized_keys"), 0o644)


def _modules(root, release, target):
    """MODULES and what they need, in the order of depmod."""
    whole = os.path.join(root, "lib", "modules", release)
    if not os.path.exists(os.path.join(whole, "modules.dep")):
        run(["depmod", "-b", root, release])
    needs = {}
    for line in state.read(os.path.join(whole, "modules.dep")).splitlines():
        path, _, others = line.partition(":")
        needs[os.path.basename(path).partition(".ko")[0]] = [path, *others.split()]
    wanted = set()
    for module in MODULES:
        wanted.update(needs.get(module, []))  # else it is in the kernel itself
    for path in sorted(wanted):
        _copy(os.path.join(whole, path), os.path.join(target, "lib/modules", release, path), 0o644)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        _copy(os.path.join(whole, name), os.path.join(target, "lib/modules", release, name), 0o644)
    run(["depmod", "-b", target, release])


def _pack(target, path):
    """An initramfs of the folder TARGET."""
    entries = b"\0".join(os.fsencode(os.path.relpath(os.path.join(at, name), target))
                         for at, folders, files in os.walk(target)
                         for name in sorted(folders) + sorted(files))
    done = subprocess.run(["cpio", "-o", "-0", "-H", "newc", "-R", "0:0", "--quiet"], cwd=target,
                          input=entries, stdout=subprocess.PIPE, check=True)
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(done.stdout)


def build(lab, options):
    """In the lab's folder: busybox, lighttpd with its modules, www/vmlinuz, www/initrd.img, www/server.img
    (what the server guest has beside that), srv/tree (the root file system, with files to read)
    and srv/tree.squashfs."""
    root = unpacked()
    file, release = kernel(root)
    _copy(file, os.path.join(lab, "www", "vmlinuz"), 0o644)
    for part in [os.path.join(root, "usr/sbin/lighttpd"), *glob.glob(f"{root}/usr/lib/lighttpd/*")]:
        _copy(part, os.path.join(lab, "lighttpd", os.path.basename(part)))
    _copy(os.path.join(root, "bin", "busybox"), os.path.join(lab, "busybox"))
    first = os.path.join(lab, "initramfs")
    _system(root, first, lab)
    _modules(root, release, first)
    os.symlink("etc/init", os.path.join(first, "init"))
    _pack(first, os.path.join(lab, "www", "initrd.img"))
    shutil.rmtree(first)
    if options.server:
        more = os.path.join(lab, "server")
        _programs(root, more, SERVER_PROGRAMS)
        for name in ("netconfig", "protocols", "rpc", "services"):
            if os.path.exists(os.path.join("/etc", name)):
                _copy(os.path.join("/etc", name), os.path.join(more, "etc", name), 0o644)
        _pack(more, os.path.join(lab, "www", "server.img"))
        shutil.rmtree(more)
    srv = os.path.join(lab, "srv")
    _system(root, os.path.join(srv, "tree"), lab)
    _modules(root, release, os.path.join(srv, "tree"))
    run([sys.executable, os.path.join(os.path.dirname(HERE), "namespaces", "tree.py"), srv])
