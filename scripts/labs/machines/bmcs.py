"""BMCs of the guests: bmclab's, number I switching guest I by libvirt.

They are on the loopback of the console's namespace, in a lab of bmclab that bears this one's name.
"""

import json
import os
import subprocess

from namespaces import plan as names, state

from . import domains

BMCLAB = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bmclab")
# bmclab's hook and sense: NUMBER FOLDER, and what is done for a hook. A machine that is on already
# is switched on without an error, as a BMC does it.
SCRIPT = """\
#!/bin/sh
guest=v$(printf %02d "$1")
virsh() {{ command virsh -q -c '{uri}' "$@"; }}
case ${{3:-sense}} in
  sense) state=$(virsh domstate "$guest") || exit 2
    case $state in running|paused|idle|'in shutdown') exit 0 ;; *) exit 1 ;; esac ;;
  on) verb=start wanted=running ;;
  off) verb=destroy wanted='shut off' ;;
  *) verb=$3 wanted= ;;
esac
virsh "$verb" "$guest" || [ "$(virsh domstate "$guest")" = "$wanted" ]
"""


def _bmclab(name, *words):
    done = subprocess.run([BMCLAB, *words, "--name", f"vm_{name}"], check=False,
                          capture_output=True, text=True,
                          env=os.environ | {"PULT_LABS": state.base()})
    if done.returncode != 0:
        raise names.Wrong(f"BMCs: {' '.join(done.stderr.split())[:300]}")
    return done.stdout


def up(options, lab):
    """Raises them, or starts those that have died; what `bmclab status` says of them."""
    script = os.path.join(lab, "bmc")
    state.write(script, SCRIPT.format(uri=domains.uri(lab)), 0o755)
    _bmclab(options.name, "up", str(options.guests), "--hook", script, "--sense", script)
    return json.loads(_bmclab(options.name, "status", "--json"))


def down(name):
    _bmclab(name, "down")
