/* The table of Net: a row a policy, for one era of the kernel. */
#include "ui/view.h"

#include <string.h>

#define POLICIES (BOND_VLAN_SRCMAC + 1)
#define NAME_COLUMNS 13
#define NOW_COLUMNS 6
#define TOTAL_COLUMNS 8
#define LISTED_PORTS 8 /* more are told as their range */

/* The first server whose bond chooses its port by hash; NODE_NONE. */
static NodeId
hashing_server(const Ui *ui)
{
  const Layout *layout = state_layout(ui->state);
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutServer *server = layout->nodes[id].as_server;
    gboolean on;
    if (server && server->n_bonds && whatif_seats(ui, id, &on) > 0 &&
        (g_str_equal(server->bonds[0].mode, "balance-xor") ||
         g_str_equal(server->bonds[0].mode, "802.3ad")))
      return id;
  }
  return NODE_NONE;
}

int
whatif_rows(const Ui *ui)
{
  return hashing_server(ui) == NODE_NONE ? 0 : 2 + POLICIES;
}

char *
whatif_seats_text(const WhatIf *result, gboolean ascii)
{
  g_autoptr(GString) text = g_string_new(NULL);
  guint least = G_MAXUINT, most = 0;
  for (guint i = 0; i < result->n_ports; i++) {
    least = MIN(least, result->seats[i]);
    most = MAX(most, result->seats[i]);
    g_string_append_printf(text, "%s%u", i == 0 ? "" : ascii ? ", " : " · ", result->seats[i]);
  }
  if (result->n_unplaced)
    return g_strdup("");
  return result->n_ports <= LISTED_PORTS ? g_strdup(text->str)
                                         : g_strdup_printf("%u to %u a port", least, most);
}

/* Where a row's numbers stand. */
static void
place_columns(Area area, guint n_ports, int *ports, int *width)
{
  *ports = area.column + 2 + NAME_COLUMNS + NOW_COLUMNS;
  *width = CLAMP((int)n_ports * 5, 20, MAX(20, area.columns - *ports - TOTAL_COLUMNS));
}

static BondEra
shown_era(const Ui *ui, const BondState *now)
{
  return ui->whatif_era < 0 ? now->era : (BondEra)ui->whatif_era;
}

static void
draw_policy(const Ui *ui, Canvas *canvas, int row, Area area, NodeId server, BondPolicy policy)
{
  const BondState *now = state_bond(ui->state, server, 0);
  BondEra era = shown_era(ui, now);
  gboolean is_now = policy == now->policy && era == now->era;
  int at = area.column + 2, ports, width;
  WhatIf result;
  whatif_compute(ui, server, policy, era, &result);
  place_columns(area, result.n_ports, &ports, &width);
  canvas_put(canvas, row, at, NAME_COLUMNS, is_now ? STYLE_FOCUS : STYLE_NORMAL,
             bond_policy_name(policy));
  canvas_put(canvas, row, at + NAME_COLUMNS, NOW_COLUMNS, STYLE_FOCUS, is_now ? "now" : "");
  if (result.n_unplaced) {
    canvas_put(canvas, row, ports, -1, STYLE_OFF,
               policy == BOND_LAYER3_4 ? "by source port, drawn at mount: run it to see"
                                       : "no port can be used");
  } else {
    g_autofree char *seats = whatif_seats_text(&result, canvas->ascii);
    g_autofree char *total = rate_text(ui, result.total);
    canvas_put(canvas, row, ports, width, STYLE_NORMAL, seats);
    canvas_put_right(canvas, row, ports + width, TOTAL_COLUMNS, STYLE_NORMAL, total);
    canvas_put(canvas, row, ports + width + TOTAL_COLUMNS + 3, -1,
               *result.full ? STYLE_WARNING : STYLE_OFF, *result.full ? result.full : "nothing");
  }
  whatif_clear(&result);
}

void
whatif_draw(const Ui *ui, Canvas *canvas, Area area)
{
  NodeId server = hashing_server(ui);
  gboolean on;
  if (server == NODE_NONE)
    return;
  guint n = whatif_seats(ui, server, &on);
  const BondState *now = state_bond(ui->state, server, 0);
  const LayoutNode *node = layout_node(state_layout(ui->state), server);
  BondEra era = shown_era(ui, now);
  g_autofree char *most = rate_text(ui, state_layout(ui->state)->boot.nfs_cap * 8);
  g_autofree char *title = g_strdup_printf("What if %u seats read, %s each at most", n, most);
  g_autofree char *right =
      g_strdup_printf("hash of Linux %s%s", bond_era_name(era), era == now->era ? ", as now" : "");
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_TITLE, title, STYLE_TITLE,
                  right);
  int ports, width;
  place_columns(area, node->as_server->bonds[0].n_ports, &ports, &width);
  canvas_put(canvas, area.row + 1, ports, -1, STYLE_OFF, "seats on each port");
  canvas_put_right(canvas, area.row + 1, ports + width, TOTAL_COLUMNS, STYLE_OFF, "all");
  canvas_put(canvas, area.row + 1, ports + width + TOTAL_COLUMNS + 3, -1, STYLE_OFF, "full");
  for (int i = 0; i < POLICIES && i + 2 < area.rows; i++)
    draw_policy(ui, canvas, area.row + 2 + i, area, server, (BondPolicy)i);
}
