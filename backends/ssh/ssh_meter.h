/* OP_WATCH: counters of clients and servers, and who is logged in. */
#ifndef PULT_SSH_METER_H
#define PULT_SSH_METER_H

#include "backends/ssh/ssh_request.h"

extern const SshOperation ssh_meter_operation;

#endif
