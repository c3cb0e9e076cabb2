"""What stands in a lab's folder and in each of its BMCs'."""

import contextlib
import os
import secrets

from . import state

USER = "admin"
# The first for any session with ipmi_sim, the others for SOL.
WORKAROUNDS = ["opensesspriv", "solpayloadsize", "solport", "solstatus", "solchannelsupport"]
VIEWER = "view"  # an account of USER level


def node(settings, number):
    return f"a{number:0{settings['width']}d}"


def nodes(settings):
    count, width = settings["count"], settings["width"]
    return node(settings, 1) if count == 1 else f"a[{1:0{width}d}-{count:0{width}d}]"


def addresses(settings):
    net, count = settings["net"], settings["count"]
    return f"{net}.1" if count == 1 else f"{net}.[1-{count}]"


def powermand(settings):
    return f"{settings['net']}.254"


def bmc(name, number):
    return os.path.join(state.folder(name), f"bmc{number}")


def line(name, settings, number):
    """The serial line's name; ipmi_sim locks by the last part of it, for the whole machine."""
    return os.path.join(bmc(name, number), f"sol-{settings['net']}.{number}".replace(".", "-"))


def unlock_line(name, settings, number):
    """A simulator that was killed leaves its lock, and the address was its alone."""
    with contextlib.suppress(OSError):
        os.unlink("/var/lock/LCK.." + os.path.basename(line(name, settings, number)))


def password(name):
    return state.read(os.path.join(state.folder(name), "password")).strip()


def write_lab(name, settings):
    """Everything but the BMCs' own. The password is drawn once for a lab."""
    folder = state.folder(name)
    port = "" if settings["port"] == 623 else f":{settings['port']}"
    if not password(name):
        state.write(os.path.join(folder, "password"), secrets.token_hex(8) + "\n", 0o600)
    state.write(os.path.join(folder, "freeipmi.conf"), f"""\
# For ipmipower and its like: --config-file=FILE
driver-type LAN_2_0
username {USER}
password {password(name)}
cipher-suite-id 3
privilege-level ADMIN
workaround-flags opensesspriv
""", 0o600)
    state.write(os.path.join(folder, "powerman.conf"), f"""\
include "/etc/powerman/ipmipower.dev"
listen "{powermand(settings)}:{settings['powerman_port']}"
device "bmcs" "ipmipower" "/usr/sbin/ipmipower --config-file={folder}/freeipmi.conf \
--wait-until-on --wait-until-off -h {addresses(settings)}{port} |&"
node "{nodes(settings)}" "bmcs" "{addresses(settings)}"
""")
    state.write(os.path.join(folder, "layout.yaml"), layout(name, settings, "ipmi"))
    state.write(os.path.join(folder, "layout-powerman.yaml"), layout(name, settings, "powerman"))


def layout(name, settings, power):
    folder, net = state.folder(name), settings["net"]
    port = "" if settings["port"] == 623 else f"port {settings['port']}, "
    backend = f"""\
  powerman: {{address: "{powermand(settings)}:{settings['powerman_port']}"}}
""" if power == "powerman" else f"""\
  ipmi:
    user: {USER}
    password: "file:{folder}/password"
    cipher: 3
    workaround: [{', '.join(WORKAROUNDS[:None if settings['serial'] else 1])}]
    nodes:
"""
    console = ", console: ipmi" if power == "ipmi" and settings["serial"] else ""
    if power == "ipmi":
        backend += "".join(each_address(settings))
    return f"""\
# {settings['count']} simulated BMCs, {port}by {power}. `bmclab down --name {name}` removes this file.
lab: "bmclab {name}, {settings['count']} BMCs by {power}"
defaults: {{power: {power}{console}}}
backends:
{backend}switches: {{sw1: {{}}}}
clients:
  {nodes(settings)}: {{switch: sw1, speed: 1 Gbit/s}}
rooms:
  room: {{title: "{net}", seats: "{nodes(settings)}", columns: 6}}
deadlines: {{pause: 1 s}} # nothing here has capacitors to drain
"""


def each_address(settings):
    net, port = settings["net"], settings["port"]
    if port == 623:
        step = " step 1" if settings["count"] > 1 else ""
        yield f"      {nodes(settings)}: {{address: {net}.1{step}}}\n"
        return
    for number in range(1, settings["count"] + 1):
        yield f"      {node(settings, number)}: {{address: \"{net}.{number}:{port}\"}}\n"


def write_bmc(name, settings, number, on):
    """One BMC's folder, off or ON, with no boot device set."""
    path = bmc(name, number)
    os.makedirs(path, exist_ok=True)
    for program in ("hook", "sense"):
        if settings[program]:
            words = settings[program] + [str(number)]
            state.write(os.path.join(path, program), "".join(word + "\n" for word in words))
    state.write(os.path.join(path, "state"), f"{on:d} {on:d} 0 none\n")
    state.write(os.path.join(path, "log"), "")
    state.write(os.path.join(path, "sim.emu"), """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
""")


def write_lan(name, settings, number, secret):
    """The users are read at start only, so a simulator is started anew for another SECRET."""
    sol = f'  sol "{line(name, settings, number)}" 115200 history=4000\n' if settings["serial"] else ""
    methods = "none md2 md5 straight"
    allowed = "".join(f"    allowed_auths_{level} {methods}\n"
                      for level in ("callback", "user", "operator", "admin"))
    state.write(os.path.join(bmc(name, number), "lan.conf"), f"""\
name "bmc{number}"
set_working_mc 0x20
  startlan 1
    addr {settings['net']}.{number} {settings['port']}
    priv_limit admin
{allowed}    guid a123456789abcdefa1234567{number:08x}
  endlan
{sol}  chassis_control "{state.folder(name)}/chassis {bmc(name, number)}"
  user 1 true "" "" user 10 {methods}
  user 2 true "{USER}" "{secret}" admin 10 {methods}
  user 4 true "{VIEWER}" "{secret}" user 10 {methods}
""", 0o600)
