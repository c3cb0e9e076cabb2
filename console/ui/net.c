/* Net: every port, switch and link as a tree from the servers outward, with what it carries; below
 * it what other hashes would do. */
#include "ui/view.h"

#include "model/units.h"

#include <math.h>
#include <string.h>

#define NUMBER_COLUMNS 7
#define BAR_COLUMNS 12
#define LACK_COLUMNS 4 /* more than a number takes: `stale 17 s` */
#define PERCENT_COLUMNS 6
#define BAR_FROM_COLUMNS 60
#define HISTORY_FROM_COLUMNS 110
#define HISTORY_COLUMNS 40
#define TITLE_COLUMNS 40 /* from which the heading says what the sign means */
#define LEAST_ROWS 8

typedef struct {
  char *text;
  double capacity; /* bit/s; -1: a row without figures */
  Traffic traffic; /* its meter, of the history: NULL when several were added up */
  gboolean down;
  int block; /* of seats; -1 */
} Row;

typedef struct {
  const Ui *ui;
  const Layout *layout;
  gboolean ascii;
  GArray *rows;
  GArray *groups;
  NodeId n_switches; /* and routers, whose ids come next */
  gboolean *drawn;   /* switches, by id */
} Tree;

static void
row_clear(gpointer row)
{
  g_free(((Row *)row)->text);
}

static void
add_row(Tree *tree, char *text, double capacity, const Traffic *traffic, gboolean down)
{
  Row row = {text, capacity, *traffic, down, -1};
  g_array_append_val(tree->rows, row);
}

static const char *
branch(const Tree *tree, gboolean last)
{
  if (tree->ascii)
    return last ? "`- " : "|- ";
  return last ? "└─ " : "├─ ";
}

static const char *
trunk(const Tree *tree, gboolean last)
{
  return last ? "   " : tree->ascii ? "|  " : "│  ";
}

static const Traffic no_traffic = {.down = -1, .up = -1};

static void
add_traffic(Traffic *sum, const Traffic *part)
{
  traffic_add(&sum->down, part->down);
  traffic_add(&sum->up, part->up);
  sum->goes_up = traffic_goes_up(sum->down, sum->up);
}

/* ---- A server and its ports --------------------------------------------------------------------
 */

static char *
bond_note(const Tree *tree, NodeId server, guint b, guint line)
{
  const LayoutBond *bond = &layout_node(tree->layout, server)->as_server->bonds[b];
  const BondState *now = state_bond(tree->ui->state, server, b);
  if (line == 0)
    return g_strdup_printf("%s  %s  %s", bond->name, bond->mode, bond_policy_name(now->policy));
  WhatIf placed;
  whatif_compute(tree->ui, server, now->policy, now->era, &placed);
  g_autofree char *seats = b == 0 ? whatif_seats_text(&placed, tree->ascii) : g_strdup("");
  whatif_clear(&placed);
  return *seats ? g_strdup_printf("%s seats", seats) : g_strdup("");
}

/* The bracket that holds a bond's ports together, and what it says beside the I-th of them. */
static char *
bracket(const Tree *tree, NodeId server, guint b, guint i)
{
  static const char *const pieces[] = {"┐", "│", "┘", "─"};
  static const char *const ascii[] = {"\\", "|", "/", "-"};
  guint n = layout_node(tree->layout, server)->as_server->bonds[b].n_ports;
  guint piece = n == 1 ? 3 : i == 0 ? 0 : i + 1 == n ? 2 : 1;
  guint first = n > 2 ? 1 : 0; /* the line that the note begins on */
  g_autofree char *note =
      i == first || i == first + 1 ? bond_note(tree, server, b, i - first) : g_strdup("");
  return g_strdup_printf("%s %s", (tree->ascii ? ascii : pieces)[piece], note);
}

