"""What runs on the lab's machines: their files, and the commands that start it."""

import os
import random
import shutil
import subprocess

from . import links, plan, seat, state

USER_ID = 10000
COMMUNITY = "lab"
SNMP_USER = "lab"
SNMP_SECRETS = ("snmp-auth", "snmp-privacy")
NBD_PORT, NFS_PORT, MOUNT_PORT, RPC_PORT = 10809, 2049, 20048, 111
DISK = "disk.img"  # the server's, mounted at srv

SSHD = """\
Port 22
AddressFamily inet
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {lab}/id_ed25519.pub
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 100:30:200
SetEnv PATH={lab}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin IPERF3_PORT={iperf_port}
Subsystem sftp internal-sftp
"""

GANESHA = """\
NFS_CORE_PARAM {{
  Protocols = 3, 4; NFS_Port = {nfs}; MNT_Port = {mount}; Bind_addr = {ip};
  Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true;
}}
NFSV4 {{ Graceless = true; Only_Numeric_Owners = true; RecoveryRoot = "{folder}/recovery"; }}
EXPORT {{
  Export_Id = 1; Path = "{lab}/srv/tree"; Pseudo = /tree; Access_Type = RO;
  Squash = No_root_squash; SecType = sys; Protocols = 3, 4; Transports = TCP;
  FSAL {{ Name = VFS; }}
}}
EXPORT {{
  Export_Id = 2; Path = "{lab}/srv/scratch"; Pseudo = /scratch; Access_Type = RW;
  Squash = No_root_squash; SecType = sys; Protocols = 3, 4; Transports = TCP;
  FSAL {{ Name = VFS; }}
}}
"""

NBD = """\
[generic]
  listenaddr = {ip}
  port = {port}
[tree]
  exportname = {lab}/srv/tree.squashfs
  readonly = true
[disk]
  exportname = {lab}/srv/disk.img
"""

SNMPD = """\
agentaddress udp:{manage}:161
rocommunity {community}
createUser {user} SHA "{auth}" AES "{privacy}"
rouser {user} authpriv
sysName {name}
sysLocation a lab of namespaces
dontLogTCPWrappersConnects yes
pass_persist .1.3.6.1.2.1.17 /usr/bin/python3 {lab}/bin/bridge-mib br0
"""


def _users(node):
    """Debian's own users, without anybody's start-up files; root and lab with homes of the lab."""
    passwd, group = [], []
    for line in state.read("/etc/passwd").splitlines():
        words = line.split(":")
        if len(words) == 7 and words[0] != "root" and int(words[2]) < 1000:
            words[1] = "*"
            passwd.append(":".join(words))
    passwd.insert(0, "root:*:0:0:root:/home/root:/bin/sh")
    passwd.append(f"lab:*:{USER_ID}:{USER_ID}:{node}:/home/lab:/bin/sh")
    for line in state.read("/etc/group").splitlines():
        words = line.split(":")
        if len(words) == 4 and int(words[2]) < 1000:
            group.append(":".join(words[:3] + [""]))
    group.append(f"lab:x:{USER_ID}:")
    shadow = [line.split(":")[0] + ":*:19000:0:99999:7:::" for line in passwd]
    return "\n".join(passwd) + "\n", "\n".join(group) + "\n", "\n".join(shadow) + "\n"


def _hosts(nodes, network):
    lines = ["127.0.0.1 localhost"]
    for node in nodes:
        lines.append(f"{node.ip or network + '.' + node.manage} {node.name}")
    return "\n".join(lines) + "\n"


def _etc(lab, nodes, network, node):
    folder = os.path.join(seat.folder(lab, node.name), "etc")
    os.makedirs(folder)
    passwd, group, shadow = _users(node.name)
    for name, text in (("passwd", passwd), ("group", group), ("shadow", shadow),
                       ("hosts", _hosts(nodes, network)), ("hostname", node.name + "\n")):
        state.write(os.path.join(folder, name), text, 0o600 if name == "shadow" else 0o644)


def write_files(options, lab, nodes, network):
    for node in nodes:
        folder = seat.folder(lab, node.name)
        _etc(lab, nodes, network, node)
        port = plan.IPERF_PORT + (node.number or 1)
        state.write(os.path.join(folder, "sshd_config"),
                    SSHD.format(folder=folder, lab=lab, iperf_port=port))
        if node.kind == "switch":
            _switch_files(options, lab, nodes, network, node)
        elif node.kind == "server":
            os.makedirs(os.path.join(folder, "recovery"))
            state.write(os.path.join(folder, "ganesha.conf"),
                        GANESHA.format(folder=folder, lab=lab, ip=node.ip, nfs=NFS_PORT,
                                       mount=MOUNT_PORT))
            state.write(os.path.join(folder, "nbd.conf"),
                        NBD.format(lab=lab, ip=node.ip, port=NBD_PORT))


