/* The server's pane: every port, their sum, its threads, load and disk, and the lab's links. */
#include "ui/view.h"

#include "model/units.h"

#include <math.h>
#include <stdlib.h>

#define HISTORY_FROM_COLUMNS 60
#define NAME_COLUMNS 5
#define VALUE_COLUMNS 7 /* the sign of its direction follows */
#define BAR_MAX 20
#define LINK_COLUMNS 17

typedef struct {
  const Ui *ui;
  Canvas *canvas;
  Area area;
  int row; /* next */
} Pane;

static gboolean
has_room(const Pane *pane)
{
  return pane->row < pane->area.row + pane->area.rows;
}

static void
draw_rate(Pane *pane, const char *name, const Traffic *traffic, double capacity, gboolean up)
{
  const Meter *meter = traffic->meter;
  int column = pane->area.column, columns = pane->area.columns;
  int bar = MIN(columns - NAME_COLUMNS - VALUE_COLUMNS, BAR_MAX);
  int history = columns - NAME_COLUMNS - bar - VALUE_COLUMNS - 2;
  g_autofree char *stale = stale_text(pane->ui, meter);
  g_autofree char *label = text_tail(pane->canvas, name, NAME_COLUMNS - 1);
  canvas_put(pane->canvas, pane->row, column, NAME_COLUMNS, STYLE_NORMAL, label);
  column += NAME_COLUMNS;
  if (!up) {
    canvas_put(pane->canvas, pane->row, column, bar, STYLE_ERROR, "down");
  } else if (stale) {
    canvas_put(pane->canvas, pane->row, column, bar, meter ? STYLE_WARNING : STYLE_OFF, stale);
  } else {
    g_autofree char *text = rate_text(pane->ui, meter->rate);
    gboolean full = rate_is_full(meter->rate, capacity);
    canvas_bar(pane->canvas, pane->row, column, bar, full ? STYLE_WARNING : STYLE_UP,
               meter->rate / capacity);
    canvas_put_right(pane->canvas, pane->row, column + bar, VALUE_COLUMNS,
                     full ? STYLE_WARNING : STYLE_UP, text);
    canvas_put(pane->canvas, pane->row, column + bar + VALUE_COLUMNS, 1,
               full ? STYLE_WARNING : STYLE_UP, traffic_sign(pane->canvas, traffic->goes_up));
    if (columns >= HISTORY_FROM_COLUMNS)
      rate_draw_history(pane->canvas, pane->row, column + bar + VALUE_COLUMNS + 2, history, meter,
                        capacity);
  }
  pane->row++;
}

static void
draw_ports(Pane *pane, const LayoutNode *node)
{
  const CoreState *state = pane->ui->state;
  const LayoutServer *server = node->as_server;
  double down = -1, up = -1, capacity = 0;
  guint n_metered = 0, n_up = 0;
  for (guint p = 0; p < server->n_ports && has_room(pane); p++) {
    Traffic traffic = traffic_of_port(pane->ui, node->id, p);
    gboolean is_up = state_port_up(state, node->id, p);
    double port = state_port_capacity(state, node->id, p);
    draw_rate(pane, server->ports[p].name, &traffic, port, is_up);
    capacity += port;
    n_up += is_up;
    if (!is_up || (traffic.down < 0 && traffic.up < 0))
      continue;
    traffic_add(&down, traffic.down);
    traffic_add(&up, traffic.up);
    n_metered++;
  }
  if (!has_room(pane) || n_metered == 0)
    return;
  double sum = traffic_goes_up(down, up) ? up : MAX(down, 0);
  const char *sign = traffic_sign(pane->canvas, traffic_goes_up(down, up));
  g_autofree char *now = rate_text(pane->ui, sum), *full = rate_text(pane->ui, capacity);
  g_autofree char *text = n_metered < n_up
                              ? g_strdup_printf("%s%s by %u of %u", now, sign, n_metered, n_up)
                              : g_strdup_printf("%s%s / %s", now, sign, full);
  int column = pane->area.column + NAME_COLUMNS;
  int bar = MIN(pane->area.columns - NAME_COLUMNS - VALUE_COLUMNS, BAR_MAX) - VALUE_COLUMNS;
  canvas_put(pane->canvas, pane->row, pane->area.column, NAME_COLUMNS, STYLE_NORMAL, "all");
  canvas_bar(pane->canvas, pane->row, column, bar, STYLE_UP, capacity > 0 ? sum / capacity : 0);
  canvas_put_right(pane->canvas, pane->row, column + bar, 2 * VALUE_COLUMNS, STYLE_UP, text);
  pane->row++;
}

