#include "ui/view.h"

#include <string.h>

const Meter *
seat_meter(const Ui *ui, NodeId id)
{
  const Meter *own = meters_seat_rx(state_meters(ui->state), id);
  const Meter *served = meters_seat_served(state_meters(ui->state), id);
  gboolean is_there = own && !meter_is_stale(own, ui_now(ui));
  return is_there || !served || (own && meter_is_stale(served, ui_now(ui))) ? own : served;
}

/* The limit that a full bar stands for: what one booting client can take at most, as long as no
 * seat takes more; else a seat's own port. */
double
seats_full_scale(const Ui *ui)
{
  const Layout *layout = state_layout(ui->state);
  double limit = layout->boot.nfs_cap * 8, port = 0;
  gboolean above = FALSE;
  for (guint i = 0; i < layout->n_nodes; i++) {
    const LayoutNode *node = &layout->nodes[i];
    if (node->kind != NODE_CLIENT)
      continue;
    port = MAX(port, layout_payload(node->speed));
    Traffic traffic = traffic_of_seat(ui, i);
    above = above || MAX(traffic.down, traffic.up) > limit * 1.01;
  }
  return above || limit > port ? port : limit;
}

/* Power on was seen, and nothing since: then it is the first stage's turn. */
static Stage
shown_stage(const Ui *ui, const NodeState *node)
{
  return node->stage == STAGE_NONE || node->stage == state_login(ui->state) ? 1 : node->stage;
}

static const char *
booting_tile(const Ui *ui, const Canvas *canvas, const NodeState *node, double rate)
{
  Stage stage = shown_stage(ui, node);
  if (stage + 1 == state_login(ui->state) && rate > 0.005 * ui->full_scale)
    return canvas_level(canvas, rate / ui->full_scale);
  return state_stage_letter(ui->state, stage);
}

const char *
seat_tile(const Ui *ui, const Canvas *canvas, NodeId id, Style *style)
{
  const NodeState *node = state_node(ui->state, id);
  Traffic traffic = traffic_of_seat(ui, id);
  double rate = MAX(traffic.down, traffic.up);

  if (node->fault) {
    *style = STYLE_ERROR;
    return "!";
  }
  if (node->power == POWER_UNKNOWN) {
    *style = STYLE_WARNING;
    return "?";
  }
  if (node->power == POWER_OFF) {
    *style = STYLE_OFF;
    return node->reserved ? "L" : "-";
  }
  if (traffic.meter && meter_is_stale(traffic.meter, ui_now(ui))) {
    *style = STYLE_WARNING;
    return "~";
  }
  *style = node->booting ? STYLE_BOOTING : STYLE_UP;
  if (node->booting)
    return booting_tile(ui, canvas, node, rate);
  if (rate > 0.005 * ui->full_scale)
    return canvas_level(canvas, rate / ui->full_scale);
  return node->in_use ? "u" : node->reserved ? "L" : canvas->ascii ? "." : "·";
}

/* The first columns of it will be shown. */
const char *
seat_word(const Ui *ui, NodeId id, Style *style)
{
  const NodeState *node = state_node(ui->state, id);
  if (node->fault) {
    *style = STYLE_ERROR;
    return node->stage == STAGE_NONE || node->stage == state_login(ui->state)
               ? "error"
               : state_stage_name(ui->state, node->stage);
  }
  switch (node->power) {
  case POWER_UNKNOWN:
    *style = STYLE_WARNING;
    return "?";
  case POWER_OFF:
    *style = STYLE_OFF;
    return "off";
  case POWER_ON:
    break;
  }
  *style = node->booting ? STYLE_BOOTING : STYLE_UP;
  if (node->booting)
    return state_stage_name(ui->state, shown_stage(ui, node));
  return node->in_use ? "used" : "up";
}

const char *
outcome_word(SeatOutcome outcome, Style *style)
{
  static const struct {
    const char *word;
    Style style;
  } words[] = {[SEAT_WAITING] = {"waits", STYLE_OFF},
               [SEAT_RUNNING] = {"runs", STYLE_UP},
               [SEAT_OK] = {"ok", STYLE_NORMAL},
               [SEAT_FAILED] = {"failed", STYLE_ERROR}};
  *style = words[outcome].style;
  return words[outcome].word;
}

/* A port's first letter and the number it ends with. */
static void
port_short(const char *name, char out[8])
{
  const char *number = seat_number(name);
  g_snprintf(out, 8, "%c%s", name[0], g_ascii_isdigit(*number) ? number : "");
}

void
seat_port(const Ui *ui, NodeId id, char out[8])
{
  const Layout *layout = state_layout(ui->state);
  const LayoutNode *node = layout_node(layout, id);
  int port = state_node(ui->state, id)->port;
  const LayoutServer *server =
      node->server == NODE_NONE ? NULL : layout_node(layout, node->server)->as_server;
  out[0] = '\0';
  if (!server || !server->n_bonds || port < 0)
    return;
  const LayoutBond *bond = &server->bonds[0];
  port_short(server->ports[bond->ports[port]].name, out);
  for (guint i = 0; i < bond->n_ports; i++) {
    char other[8];
    port_short(server->ports[bond->ports[i]].name, other);
    if ((int)i != port && g_str_equal(out, other)) /* enp1s0 and enp2s0: then by its place */
      g_snprintf(out, 8, "#%d", port);
  }
}
