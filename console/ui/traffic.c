/* Which way what is carried goes: to the seats (reads), or up to their server (writes). */
#include "ui/view.h"

/* bit/s: what is shown as 0 is worth no sign. */
#define LEAST_UP 5e5
#define THICK 1e10 /* bit/s from which a link is drawn with a double line */

gboolean
traffic_goes_up(double down, double up)
{
  return up >= LEAST_UP && up > down;
}

static double
fresh_rate(const Ui *ui, const Meter *meter)
{
  return meter && !meter_is_stale(meter, ui_now(ui)) ? meter->rate : -1;
}

static Traffic
traffic_of(const Ui *ui, const Meter *down, const Meter *up)
{
  Traffic traffic = {.down = fresh_rate(ui, down), .up = fresh_rate(ui, up)};
  traffic.goes_up = traffic_goes_up(traffic.down, traffic.up);
  traffic.meter = traffic.goes_up || !down ? up : down;
  return traffic;
}

Traffic
traffic_of_seat(const Ui *ui, NodeId id)
{
  return traffic_of(ui, seat_meter(ui, id), meters_seat_tx(state_meters(ui->state), id));
}

Traffic
traffic_of_port(const Ui *ui, NodeId server, guint port)
{
  const Meters *meters = state_meters(ui->state);
  return traffic_of(ui, meters_port(meters, server, port, TRUE),
                    meters_port(meters, server, port, FALSE));
}

Traffic
traffic_of_link(const Ui *ui, guint link)
{
  const Meters *meters = state_meters(ui->state);
  gboolean out = ui->link_leads_out[link];
  return traffic_of(ui, meters_link(meters, link, out), meters_link(meters, link, !out));
}

void
traffic_add(double *sum, double rate)
{
  if (rate >= 0)
    *sum = MAX(*sum, 0) + rate;
}

const char *
traffic_sign(const Canvas *canvas, gboolean goes_up)
{
  return !goes_up ? "" : canvas->ascii ? "^" : "↑";
}

const char *
link_line(gboolean ascii, double speed)
{
  if (speed >= THICK)
    return ascii ? "=" : "═";
  return ascii ? "-" : "─";
}

/* Hops from the nearest server, by node. */
static guint *
distances(const Layout *layout)
{
  guint *hops = g_new(guint, layout->n_nodes + 1);
  gboolean nearer = TRUE;
  for (NodeId id = 0; id < layout->n_nodes; id++)
    hops[id] = G_MAXUINT - 1;
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    if (layout->nodes[id].as_server && layout->nodes[id].attached != NODE_NONE)
      hops[layout->nodes[id].attached] = 0;
  }
  while (nearer) {
    nearer = FALSE;
    for (guint l = 0; l < layout->n_links; l++) {
      guint *from = &hops[layout->links[l].from], *to = &hops[layout->links[l].to];
      nearer = nearer || *from > *to + 1 || *to > *from + 1;
      *from = MIN(*from, *to + 1);
      *to = MIN(*to, *from + 1);
    }
  }
  return hops;
}

gboolean *
traffic_links_out(const Layout *layout)
{
  gboolean *out = g_new(gboolean, layout->n_links + 1);
  g_autofree guint *hops = distances(layout);
  for (guint l = 0; l < layout->n_links; l++)
    out[l] = hops[layout->links[l].from] <= hops[layout->links[l].to];
  return out;
}
