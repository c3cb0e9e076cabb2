"""Namespaces, links, rates, and the bond: what `ip` and `tc` are told.

The bond of a kernel without a bonding driver: bond0 and bondx are the two ends of a link; what
leaves by bond0 comes in by bondx, where a filter for each port computes the hash and redirects to
that port; what comes in by a port is redirected to bondx and so arrives at bond0. The switch's end
of the trunk is built likewise.
"""

import concurrent.futures
import contextlib
import fcntl
import os
import subprocess

from . import bond_filter, kernel, plan, state

TRUNK, TRUNK_X = "slx1", "slx1x"  # on sw1, as bond0 and bondx are on the server
WORKERS = os.cpu_count() or 1
# Without STP nothing waits for forward_delay, but while ports come up it is how long an address is
# remembered: 0 would have everything flooded for half a minute.
BRIDGE = "link add br0 type bridge stp_state 0 mcast_snooping 0"


def run(argv, text=None):
    """Runs a program; what it complains about is our error, in one line."""
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaint = " ".join((done.stderr or done.stdout).split())[:300]
        raise plan.Wrong(f"{' '.join(argv[:4])}: {complaint or done.returncode}")
    return done.stdout


def batch(program, namespace, lines):
    if lines:
        argv = [program] + (["-n", namespace] if namespace else []) + ["-batch", "-"]
        run(argv, "\n".join(lines) + "\n")


def _each(function, items):
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(function, items))


def shape(device, rate):
    """A queue that lets RATE bit/s pass, in bursts of 4 ms and 30 ms deep."""
    return (f"qdisc add dev {device} root tbf rate {rate}bit burst {max(4000, rate // 8 // 250)} "
            f"latency 30ms")


# --- Each node's own side ------------------------------------------------------------------------


def _veth(device, peer, namespace, mac=None):
    address = f" address {mac}" if mac else ""
    return f"link add {device} type veth peer name {peer}{address} netns {namespace}"


def _switch_ip(options, nodes, switch):
    """On SWITCH: its bridge, its ports, and the far ends in the namespaces plugged into it."""
    lines = ["link set lo up",
             BRIDGE]
    members = []
    for node in nodes:
        if node.kind == "client" and node.switch == switch:
            lines.append(_veth(node.name, "eth0", plan.namespace(options, node.name), node.mac))
            members.append(node.name)
    if switch == "sw1":
        server = plan.namespace(options, plan.SERVER)
        lines.append(f"link add {TRUNK} type veth peer name {TRUNK_X}")
        for port in plan.ports(options):
            lines.append(_veth(f"{TRUNK}-{port}", port, server))
            lines.append(f"link set {TRUNK}-{port} up")
        lines.append(f"link set {TRUNK_X} up")
        members.append(TRUNK)
    for near, far in (("sw1", "sw2"), ("sw2", "sw3")):
        if switch == near:
            lines.append(_veth(far, near, plan.namespace(options, far)))
        if switch in (near, far):
            members.append(far if switch == near else near)
    # The other switch's cable may not be there yet.
    lines += [f"link set {member} master br0 up" for member in members
              if not (switch == "sw2" and member == "sw1" or switch == "sw3" and member == "sw2")]
    lines.append("link set br0 up")
    return lines


def _switch_tc(options, nodes, switch):
    lines = [shape(node.name, options.unit) for node in nodes
             if node.kind == "client" and node.switch == switch]
    if switch == "sw1":
        lines += [shape(f"{TRUNK}-{port}", options.unit) for port in plan.ports(options)]
        lines += bond(options, TRUNK_X, f"{TRUNK}-")
    for near, far, units in (("sw1", "sw2", 10), ("sw2", "sw3", 1)):
        if switch in (near, far):
            lines.append(shape(far if switch == near else near, units * options.unit))
    return lines


def _server_ip(options, node):
    lines = ["link set lo up",
             f"link add bond0 address {plan.BOND_MAC} type veth peer name bondx"]
    lines += [f"link set {port} up" for port in plan.ports(options)]
    return lines + ["link set bondx up", f"address add {node.ip}/24 dev bond0",
                    "link set bond0 up"]


def _server_tc(options):
    return [shape(port, options.unit) for port in plan.ports(options)] + bond(options, "bondx", "")


def _client_ip(node):
    return ["link set lo up", f"address add {node.ip}/24 dev eth0", "link set eth0 up"]


def bond(options, inner, prefix):
    """Filters at INNER for what is sent, at each port for what comes in."""
    lines = [f"qdisc add dev {inner} clsact"]
    lines += hash_filters(options.policy, options.ports, inner, prefix, 1)
    for port in plan.ports(options):
        lines.append(f"qdisc add dev {prefix}{port} clsact")
        lines.append(f"filter add dev {prefix}{port} ingress protocol all prio 1 u32 match u32 0 0 "
                     f"action mirred egress redirect dev {inner}")
    return lines


