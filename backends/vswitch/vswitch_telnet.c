/* libtelnet.h wants size_t. */
#include <stddef.h>

#include <libtelnet.h>

#include "backends/vswitch/vswitch_ways.h"

struct VswitchTelnet {
  telnet_t *state;
  VswitchBytes heard, send;
  gpointer data;
  gboolean broken;
};

static void
on_event(telnet_t *state, telnet_event_t *event, void *data)
{
  VswitchTelnet *telnet = data;
  (void)state;

  if (event->type == TELNET_EV_DATA)
    telnet->heard(event->data.buffer, event->data.size, telnet->data);
  else if (event->type == TELNET_EV_SEND)
    telnet->send(event->data.buffer, event->data.size, telnet->data);
  else if (event->type == TELNET_EV_ERROR)
    telnet->broken = TRUE;
}

/* A device may echo and need no line turns; whatever else it proposes is declined by the library,
 * and each only once, whatever it repeats. */
VswitchTelnet *
vswitch_telnet_new(VswitchBytes heard, VswitchBytes send, gpointer data)
{
  static const telnet_telopt_t options[] = {{TELNET_TELOPT_ECHO, TELNET_WONT, TELNET_DO},
                                            {TELNET_TELOPT_SGA, TELNET_WILL, TELNET_DO},
                                            {TELNET_TELOPT_BINARY, TELNET_WILL, TELNET_DO},
                                            {-1, 0, 0}};
  VswitchTelnet *telnet = g_new0(VswitchTelnet, 1);

  telnet->heard = heard;
  telnet->send = send;
  telnet->data = data;
  telnet->state = telnet_init(options, on_event, 0, telnet);
  return telnet;
}

void
vswitch_telnet_free(VswitchTelnet *telnet)
{
  if (telnet == NULL)
    return;
  telnet_free(telnet->state);
  g_free(telnet);
}

gboolean
vswitch_telnet_receive(VswitchTelnet *telnet, const char *bytes, gsize n)
{
  telnet_recv(telnet->state, bytes, n);
  return !telnet->broken;
}

/* Not telnet_printf(): the end of a line is what the description says. */
void
vswitch_telnet_say(VswitchTelnet *telnet, const char *bytes, gsize n)
{
  telnet_send(telnet->state, bytes, n);
}
