/* Logs of machines that are not asked by SSH: files that are read as they grow, on this machine or
 * on one whose files are mounted here, and what machines send by syslog to a port of this one.
 *
 * `watch what=log` posts each line of a node's as a line of stream `log`, until it is cancelled. A
 * file that cannot be read is told, and looked for again; so is a port. Its keys stand in
 * model/layout_setting_keys.c.
 */
#ifndef PULT_LOG_H
#define PULT_LOG_H

#include "backends/setup.h"

Backend *log_backend_new(const BackendSetup *setup, GError **error);

#endif
