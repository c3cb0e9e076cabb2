"""The layout that the console opens, with addresses, keys and secrets of this very lab."""

import os
import shlex

from . import bond_filter, links, plan, services, state


def speed(rate):
    """Bits a second as a layout writes them."""
    for word, unit in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if rate % unit == 0:
            return f"{rate // unit} {word}"
    return f"{rate} bit/s"


def folded(names):
    """a[01-17]"""
    return f"{names[0][0]}[{names[0][1:]}-{names[-1][1:]}]" if len(names) > 1 else names[0]


def _clients(options, nodes):
    """Rooms by name: where their clients are plugged in, which addresses they have."""
    lines = []
    for room, names in zip("ab", plan.client_names(options)):
        members = [node for node in nodes if node.name in names]
        if not members:
            continue
        switches = sorted({node.switch for node in members})
        for switch in switches[:-1]:
            there = [node.name for node in members if node.switch == switch]
            lines.append(f"  {folded(there)}: {{switch: {switch}}}")
        rest = [node.name for node in members if node.switch == switches[-1]]
        if switches[:-1]:
            lines.append(f"  {folded(rest)}: {{switch: {switches[-1]}}}")
        plugged = "" if switches[:-1] else f"switch: {switches[-1]}, "
        lines.append(f"  {folded(names)}: {{{plugged}subnet: pool, speed: {speed(options.unit)}, "
                     f"mac: 52:54:00:0{room}:00:00 step 2, ip: {members[0].ip} step 1}}")
        lines += [f"  {node.name}: {{mac: {node.mac}}}" for node in members
                  if node.name in plan.ODD]
    return lines


def _rooms(options):
    lines = ["rooms:"]
    for room, names in zip("AB", plan.client_names(options)):
        if names:
            lines.append(f"  room{room}: {{title: Room {room}, seats: \"{folded(names)}\", "
                         f"columns: 6, aisle-after: [3]}}")
    behind = [node.name for node in plan.nodes(options) if node.switch == "sw3"]
    if behind:
        lines.append(f"blocks: {{uplink: \"{folded(behind)}\"}}")
    return lines


def _ssh(options, lab, nodes, network):
    lines = ["  ssh:", "    user: lab", f"    key: {lab}/id_ed25519", "    agent: false",
             f"    known-hosts: {lab}/known_hosts", "    nodes:"]
    for names in plan.client_names(options):
        first = [node for node in nodes if names and node.name == names[0]]
        lines += [f"      \"{folded(names)}\": {{address: {network}.{node.manage} step 1}}"
                  for node in first]
    lines += [f"      {node.name}: {{address: {network}.{node.manage}, user: root}}"
              for node in nodes if node.kind != "client"]
    return lines


def _snmp(lab, nodes, network):
    """By version 2c, and the last switch by version 3. Linux counts no frame's check bytes."""
    auth, privacy = services.SNMP_SECRETS
    third = (f", version: 3, user: {services.SNMP_USER}, auth-password: file:{lab}/{auth}, "
             f"priv-password: file:{lab}/{privacy}")
    return ["  snmp:", f"    community: file:{lab}/snmp-community", "    check-bytes: false",
            "    nodes:",
            *(f"      {node.name}: {{address: {network}.{node.manage}"
              f"{third if node.name == plan.SWITCHES[-1] else ''}}}"
              for node in nodes if node.kind == "switch")]


def _power(lab):
    plug = f"{lab}/bin/plug"
    return ["  plug:", "    type: command",
            f"    status: {{run: [{plug}, status, \"{{node}}\"], "
            "on: '^\\S+ on$', off: '^\\S+ off$'}",
            *(f"    {word}: {{run: [{plug}, {word}, \"{{node}}\"]}}"
              for word in ("on", "off", "reset"))]


def _control(lab):
    return ["control:", f"  {plan.SERVER}:",
            f"    bond0.policy: {{get: \"{lab}/bin/bond\", set: \"{lab}/bin/bond {{value}}\"}}",
            "    drop-caches: 'sync; echo 3 >/proc/sys/vm/drop_caches'",
            f"    fill-caches: 'find {lab}/srv -type f -exec cat {{{{}} + >/dev/null'",
            *_link_state("sw1", "sw2"), *_link_state("sw2", "sw3")]


def _jobs():
    """What clients do that mount nothing: libnfs and libnbd ask the server themselves. They keep
    nothing, so that cold or warm is the server's affair."""
    nfs = "nfs://{server}/tree"
    iperf = 'exec iperf3 -c {host} -p $IPERF3_PORT -t {time} -P {streams} -f k "$@"'
    jobs = {
        "find-cat": {"needs": "nfs-walk", "command": "exec nfs-walk {source}", "source": nfs,
                     "cold": ":"},
        "tar": {"needs": "nfs-walk", "command": "exec nfs-walk --stat {source}", "source": nfs,
                "cold": ":"},
        "tar-read": {"needs": "nfs-walk", "command": "exec nfs-walk --tar {source} 2>&1 >/dev/null",
                     "source": nfs, "cold": ":"},
        "dd-read": {"needs": "nfs-cat dd", "prepare": ":", "source": nfs + "/large/0", "cold": ":",
                    "command": "nfs-cat {source} | dd of=/dev/null bs={block}"},
        "dd-nbd": {"needs": "nbdcopy", "prepare": ":", "source": "nbd://{server}/disk", "cold": ":",
                   "command": "exec nbdcopy --synchronous --request-size={block} {source} null:"},
        "fio-nbd": {"source": "nbd://{server}/disk", "cold": ":"},
        "iperf3": {"command": "[ {direction} = sent ] || set -- -R; " + iperf},
    }
    lines = ["jobs:"]
    for job, words in jobs.items():
        words |= {"warm": ":"} if "source" in words else {}
        lines.append(f"  {job}:")
        lines += [f"    {key}: '{text}'" for key, text in words.items()]
    return lines