static void
add_ports(Tree *tree, const LayoutNode *node)
{
  const LayoutServer *server = node->as_server;
  guint width = 0;
  for (guint p = 0; p < server->n_ports; p++)
    width = MAX(width, (guint)strlen(server->ports[p].name));
  for (guint p = 0; p < server->n_ports; p++) {
    const LayoutPort *port = &server->ports[p];
    Traffic traffic = traffic_of_port(tree->ui, node->id, p);
    g_autofree char *beside = g_strdup("");
    for (guint i = 0; port->bond >= 0 && i < server->bonds[port->bond].n_ports; i++) {
      if (server->bonds[port->bond].ports[i] == p) {
        g_free(beside);
        beside = bracket(tree, node->id, (guint)port->bond, i);
      }
    }
    add_row(tree,
            g_strdup_printf("%s%-*s  %s", branch(tree, p + 1 == server->n_ports), (int)width,
                            port->name, beside),
            state_port_capacity(tree->ui->state, node->id, p), &traffic,
            !state_port_up(tree->ui->state, node->id, p));
  }
}

static void
add_server(Tree *tree, const LayoutNode *node)
{
  guint cores = node->as_server->cores;
  g_autofree char *figures = server_figures_text(tree->ui, node);
  add_row(tree,
          g_strdup_printf("%s  %u core%s   %s", node->name, cores, cores == 1 ? "" : "s", figures),
          -1, &no_traffic, FALSE);
  add_ports(tree, node);
}

/* ---- Switches ----------------------------------------------------------------------------------
 */

/* What the servers on a switch have to give, and give. */
static void
add_switch_head(Tree *tree, const LayoutNode *node, const char *indent)
{
  Traffic sum = no_traffic;
  double capacity = 0;
  for (NodeId id = 0; id < tree->layout->n_nodes; id++) {
    const LayoutNode *server = layout_node(tree->layout, id);
    if (!server->as_server || server->attached != node->id)
      continue;
    for (guint p = 0; p < server->as_server->n_ports; p++) {
      Traffic port = traffic_of_port(tree->ui, id, p);
      capacity += state_port_capacity(tree->ui->state, id, p);
      add_traffic(&sum, &port);
    }
  }
  add_row(tree, g_strconcat(indent, node->name, NULL), capacity > 0 ? capacity : -1, &sum, FALSE);
}

/* Seats of a room on one switch. */
typedef struct {
  NodeId on;
  const LayoutRoom *room;
  double capacity; /* bit/s */
  Traffic traffic;
  GArray *nodes;
} Group;

static void
group_clear(gpointer group)
{
  g_array_unref(((Group *)group)->nodes);
}

/* That of ROOM and switch ON, which is most often the last; groups of a room stand together. */
static Group *
group_of(GArray *groups, const LayoutRoom *room, NodeId on)
{
  for (guint i = groups->len; i > 0; i--) {
    Group *group = &g_array_index(groups, Group, i - 1);
    if (group->room != room)
      break;
    if (group->on == on)
      return group;
  }
  Group group = {on, room, 0, no_traffic, g_array_new(FALSE, FALSE, sizeof(NodeId))};
  g_array_append_val(groups, group);
  return &g_array_index(groups, Group, groups->len - 1);
}

static GArray *
group_seats(const Ui *ui)
{
  GArray *groups = g_array_new(FALSE, FALSE, sizeof(Group));
  g_array_set_clear_func(groups, group_clear);
  for (guint r = 0; r < ui->n_rooms; r++) {
    const LayoutRoom *room = &ui->rooms[r];
    for (guint i = 0; i < room->n_seats; i++) {
      const LayoutNode *node = layout_node(state_layout(ui->state), room->seats[i]);
      Traffic seat = traffic_of_seat(ui, node->id);
      Group *group = group_of(groups, room, node->attached);
      g_array_append_val(group->nodes, node->id);
      group->capacity += layout_payload(node->speed);
      add_traffic(&group->traffic, &seat);
    }
  }
  return groups;
}

static void
add_group(Tree *tree, const char *indent, gboolean last, const Group *group)
{
  const NodeId *nodes = (const NodeId *)(gpointer)group->nodes->data;
  g_autofree char *set = ui_fold(tree->ui, nodes, group->nodes->len);
  add_row(tree, g_strdup_printf("%s%s%s  %s", indent, branch(tree, last), group->room->title, set),
          group->capacity, &group->traffic, FALSE);
  g_array_index(tree->rows, Row, tree->rows->len - 1).block = (int)(group->room - tree->ui->rooms);
}

static void
add_router(Tree *tree, const char *indent, gboolean last, const LayoutNode *router)
{
  add_row(tree, g_strdup_printf("%s%s%s  router", indent, branch(tree, last), router->name),
          layout_payload(router->speed), &no_traffic, FALSE);
}