static const Meter *
server_meter(const Ui *ui, const LayoutNode *node, const char *counter)
{
  g_autofree char *name = g_strconcat(node->name, ".", counter, NULL);
  return meters_find(state_meters(ui->state), name);
}

/* Of the disk's rate where the layout gives it, else what it reads in the pane's unit. */
static char *
disk_text(const Ui *ui, const LayoutNode *node, const Meter *disk)
{
  double rate = node->as_server->disk_rate * 8;
  if (isinf(rate))
    return rate_text(ui, disk->rate);
  g_autofree char *percent = units_fixed(100 * disk->rate / rate, 0);
  return g_strdup_printf("%s %%", percent);
}

/* Threads busy, of how many; where no kernel tells that, what its NFS server answers a second. */
static char *
nfsd_text(const Ui *ui, const LayoutNode *node, const Meter *nfsd, const Meter *calls)
{
  g_autofree char *path = g_strconcat(node->name, ".nfsd", NULL);
  const char *threads = state_property(ui->state, path);
  g_autofree char *busy = units_fixed((nfsd ? nfsd : calls)->rate, 0);
  if (nfsd)
    return g_strdup_printf("%s/%s", busy, threads ? threads : "?");
  return g_strdup_printf("%s rpc/s", busy);
}

/* `nfsd 18/64   load 3.1   disk 2 %`, of what is metered; then of the others that they are not. */
char *
server_figures_text(const Ui *ui, const LayoutNode *node)
{
  const Meter *nfsd = server_meter(ui, node, "nfsd"), *calls = server_meter(ui, node, "calls");
  const Meter *load = server_meter(ui, node, "load"), *disk = server_meter(ui, node, "disk");
  const Meter *first = nfsd ? nfsd : calls ? calls : load ? load : disk;
  g_autofree char *stale =
      first && meter_is_stale(first, ui_now(ui)) ? stale_text(ui, first) : NULL;
  g_autofree char *busy = nfsd || calls ? nfsd_text(ui, node, nfsd, calls) : NULL;
  g_autofree char *average = load ? units_fixed(load->rate, 1) : NULL;
  g_autofree char *work = disk ? disk_text(ui, node, disk) : NULL;
  const char *const values[][2] = {{"nfsd", busy}, {"load", average}, {"disk", work}};
  g_autoptr(GString) text = g_string_new(stale), without = g_string_new(NULL);
  const char *gap = busy && average && work ? "   " : "  "; /* `no meter` takes its room */
  for (guint i = 0; i < G_N_ELEMENTS(values) && !stale; i++) {
    if (values[i][1])
      g_string_append_printf(text, "%s%s %s", text->len ? gap : "", values[i][0], values[i][1]);
    else
      g_string_append_printf(without, "%s%s", without->len ? ", " : "", values[i][0]);
  }
  if (without->len)
    g_string_append_printf(text, "%s%s no meter", text->len ? gap : "", without->str);
  return g_strdup(text->str);
}

static void
draw_figures(Pane *pane, const LayoutNode *node)
{
  g_autofree char *text = server_figures_text(pane->ui, node);
  if (has_room(pane))
    canvas_put(pane->canvas, pane->row++, pane->area.column, pane->area.columns, STYLE_NORMAL,
               text);
}

typedef struct {
  guint link;
  Traffic traffic;
  double fraction; /* of its fuller direction; -1: not known */
  gboolean down;
} LinkUse;

static LinkUse
link_use(const Ui *ui, guint link)
{
  Traffic traffic = traffic_of_link(ui, link);
  double capacity = state_link_capacity(ui->state, link);
  double rate = MAX(traffic.down, traffic.up);
  LinkUse use = {link, traffic, -1, !state_link_up(ui->state, link)};
  if (rate >= 0 && capacity > 0)
    use.fraction = rate / capacity;
  return use;
}