def hash_filters(policy, ports, inner, prefix, priority):
    return [f"filter add dev {inner} ingress protocol all prio {priority} bpf bytecode "
            f"'{bond_filter.bytecode(policy, ports, i)}' "
            f"action mirred egress redirect dev {prefix}eth{i}" for i in range(ports)]


# --- Up and down ---------------------------------------------------------------------------------


NO_IPV6 = {"ipv6/conf/all/disable_ipv6": "1", "ipv6/conf/default/disable_ipv6": "1"}
SYSCTLS = {
    # Of those that a namespace may choose; the console's machine may prefer one that ignores loss.
    "ipv4/tcp_congestion_control": ("cubic", "reno"),
}


def _set_sysctl(path, value):
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(value)
    except FileNotFoundError:
        pass  # a kernel without IPv6 has none to switch off
    except PermissionError:
        return False
    return True


def _set_sysctls(names, values):
    """Before there is any device: those to come inherit it."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        for name in names:
            kernel.setns(os.path.join(state.NETNS, name))
            for key, wanted in values.items():
                for value in wanted if isinstance(wanted, tuple) else (wanted,):
                    if _set_sysctl(f"/proc/sys/net/{key}", value):
                        break
    finally:
        kernel.setns(f"/proc/self/fd/{home}")
        os.close(home)


def _free_network():
    """The first two numbers of a network that no route of ours touches."""
    routes = run(["ip", "-o", "-4", "route", "show", "table", "all"])
    taken = set()
    for word in routes.split():
        numbers = word.split("/")[0].split(".")
        long = int(word.split("/")[1]) if "/" in word and word.split("/")[1].isdigit() else 32
        if len(numbers) == 4 and numbers[0] == "10" and long >= 16:
            taken.add(numbers[1])
    for second in range(78, 128):
        if str(second) not in taken:
            return f"10.{second}"
    raise plan.Wrong("no free network for the management of a lab among 10.78.0.0 to 10.127.0.0")


def manage_link(name):
    return f"pl-{name}"


def raise_namespaces(names, ipv6=False):
    batch("ip", None, [f"netns add {name}" for name in names])
    _set_sysctls(names, SYSCTLS if ipv6 else SYSCTLS | NO_IPV6)


def console_link(device, far, namespace, address):
    """A link from DEVICE, which has ADDRESS behind the first two numbers of a free network, to FAR
    in NAMESPACE. Returns these numbers."""
    turn = os.open(state.NETNS, os.O_RDONLY)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)  # labs that come up at once take different networks
        network = _free_network()
        batch("ip", None, [f"link add {device} type veth peer name {far} netns {namespace}",
                           f"address add {network}.{address} dev {device}",
                           f"link set {device} up"])
    finally:
        os.close(turn)
    return network


def raise_management(options, nodes):
    """The console's way to every node. Returns its network's first two numbers."""
    namespace = plan.namespace(options, "manage")
    network = console_link(manage_link(options.name), "console", namespace, "1.254/23")
    lines = ["link set lo up",
             BRIDGE,
             "link set br0 up", "link set console master br0 up"]
    for node in nodes:
        lines.append(_veth(node.name, "mgmt0", plan.namespace(options, node.name)))
        lines.append(f"link set {node.name} master br0 up")
    batch("ip", namespace, lines)
    return network


def raise_links(options, nodes, network):
    for switch in plan.SWITCHES:
        batch("ip", plan.namespace(options, switch), _switch_ip(options, nodes, switch))
    _each(lambda node: _finish(options, nodes, network, node), nodes)


def _finish(options, nodes, network, node):
    """The node's own end of its links."""
    namespace = plan.namespace(options, node.name)
    lines = [f"address add {network}.{node.manage}/23 dev mgmt0", "link set mgmt0 up"]
    if node.kind == "client":
        lines += _client_ip(node)
        rates = [shape("eth0", options.unit)]
    elif node.kind == "server":
        lines += _server_ip(options, node)
        rates = _server_tc(options)
    else:
        uplink = {"sw2": "sw1", "sw3": "sw2"}.get(node.name)
        lines += [f"link set {uplink} master br0 up"] if uplink else []
        rates = _switch_tc(options, nodes, node.name)
    batch("ip", namespace, lines)
    batch("tc", namespace, rates)


def lower(name, device):
    """Removes the lab's namespaces, with all that is in them, and the console's link. Its processes
    must have ended."""
    subprocess.run(["ip", "link", "delete", device], stderr=subprocess.DEVNULL, check=False)
    for entry in state.namespaces(name):
        path = os.path.join(state.NETNS, entry)
        with contextlib.suppress(OSError):
            kernel.unmount(path)  # an `up` that was killed may have left the file alone
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
