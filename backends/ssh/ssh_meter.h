/* OP_WATCH: counters of clients and servers, and who is logged in. */
#ifndef PULT_SSH_METER_H
#define PULT_SSH_METER_H

#include "backends/ssh/ssh_request.h"

extern const SshOperation ssh_meter_operation;

/* A command line that tells who is logged in, a line each: by utmp, and at a display by logind as
 * well, which a display manager may tell alone. It knows of greeters, too, and of connections as
 * ours, which have no seat. */
#define SSH_METER_USERS                                                                            \
  "who && { timeout 5 loginctl list-sessions --no-legend 2>/dev/null |"                            \
  " while read -r id uid user seat rest; do case $seat in seat*)"                                  \
  " [ \"$(timeout 5 loginctl show-session -p Class --value \"$id\" 2>/dev/null)\" = user ] &&"     \
  " echo \"$user $seat\";; esac; done; :; }"

#endif