static gboolean
leads_on(const Tree *tree, const LayoutLink *link, NodeId from, NodeId *to)
{
  *to = link->from == from ? link->to : link->from;
  return (link->from == from || link->to == from) && !tree->drawn[*to];
}

static char *
link_row_text(const Tree *tree, const LayoutLink *link, NodeId to)
{
  g_autoptr(GString) text = g_string_new(layout_node(tree->layout, to)->name);
  g_string_append(text, "  ");
  for (int i = 0; i < 12; i++)
    g_string_append(text, link_line(tree->ascii, link->speed));
  return g_strdup(text->str);
}

static void add_children(Tree *tree, NodeId id, const char *indent);

/* The row of a link is that of the switch behind it; what hangs there follows. */
static void
add_link(Tree *tree, guint l, NodeId to, const char *indent, gboolean last)
{
  const LayoutLink *link = &tree->layout->links[l];
  const CoreState *state = tree->ui->state;
  Traffic traffic = traffic_of_link(tree->ui, l);
  g_autofree char *text = link_row_text(tree, link, to);
  add_row(tree, g_strconcat(indent, branch(tree, last), text, NULL), state_link_capacity(state, l),
          &traffic, !state_link_up(state, l));
  g_autofree char *deeper = g_strconcat(indent, trunk(tree, last), NULL);
  add_children(tree, to, deeper);
}

static const Group *
group_on(const Tree *tree, guint i, NodeId on)
{
  const Group *group = &g_array_index(tree->groups, Group, i);
  return group->on == on ? group : NULL;
}

static gboolean
is_router_on(const LayoutNode *node, NodeId on)
{
  return node->kind == NODE_ROUTER && node->attached == on;
}

static guint
count_children(const Tree *tree, NodeId id)
{
  guint n = 0;
  NodeId to;
  for (guint i = 0; i < tree->groups->len; i++)
    n += group_on(tree, i, id) != NULL;
  for (NodeId i = 0; i < tree->n_switches; i++)
    n += is_router_on(layout_node(tree->layout, i), id);
  for (guint l = 0; l < tree->layout->n_links; l++)
    n += leads_on(tree, &tree->layout->links[l], id, &to);
  return n;
}

static void
add_children(Tree *tree, NodeId id, const char *indent)
{
  NodeId to;
  tree->drawn[id] = TRUE;
  guint left = count_children(tree, id);
  for (guint i = 0; i < tree->groups->len; i++) {
    if (group_on(tree, i, id))
      add_group(tree, indent, --left == 0, group_on(tree, i, id));
  }
  for (NodeId i = 0; i < tree->n_switches; i++) {
    if (is_router_on(layout_node(tree->layout, i), id))
      add_router(tree, indent, --left == 0, layout_node(tree->layout, i));
  }
  for (guint l = 0; l < tree->layout->n_links; l++) {
    if (leads_on(tree, &tree->layout->links[l], id, &to))
      add_link(tree, l, to, indent, --left == 0);
  }
}

/* The servers, then the switches from theirs outward, then what no link leads to. */
static void
build(Tree *tree)
{
  for (NodeId id = 0; id < tree->layout->n_nodes; id++) {
    if (tree->layout->nodes[id].as_server)
      add_server(tree, &tree->layout->nodes[id]);
  }
  for (int with_server = 1; with_server >= 0; with_server--) {
    for (NodeId id = 0; id < tree->layout->n_nodes; id++) {
      const LayoutNode *node = layout_node(tree->layout, id);
      NodeId root = node->kind == NODE_SWITCH && !with_server ? id
                    : node->as_server && with_server          ? node->attached
                                                              : NODE_NONE;
      if (root == NODE_NONE || tree->drawn[root])
        continue;
      add_switch_head(tree, layout_node(tree->layout, root), "   ");
      add_children(tree, root, "   ");
    }
  }
}

/* ---- Drawing -----------------------------------------------------------------------------------
 */

/* Where the columns of figures begin; those that have no room are as wide as nothing. */
typedef struct {
  int text, capacity, now, up, sign, bar, percent, history; /* text: its width; 0: none */
  gboolean bars;
} Columns;