/* What is down, then the fullest; qsort() is not stable, so the index decides at last. */
static int
compare_use(gconstpointer a, gconstpointer b)
{
  const LinkUse *one = a, *other = b;
  if (one->down != other->down)
    return one->down ? -1 : 1;
  if (one->fraction != other->fraction)
    return one->fraction > other->fraction ? -1 : 1;
  return one->link < other->link ? -1 : 1;
}

static char *
link_text(const Pane *pane, const LinkUse *use)
{
  const Layout *layout = state_layout(pane->ui->state);
  const LayoutLink *link = &layout->links[use->link];
  g_autofree char *rate = use->down ? g_strdup("down") : stale_text(pane->ui, use->traffic.meter);
  if (!rate)
    rate = rate_text(pane->ui, use->traffic.meter->rate);
  return g_strdup_printf("%s %s %s  %s%s", layout_node(layout, link->from)->name,
                         link_line(pane->canvas->ascii, link->speed),
                         layout_node(layout, link->to)->name, rate,
                         traffic_sign(pane->canvas, use->traffic.goes_up));
}

static void
draw_link_uses(Pane *pane, const LinkUse *uses, guint n, int width)
{
  int across = MAX(1, (pane->area.columns + 2) / width);
  for (guint i = 0; i < n && has_room(pane); i++) {
    Style style = uses[i].down                        ? STYLE_ERROR
                  : rate_is_full(uses[i].fraction, 1) ? STYLE_WARNING
                                                      : STYLE_NORMAL;
    g_autofree char *text = link_text(pane, &uses[i]);
    canvas_put(pane->canvas, pane->row, pane->area.column + (int)i % across * width, width - 2,
               style, text);
    if ((int)i % across == across - 1)
      pane->row++;
  }
}

/* In the layout's order where all have room, else those that matter first. */
static void
draw_links(Pane *pane)
{
  guint n = state_layout(pane->ui->state)->n_links;
  g_autofree LinkUse *uses = g_new(LinkUse, n + 1);
  int width = LINK_COLUMNS;
  for (guint l = 0; l < n; l++) {
    uses[l] = link_use(pane->ui, l);
    g_autofree char *text = link_text(pane, &uses[l]);
    width = MAX(width, canvas_text_width(text) + 2);
  }
  width = MIN(width, pane->area.columns + 2);
  int rows = MAX(0, pane->area.row + pane->area.rows - pane->row);
  if ((int)n > rows * MAX(1, (pane->area.columns + 2) / width))
    qsort(uses, n, sizeof *uses, compare_use);
  draw_link_uses(pane, uses, n, width);
}

static char *
server_title(const Ui *ui, const LayoutNode *node)
{
  g_autoptr(GString) title = g_string_new(node->name);
  for (guint b = 0; b < node->as_server->n_bonds; b++)
    g_string_append_printf(title, "  %s %s", node->as_server->bonds[b].name,
                           bond_policy_name(state_bond(ui->state, node->id, b)->policy));
  return g_strdup(title->str);
}

void
server_draw(const Ui *ui, Canvas *canvas, Area area)
{
  const Layout *layout = state_layout(ui->state);
  Area inner = {area.row + 1, area.column + 2, area.rows - 2, area.columns - 4};
  Pane pane = {ui, canvas, inner, inner.row};
  gboolean first = TRUE;
  frame_draw_box(canvas, area);
  for (guint i = 0; i < layout->n_nodes; i++) {
    const LayoutNode *node = &layout->nodes[i];
    if (!node->as_server || !has_room(&pane))
      continue;
    g_autofree char *title = server_title(ui, node);
    if (first)
      frame_draw_heading(canvas, area, area.row, STYLE_TITLE, title, STYLE_TITLE, rate_unit(ui));
    else
      canvas_put(canvas, pane.row++, inner.column, inner.columns, STYLE_TITLE, title);
    spot_mark(ui, first ? area.row : pane.row - 1, area.column, area.columns, SPOT_KEY,
              UI_KEY_F1 + 4);
    first = FALSE;
    draw_ports(&pane, node);
    draw_figures(&pane, node);
  }
  if (layout->n_links)
    draw_links(&pane);
}

int
server_height(const Layout *layout)
{
  int rows = 2;
  for (guint i = 0; i < layout->n_nodes; i++) {
    if (layout->nodes[i].as_server)
      rows += (int)layout->nodes[i].as_server->n_ports + 3;
  }
  return rows + ((int)layout->n_links + 1) / 2 - 1;
}
