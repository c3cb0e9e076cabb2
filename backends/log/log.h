/* Logs of servers: files that are read as they grow, on this machine or on one whose files are
 * mounted here. The backend of role `log` for machines that are not asked by SSH.
 *
 * `watch what=log` posts each line of a node's files as a line of stream `log`, until it is
 * cancelled. A file that cannot be read is told, and looked for again. Its keys stand in
 * model/layout_setting_keys.c.
 */
#ifndef PULT_LOG_H
#define PULT_LOG_H

#include "backends/setup.h"

Backend *log_backend_new(const BackendSetup *setup, GError **error);

#endif