def _link_state(near, far):
    return [f"  {near}:",
            f"    link:{near}-{far}.state: {{get: cat /sys/class/net/{far}/operstate, "
            f"set: \"ip link set dev {far} {{value}}\"}}"]


def text(options, lab, nodes, network):
    unit = speed(options.unit)
    return "\n".join([
        f"# Made by nslab; gone with the lab. One unit is {unit}.",
        f"lab: Namespaces {options.name}",
        "note: >-",
        "  Network namespaces on this machine. Links are shaped: a client's and each port of the",
        f"  server's bond carry one unit, {unit}; sw1 to sw2 ten, sw2 to sw3 one.",
        f"defaults: {{power: plug, exec: ssh, server: {plan.SERVER}}}",
        f"subnets: {{pool: {{net: {plan.POOL}.0/24}}}}",
        "switches:",
        *(f"  {name}: {{exec: ssh, meter: snmp}}" for name in plan.SWITCHES),
        "links:",
        f"  - {{from: sw1, to: sw2, speed: {speed(10 * options.unit)}}}",
        f"  - {{from: sw2, to: sw3, speed: {unit}}}",
        "servers:",
        f"  {plan.SERVER}:",
        "    switch: sw1",
        "    subnet: pool",
        f"    cores: {os.cpu_count() or 1}",
        "    protected: true",
        "    bonds:",
        f"      bond0: {{ports: [{', '.join(plan.ports(options))}], speed: {unit}, "
        f"mode: balance-xor, policy: {options.policy}, era: 5.18, mac: {plan.BOND_MAC}, "
        f"ip: {plan.SERVER_IP}}}",
        "clients:",
        *_clients(options, nodes),
        *_rooms(options),
        *([] if options.bare else ["backends:", *_ssh(options, lab, nodes, network),
                                   *_snmp(lab, nodes, network),
                                   *_power(lab), *_control(lab), *_jobs()]),
        ""])


def write(options, lab, nodes, network):
    state.write(os.path.join(lab, "snmp-community"), services.COMMUNITY + "\n", 0o600)
    made = text(options, lab, nodes, network)
    if options.bare:
        made = made.replace("{power: plug, exec: ssh, ", "{")
        made = made.replace(": {exec: ssh, meter: snmp}", ": {}")
    state.write(os.path.join(lab, "layout.yaml"), made)


BOND = """\
#!/bin/sh
# The bond's transmit hash: bond [POLICY]
set -eu
cd {lab}/bond
if [ $# -eq 0 ]; then
  exec cat policy
fi
[ -f "filters-$1" ] || {{
  echo "bond: no policy '$1'; there are {policies}" >&2
  exit 2
}}
exec 9<.
flock 9
# The new filters before the old ones go: no frame finds none.
old=$(cat priority)
new=$((3 - old))
sed "s/ prio 1 / prio $new /" "filters-$1" | tc -batch -
tc filter delete dev bondx ingress protocol all prio "$old"
echo "$new" >priority
echo "$1" >policy
"""


PLUG = """\
#!/bin/sh
# A machine's power: plug status|on|off|reset NODE
set -eu
PULT_LABS={labs}
export PULT_LABS
[ "$1" = status ] || exec {nslab} "$1" --name {name} "$2"
node=$2
state=off
if read -r pid started <"{lab}/nodes/$node/pid" && read -r stat <"/proc/$pid/stat"; then
  # shellcheck disable=SC2086 # its words, behind the program's name; the 22nd is when it began
  set -- ${{stat##*) }}
  [ "$1" = Z ] || [ "${{20}}" != "$started" ] || state=on
fi 2>/dev/null
echo "$node $state"
"""


def write_plug(options, lab):
    """The program that the layout's power goes by; a look costs no Python."""
    nslab = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "nslab")
    state.write(os.path.join(lab, "bin", "plug"),
                PLUG.format(nslab=shlex.quote(nslab), name=options.name, lab=lab,
                            labs=shlex.quote(os.path.dirname(lab))), 0o755)


def write_bond(options, lab):
    """The program that changes the policy, for the server's root."""
    folder = os.path.join(lab, "bond")
    os.makedirs(folder)
    for policy in bond_filter.POLICIES:
        lines = links.hash_filters(policy, options.ports, "bondx", "", 1)
        state.write(os.path.join(folder, f"filters-{policy}"), "\n".join(lines) + "\n")
    state.write(os.path.join(folder, "policy"), options.policy + "\n")
    state.write(os.path.join(folder, "priority"), "1\n")
    state.write(os.path.join(lab, "bin", "bond"),
                BOND.format(lab=lab, policies=", ".join(bond_filter.POLICIES)), 0o755)
