"""What runs beside the guests, in one machine of namespaces: libvirt, DHCP, TFTP, HTTP, NFS, NBD.

All of it has the console's file system read-only, but for the lab's folder, and users of its own:
libvirt wants one that Debian makes only with packages that are not needed here.
"""

import os

from namespaces import links, seat, services, state

from . import plan

HOUSE = "house"  # its name among the lab's machines
OWN = ("/var/lib", "/var/cache")
USER = "libvirt-qemu"
PREFIX = "fd77::"

LIBVIRTD = """\
unix_sock_dir = "{lab}/libvirt"
unix_sock_group = "root"
unix_sock_rw_perms = "0700"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "3:file:{lab}/nodes/house/libvirtd.log"
"""

QEMU = """\
security_driver = "none"
user = "root"
group = "root"
remember_owner = 0
cgroup_controllers = [ ]
namespaces = [ ]
stdio_handler = "file"
set_process_name = 1
"""

# A tap is new at each start of its guest. The server's are one trunk to the bridge: what is for
# everybody reaches it by the first alone, and nothing goes from one to another.
HOOK = """\
#!/bin/sh
# Called by libvirtd: qemu GUEST OPERATION …; the guest's definition is the input.
[ "$2" = started ] || exit 0
for tap in $(sed -n "s/.*<target dev='\\([a-z0-9]*\\)'.*/\\1/p"); do
  tc qdisc replace dev "$tap" root tbf rate {rate}bit burst {burst} latency 50ms
  case $tap in
  srv0) bridge link set dev "$tap" isolated on ;;
  srv*) bridge link set dev "$tap" isolated on flood off mcast_flood off bcast_flood off ;;
  esac
done
exit 0
"""

DNSMASQ = """\
keep-in-foreground
user=root
port=0
interface=lan
bind-interfaces
no-ping
no-resolv
no-hosts
log-facility={folder}/dnsmasq.log
dhcp-leasefile={folder}/leases
dhcp-authoritative
dhcp-range={net}.0.101,{net}.0.250,255.255.0.0,1h
enable-ra
dhcp-range={prefix},ra-only
ra-param=lan,5,60
enable-tftp
tftp-root={lab}/tftp
dhcp-match=set:ipxe,175
dhcp-boot=tag:ipxe,tag:!pxelinux,boot.ipxe
dhcp-boot=tag:pxelinux,pxelinux.0
dhcp-ignore=tag:refused
dhcp-hostsfile={folder}/hosts
"""

LIGHTTPD = """\
server.modules = ( "mod_accesslog" )
server.document-root = "{lab}/www"
server.bind = "{net}.{host}"
server.port = 80
server.pid-file = "/run/lighttpd.pid"
server.errorlog = "{folder}/lighttpd-error.log"
# Each line at once: of a file it writes every four seconds.
accesslog.filename = "|exec cat >>{folder}/access.log"
mimetype.assign = ( "" => "application/octet-stream" )
"""

# It tells of a file when the kernel has taken its end: with what that takes by itself, megabytes,
# seconds before a guest has it.
HTTPD = """\
echo '4096 16384 131072' >/proc/sys/net/ipv4/tcp_wmem
exec "$@"
"""

# nbd-server tells who connects to syslog alone: with a /dev of its own it has one, in a file.
NBD_SERVER = """\
set -e
mkdir /run/dev
mount -t tmpfs tmpfs /run/dev
for name in null zero random urandom; do
  : >"/run/dev/$name"
  mount --bind "/dev/$name" "/run/dev/$name"
done
mount --move /run/dev /dev
"$1/busybox" syslogd -S -O "$2/syslog"
exec nbd-server -C "$2/nbd.conf"
"""

GANESHA_LOG = """\
LOG { COMPONENTS { NFSPROTO = DEBUG; CLIENTID = DEBUG; } }
"""


def folder(lab):
    return seat.folder(lab, HOUSE)


def machine():
    return services.plan.Node(HOUSE, "house", 0, "", "", "", "")