static Columns
place_columns(Area area)
{
  gboolean bars = area.columns >= BAR_FROM_COLUMNS;
  gboolean history = area.columns >= HISTORY_FROM_COLUMNS;
  int right = area.column + area.columns - 1 - (history ? HISTORY_COLUMNS : 0);
  Columns columns = {.bars = bars, .history = history ? right + 2 : 0};
  columns.percent = right - PERCENT_COLUMNS;
  columns.bar = columns.percent - (bars ? BAR_COLUMNS : 0);
  columns.sign = columns.bar - (bars ? 2 : 1);
  columns.up = history ? columns.sign - NUMBER_COLUMNS : 0;
  columns.now = (history ? columns.up : columns.sign) - NUMBER_COLUMNS;
  columns.capacity = columns.now - (bars ? NUMBER_COLUMNS : 0);
  columns.text = columns.capacity - area.column - 1;
  return columns;
}

/* What the direction that carries more carries, bit/s; -1: no meter. */
static double
rate_of(const Row *entry)
{
  if (entry->traffic.meter)
    return entry->traffic.meter->rate;
  return entry->traffic.goes_up ? entry->traffic.up : entry->traffic.down;
}

static void
draw_percent(Canvas *canvas, int row, int column, const Row *entry, Style style)
{
  g_autofree char *percent = units_fixed(100 * rate_of(entry) / entry->capacity, 0);
  g_autofree char *text = g_strdup_printf("%s %%", percent);
  canvas_put_right(canvas, row, column, PERCENT_COLUMNS, style, text);
}

static void
draw_figures(const Ui *ui, Canvas *canvas, int row, const Columns *columns, const Row *entry,
             Style style)
{
  g_autofree char *capacity = rate_text(ui, entry->capacity);
  double rate = rate_of(entry);
  const Meter *meter = entry->traffic.meter;
  double down = entry->traffic.down, up = entry->traffic.up;
  g_autofree char *now =
      columns->up && down < 0 ? g_strdup("-") : rate_text(ui, columns->up ? down : rate);
  g_autofree char *sent = up < 0 ? g_strdup("-") : rate_text(ui, up);
  g_autofree char *lack = rate < 0 || meter ? stale_text(ui, meter) : NULL;
  if (columns->bars)
    canvas_put_right(canvas, row, columns->capacity, NUMBER_COLUMNS, STYLE_NORMAL, capacity);
  if (lack) { /* in the bar's place, else a little over the number's */
    Style dim = rate < 0 ? STYLE_OFF : STYLE_WARNING;
    if (columns->bars)
      canvas_put(canvas, row, columns->bar, BAR_COLUMNS, dim, lack);
    else
      canvas_put_right(canvas, row, columns->now - LACK_COLUMNS, NUMBER_COLUMNS + LACK_COLUMNS, dim,
                       lack);
    return;
  }
  canvas_put_right(canvas, row, columns->now, NUMBER_COLUMNS, style, now);
  if (columns->up)
    canvas_put_right(canvas, row, columns->up, NUMBER_COLUMNS, style, sent);
  canvas_put(canvas, row, columns->sign, 1, style, traffic_sign(canvas, entry->traffic.goes_up));
  if (entry->capacity <= 0)
    return;
  if (columns->bars)
    canvas_bar(canvas, row, columns->bar, BAR_COLUMNS,
               style == STYLE_NORMAL ? STYLE_UP : STYLE_WARNING, rate / entry->capacity);
  draw_percent(canvas, row, columns->percent, entry, style);
  if (columns->history && meter)
    rate_draw_history(canvas, row, columns->history, HISTORY_COLUMNS - 2, meter, entry->capacity);
}

static void
draw_row(const Ui *ui, Canvas *canvas, int row, Area area, const Row *entry)
{
  Columns columns = place_columns(area);
  gboolean full = entry->capacity > 0 && rate_is_full(rate_of(entry), entry->capacity);
  Style style = entry->down ? STYLE_ERROR : full ? STYLE_WARNING : STYLE_NORMAL;
  gboolean figures = entry->capacity >= 0 || entry->down;
  canvas_put(canvas, row, area.column + 1, figures ? columns.text : area.columns - 2,
             style == STYLE_NORMAL && entry->block == (int)ui->room ? STYLE_FOCUS : style,
             entry->text);
  if (entry->block >= 0)
    spot_mark(ui, row, area.column, area.columns, SPOT_BLOCK, (guint)entry->block);
  if (entry->down)
    canvas_put_right(canvas, row, columns.now, NUMBER_COLUMNS, style, "down");
  else if (figures)
    draw_figures(ui, canvas, row, &columns, entry, style);
}

