"""The layout that the console opens."""

import os

from namespaces import layout as links_layout, seat, state

from . import daemons, domains, plan

# What tells the stages of boots: the programs beside the guests, and what a guest's console shows.
SOURCES = ("dnsmasq, lighttpd, ganesha, nbd-server, ./house.yaml, "
           "ipxe, pxelinux, linux, getty, ./guest.yaml")
LOGS = ("dnsmasq.log", "access.log", "ganesha.log", "syslog")
GUEST = """\
stages: vmlab
about: the initramfs of vmlab's guests
reads: console
patterns:
  - {stage: initramfs, match: '(?<name>(?&NAME)): has its configuration'}
  - {stage: root, match: '(?<name>(?&NAME)): (?:asks for )?root file system .*'}
  - {stage: root, match: 'mount\.nfs: trying text-based options .*'}
  - {stage: root, match: 'Negotiation: \.\.size = .*'}
"""
HOUSE = """\
stages: configuration
about: what the initramfs of vmlab's guests asks lighttpd for
programs: [lighttpd]
patterns:
  - {stage: initramfs, certainty: likely, match: '(?<ip>(?&IP)) \\S+ \\S+ \\[[^]]*\\] "GET /configuration HTTP/[\\d.]+" 200 .*'}
"""


def _server(options, net):
    unit = links_layout.speed(options.unit)
    ports = ", ".join(f"eth{i}" for i in range(plan.PORTS))
    return ["servers:",
            f"  {plan.SERVER}:",
            "    switch: lan",
            "    subnet: pool",
            "    cores: 1",
            "    meter: ssh",
            "    log: probe",
            "    power: vm",
            "    bonds:",
            f"      bond0: {{ports: [{ports}], speed: {unit}, mode: balance-xor, policy: layer2, "
            f"era: 5.18, mac: 52:54:00:cc:00:00, ip: {net}.{plan.SERVER_HOST}}}"]


def _control():
    policy = "/sys/class/net/bond0/bonding/xmit_hash_policy"
    return ["control:", f"  {plan.SERVER}:",
            f"    bond0.policy: {{get: \"cut -d' ' -f1 {policy}\", set: \"echo {{value}} >{policy}\"}}",
            "    drop-caches: 'sync; echo 3 >/proc/sys/vm/drop_caches'"]


def _bmcs(told):
    """The backend that switches by these BMCs; bmclab numbers them as the guests are."""
    port = "" if told["port"] == 623 else f":{told['port']}"
    return ["  ipmi:", "    user: admin", f"    password: \"file:{told['folder']}/password\"",
            "    cipher: 3", "    workaround: [opensesspriv]", "    nodes:",
            *(f"      v{bmc['number']:02}: {{address: \"{bmc['address']}{port}\"}}"
              for bmc in told["bmcs"])]


def text(options, lab, net, bmcs):
    """The layout; with BMCS, these switch the guests instead of libvirt."""
    guests = [guest for guest in plan.guests(options) if guest.number]
    unit = links_layout.speed(options.unit)
    house = seat.folder(lab, daemons.HOUSE)
    names = links_layout.folded([guest.name for guest in guests])
    nodes = [f"      {guest.name}: {{address: {net}.{guest.host}}}"
             for guest in plan.guests(options)]
    return "\n".join([
        f"# Made by vmlab; gone with the lab. One unit is {unit}.",
        f"lab: Virtual machines {options.name}",
        "note: >-",
        "  PCs of QEMU without KVM on this machine, under a libvirtd of their own. Each link is",
        f"  shaped at the bridge: it carries {unit} to a guest.",
        f"defaults: {{power: {'ipmi' if bmcs else 'vm'}, keys: vm, console: vm, meter: vm, exec: ssh"
        + (f", server: {plan.SERVER}" if options.server else "") + "}",
        f"subnets: {{pool: {{net: {net}.0.0/16}}}}",
        "switches: {lan: {log: house}}",
        *(_server(options, net) if options.server else []),
        "clients:",
        *(f"  {guest.name}: {{switch: lan, subnet: pool, speed: {unit}, mac: {guest.macs[0]}, "
          f"ip: {net}.{guest.host}, log: probe}}" for guest in guests),
        "rooms:",
        f"  room: {{title: Room, seats: \"{names}\", columns: 6}}",
        "boot:",
        "  consoles: true",
        f"  sources: [{SOURCES}]",
        # A processor that is emulated, and shared.
        "deadlines: {dhcp: 120 s, tftp: 120 s, kernel: 120 s, initramfs: 120 s}",
        "backends:",
        f"  house: {{type: log, files: [{', '.join(os.path.join(house, log) for log in LOGS)}]}}",
        "  probe:", "    ways: [ssh]", "    every: 300 ms", "    patience: 1 s", "    nodes:", *nodes,
        f"  vm: {{type: libvirt, uri: \"{domains.uri(lab)}\", domain: \"{{node}}\"}}",
        *(_bmcs(bmcs) if bmcs else []),
        "  ssh:",
        "    user: root",
        f"    key: {lab}/id_ed25519",
        "    agent: false",
        f"    known-hosts: {lab}/known_hosts",
        "    nodes:",
        *nodes,
        *(_control() if options.server else []),
        ""])


def write(options, lab, net, bmcs):
    state.write(os.path.join(lab, "layout.yaml"), text(options, lab, net, None))
    if bmcs:
        state.write(os.path.join(lab, "layout-ipmi.yaml"), text(options, lab, net, bmcs))
    state.write(os.path.join(lab, "guest.yaml"), GUEST)
    state.write(os.path.join(lab, "house.yaml"), HOUSE)
    key = state.read(os.path.join(lab, "host_key.pub")).split()
    state.write(os.path.join(lab, "known_hosts"), "".join(
        f"{net}.{guest.host} {key[0]} {key[1]}\n" for guest in plan.guests(options)))
