/* The way to a device: bytes over a serial line, TCP or Telnet, or whole requests over HTTPS.
 *
 * Everything is told from the main loop, and nothing from within vswitch_line_open() or _write().
 * Threading: the default main context's thread only.
 */
#ifndef PULT_VSWITCH_LINE_H
#define PULT_VSWITCH_LINE_H

#include "backends/vswitch/device.h"

typedef struct VswitchLine VswitchLine;

typedef struct {
  void (*opened)(gpointer data);
  /* Of HTTPS one whole reply, `STATUS BODY`. */
  void (*heard)(const char *bytes, gsize n, gpointer data);
  /* It could not be opened, or is gone: CAUSE says it. It may be opened again. UNSENT: what was
   * written last did not go out, known of HTTPS alone. */
  void (*broke)(const char *cause, gboolean unsent, gpointer data);
} VswitchLineHooks;

typedef struct {
  const Device *device;
  DeviceWay way;
  const char *address; /* HOST or HOST:PORT; the file of a serial line */
  const char *pin;     /* of HTTPS: `sha256//...` of the server's public key; NULL: its CA counts */
} VswitchPlace;

/* DEVICE is borrowed, the rest of PLACE copied. Connects to nothing. */
VswitchLine *vswitch_line_new(const VswitchPlace *place, const VswitchLineHooks *hooks,
                              gpointer data);
/* Closes it. Takes NULL. */
void vswitch_line_free(VswitchLine *line);
/* It must not be open, nor about to be. */
void vswitch_line_open(VswitchLine *line);
/* Nothing is told of it any more until it is opened again. */
void vswitch_line_close(VswitchLine *line);
/* It is open. What it cannot send at once it keeps; HEADERS only of HTTPS, NULL: none. */
void vswitch_line_write(VswitchLine *line, const char *bytes, gsize n, const char *const *headers);
/* What has come by now is told, before anything is asked. */
void vswitch_line_drain(VswitchLine *line);
/* Whether something written has not gone out yet. */
gboolean vswitch_line_is_writing(const VswitchLine *line);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(VswitchLine, vswitch_line_free)

#endif