def _etc(lab):
    """Users and the settings of libvirt's QEMU driver, mounted over the console's."""
    etc = os.path.join(folder(lab), "etc")
    os.makedirs(os.path.join(etc, "libvirt", "hooks"))
    passwd, group = state.read("/etc/passwd"), state.read("/etc/group")
    if f"\n{USER}:" not in passwd:
        passwd += f"{USER}:x:64055:64055::/var/lib/libvirt:/usr/sbin/nologin\n"
        group += f"{USER}:x:64055:\n"
    state.write(os.path.join(etc, "passwd"), passwd)
    state.write(os.path.join(etc, "group"), group)
    state.write(os.path.join(etc, "libvirt", "qemu.conf"), QEMU)


def hosts(options, lab, net, refused=()):
    """Who is given which address and name; dnsmasq reads it when it begins."""
    lines = []
    for guest in plan.guests(options):
        tags = ["set:pxelinux"] if guest.loader == "pxelinux" else []
        tags += ["set:refused"] if guest.name in refused else []
        lines.append(",".join([guest.macs[0], *tags, f"{net}.{guest.host}", guest.name]))
    state.write(os.path.join(folder(lab), "hosts"), "\n".join(lines) + "\n")


def write_files(options, lab, net):
    place = folder(lab)
    os.makedirs(os.path.join(place, "recovery"))
    _etc(lab)
    words = {"lab": lab, "folder": place, "net": net, "host": plan.SERVICES,
             "prefix": PREFIX}
    state.write(os.path.join(lab, "libvirtd.conf"), LIBVIRTD.format(**words))
    rate = options.unit
    state.write(os.path.join(place, "etc", "libvirt", "hooks", "qemu"),
                HOOK.format(rate=rate, burst=max(4000, rate // 8 // 250)), 0o755)
    state.write(os.path.join(place, "dnsmasq.conf"), DNSMASQ.format(**words))
    state.write(os.path.join(place, "lighttpd.conf"), LIGHTTPD.format(**words))
    hosts(options, lab, net)
    address = f"{net}.{plan.SERVICES}"
    state.write(os.path.join(place, "ganesha.conf"), GANESHA_LOG + services.GANESHA.format(
        folder=place, lab=lab, ip=address, nfs=services.NFS_PORT, mount=services.MOUNT_PORT))
    state.write(os.path.join(place, "nbd.conf"),
                services.NBD.format(lab=lab, ip=address, port=services.NBD_PORT))


def libvirtd(lab):
    return ["/usr/sbin/libvirtd", "-f", f"{lab}/libvirtd.conf", "-p", "/run/libvirtd.pid"]


def dnsmasq(lab):
    return ["/usr/sbin/dnsmasq", "-C", f"{folder(lab)}/dnsmasq.conf"]


def commands(lab):
    place = folder(lab)
    return [
        *services.RPCBIND,
        ["/usr/bin/ganesha.nfsd", "-F", "-L", f"{place}/ganesha.log", "-f",
         f"{place}/ganesha.conf", "-p", "/run/ganesha/pid"],
        ["/usr/bin/unshare", "-m", "sh", "-c", NBD_SERVER, "sh", lab, place],
        dnsmasq(lab),
        ["/bin/sh", "-c", HTTPD, "sh", f"{lab}/lighttpd/lighttpd", "-D", "-m", f"{lab}/lighttpd",
         "-f", f"{place}/lighttpd.conf"],
        libvirtd(lab),
    ]


def expected():
    return {("tcp", services.NFS_PORT), ("tcp", services.MOUNT_PORT), ("tcp", services.RPC_PORT),
            ("tcp", services.NBD_PORT), ("tcp", 80), ("udp", 67), ("udp", 69)}


def raise_network(options):
    """The namespace, its bridge, and the console's link into it. Returns the network's first two
    numbers."""
    namespace = services.plan.namespace(options, HOUSE)
    links.raise_namespaces([namespace], ipv6=True)  # iPXE waits for a router of IPv6
    net = links.console_link(plan.link(options.name), "console", namespace, f"{plan.CONSOLE}/16")
    links.batch("ip", namespace, [
        "link set lo up", links.BRIDGE.replace("br0", "lan"),
        # Of the prefix that dnsmasq advertises; without it, it advertises nothing.
        f"address add {PREFIX}1/64 dev lan nodad",
        f"address add {net}.{plan.SERVICES}/16 dev lan", "link set lan up",
        "link set console master lan up"])
    return net