static void
put_heading(Canvas *canvas, int row, int column, int width, const char *text)
{
  g_autofree char *padded = g_strdup_printf(" %s", text);
  canvas_put_right(canvas, row, column, width, STYLE_TITLE, padded);
  canvas_put(canvas, row, column + width, 1, STYLE_TITLE, " ");
}

static char *
tree_title(const Canvas *canvas, const GArray *rows, int scroll, int shown, int columns)
{
  GString *title = g_string_new("Net");
  int n = (int)rows->len;
  gboolean goes_up = FALSE;
  for (int i = 0; i < n; i++)
    goes_up = goes_up || g_array_index(rows, Row, i).traffic.goes_up;
  if (n > shown)
    g_string_append_printf(title, "  %d-%d of %d", scroll + 1, MIN(scroll + shown, n), n);
  if (goes_up && columns >= TITLE_COLUMNS)
    g_string_append_printf(title, "  %s to servers", traffic_sign(canvas, TRUE));
  return g_string_free(title, FALSE);
}

static void
draw_tree(Ui *ui, Canvas *canvas, Area area, const GArray *rows)
{
  int *scroll = &ui->scroll[VIEW_NET], n = (int)rows->len, shown = area.rows - 1;
  Columns columns = place_columns(area);
  *scroll = CLAMP(*scroll, 0, MAX(0, n - shown));
  g_autofree char *title = tree_title(canvas, rows, *scroll, shown, columns.text);
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, title, STYLE_TITLE, "");
  if (columns.bars) {
    put_heading(canvas, area.row, columns.capacity - 2, NUMBER_COLUMNS + 2, "capacity");
    canvas_printf(canvas, area.row, columns.bar - 1, -1, STYLE_TITLE, " %s ", rate_unit(ui));
  }
  put_heading(canvas, area.row, columns.now, NUMBER_COLUMNS, "now");
  if (columns.up)
    put_heading(canvas, area.row, columns.up, NUMBER_COLUMNS, canvas->ascii ? "^ now" : "↑ now");
  put_heading(canvas, area.row, columns.percent, PERCENT_COLUMNS, "full");
  for (int i = 0; i < MIN(shown, n); i++)
    draw_row(ui, canvas, area.row + 1 + i, area, &g_array_index(rows, Row, i + *scroll));
}

static void
net_draw(Ui *ui, Canvas *canvas, Area area)
{
  const Layout *layout = state_layout(ui->state);
  Tree tree = {.ui = ui, .layout = layout, .ascii = canvas->ascii};
  tree.rows = g_array_new(FALSE, FALSE, sizeof(Row));
  tree.drawn = g_new0(gboolean, layout->n_nodes + 1);
  g_array_set_clear_func(tree.rows, row_clear);
  tree.groups = group_seats(ui);
  while (tree.n_switches < layout->n_nodes && layout->nodes[tree.n_switches].kind <= NODE_ROUTER)
    tree.n_switches++;
  build(&tree);
  int below = whatif_rows(ui);
  if (area.rows - below < LEAST_ROWS) /* one of the two: the table once `w` was pressed */
    below = ui->whatif_era < 0 ? 0 : MIN(below, area.rows);
  Area top = {area.row, area.column, MIN(area.rows - below, (int)tree.rows->len + 2), area.columns};
  if (top.rows > 1)
    draw_tree(ui, canvas, top, tree.rows);
  if (below)
    whatif_draw(ui, canvas,
                (Area){area.row + top.rows, area.column, area.rows - top.rows, area.columns});
  g_array_unref(tree.rows);
  g_array_unref(tree.groups);
  g_free(tree.drawn);
}

static void
net_move(Ui *ui, Move move)
{
  ui_scroll(ui, move, FALSE);
}

const View view_net = {"net", "every port and link, what it carries; what other hashes would do",
                       net_draw, net_move};
