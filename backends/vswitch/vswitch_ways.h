/* Between vswitch_line.c and the ways it goes. */
#ifndef PULT_VSWITCH_WAYS_H
#define PULT_VSWITCH_WAYS_H

#include <gio/gio.h>

#include "backends/vswitch/device.h"

/* An open descriptor, raw, non-blocking, nobody else's; -1 with an error. */
int vswitch_serial_open(const char *path, const Device *device, GError **error);

/* ---- Telnet ---------------------------------------------------------------------------------- */

typedef struct VswitchTelnet VswitchTelnet;
typedef void (*VswitchBytes)(const char *bytes, gsize n, gpointer data);

/* HEARD gets what the device says, SEND what has to go out, option negotiation included. */
VswitchTelnet *vswitch_telnet_new(VswitchBytes heard, VswitchBytes send, gpointer data);
void vswitch_telnet_free(VswitchTelnet *telnet);
/* As it came, and to be sent. FALSE: what came is no Telnet. */
gboolean vswitch_telnet_receive(VswitchTelnet *telnet, const char *bytes, gsize n);
void vswitch_telnet_say(VswitchTelnet *telnet, const char *bytes, gsize n);

/* ---- HTTPS ----------------------------------------------------------------------------------- */

#define VSWITCH_MAX_BODY (64 * 1024)
/* The code of a DEVICE_ERROR when nothing of the request went out. */
#define VSWITCH_UNSENT 1

typedef struct {
  char *url, *pin;
  gboolean post;
  char **headers;
  long timeout_ms;
} VswitchRequest;

void vswitch_request_free(gpointer request);
/* Blocks: for a thread. `STATUS BODY`, all in one line, or NULL with an error. */
char *vswitch_https_do(const VswitchRequest *request, GCancellable *cancellable, GError **error);

#endif