def _interfaces(options, nodes, switch):
    """Ports of a switch and their speeds, which the kernel does not know."""
    speeds = {node.name: options.unit for node in nodes
              if node.kind == "client" and node.switch == switch}
    if switch == "sw1":
        speeds |= {f"{links.TRUNK}-{port}": options.unit for port in plan.ports(options)}
        speeds[links.TRUNK] = options.ports * options.unit
    for near, far, units in (("sw1", "sw2", 10), ("sw2", "sw3", 1)):
        if switch in (near, far):
            speeds[far if switch == near else near] = units * options.unit
    return speeds


def _switch_files(options, lab, nodes, network, node):
    folder = seat.folder(lab, node.name)
    auth, privacy = [state.read(os.path.join(lab, name)).strip() for name in SNMP_SECRETS]
    text = SNMPD.format(manage=f"{network}.{node.manage}", community=COMMUNITY, user=SNMP_USER,
                        name=node.name, lab=lab, auth=auth, privacy=privacy)
    head = "".join(f"interface {name} 6 {speed}\n"
                   for name, speed in _interfaces(options, nodes, node.name).items())
    state.write(os.path.join(folder, "snmpd.conf"), head + text, 0o600)


# NFS-Ganesha ends when it cannot register there.
RPCBIND = [["/usr/sbin/rpcbind", "-f", "-w"], ("tcp", RPC_PORT)]


def commands(options, lab, node):
    """What runs on NODE, for seat.start."""
    folder = seat.folder(lab, node.name)
    made = [["/usr/sbin/sshd", "-D", "-e", "-f", f"{folder}/sshd_config"]]
    if node.kind == "switch":
        made.append(["/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c", f"{folder}/snmpd.conf",
                     "-p", f"{folder}/snmpd.pid"])
    elif node.kind == "server":
        made += RPCBIND
        made.append(["/usr/bin/ganesha.nfsd", "-F", "-L", f"{folder}/ganesha.log", "-f",
                     f"{folder}/ganesha.conf", "-p", "/run/ganesha/pid", "-N",
                     "NIV_WARN"])
        made.append(["/usr/bin/nbd-server", "-C", f"{folder}/nbd.conf"])
        for number in range(1, options.clients + 1):
            made.append(["/usr/bin/iperf3", "-s", "--json", "-B", node.ip, "-p",
                         str(plan.IPERF_PORT + number)])
    return made


def disk(lab, node):
    """The image of NODE's disk and where it is mounted, for seat.start."""
    return (os.path.join(lab, DISK), os.path.join(lab, "srv")) if node.kind == "server" else None


def expected(options, node):
    """What NODE listens on once it is up."""
    wanted = {("tcp", 22)}
    if node.kind == "switch":
        wanted.add(("udp", 161))
    elif node.kind == "server":
        wanted |= {("tcp", port) for port in (NFS_PORT, MOUNT_PORT, RPC_PORT, NBD_PORT)}
        wanted |= {("tcp", plan.IPERF_PORT + i) for i in range(1, options.clients + 1)}
    return wanted


# --- Keys and data -------------------------------------------------------------------------------


def make_secrets(lab):
    """The operator's key, and the two words of the switches' SNMPv3 user."""
    generator = random.SystemRandom()
    for name in SNMP_SECRETS:
        word = "".join(generator.choice("abcdefghijkmnopqrstuvwxyz23456789") for _ in range(16))
        state.write(os.path.join(lab, name), word + "\n", 0o600)


def start_key(path, comment):
    return subprocess.Popen(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f",
                             path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def start_keys(lab, nodes):
    """Begins to make host keys and the operator's key; wait for what is returned."""
    made = [start_key(os.path.join(lab, "id_ed25519"), "lab")]
    for node in nodes:
        made.append(start_key(os.path.join(seat.folder(lab, node.name), "host_key"), node.name))
    return made


def start_data(lab):
    """Begins to make what the server serves, and the walker; wait for what is returned."""
    source = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(os.path.join(lab, "bin"))
    os.makedirs(os.path.join(lab, "srv"))
    made = os.path.join(lab, "data")
    os.makedirs(os.path.join(made, "scratch"))
    os.chmod(os.path.join(made, "scratch"), 0o1777)
    shutil.copyfile(os.path.join(source, "bridge_mib.py"), os.path.join(lab, "bin", "bridge-mib"))
    walker = subprocess.Popen(["cc", "-std=gnu17", "-O2", "-D_GNU_SOURCE", "-o",
                               os.path.join(lab, "bin", "nfs-walk"),
                               os.path.join(os.path.dirname(source), "nfs-walk.c"), "-lnfs"])
    data = subprocess.Popen([shutil.which("python3"), os.path.join(source, "tree.py"),
                             made, os.path.join(lab, DISK)], stdout=subprocess.DEVNULL)
    return [walker, data]


def wait_for(processes):
    failed = [process for process in processes if process.wait() != 0]
    if failed:
        raise plan.Wrong(f"{' '.join(map(str, failed[0].args[:3]))} failed")


def known_hosts(lab, nodes, network):
    lines = []
    for node in nodes:
        key = state.read(os.path.join(seat.folder(lab, node.name), "host_key.pub")).split()
        lines.append(f"{network}.{node.manage} {key[0]} {key[1]}\n")
    state.write(os.path.join(lab, "known_hosts"), "".join(lines))
