/* A seat's card: who it is, how it is reached, how its boot goes, what it said last. */
#include "ui/view.h"

#include "model/units.h"

#include <math.h>
#include <string.h>

#define LABEL_COLUMNS 12

typedef struct {
  const Ui *ui;
  Canvas *canvas;
  Area area;
  int row; /* next */
} Card;

static void
put_line(Card *card, const char *label, Style style, const char *text)
{
  int columns = card->area.columns - LABEL_COLUMNS - 2;
  g_autoptr(GPtrArray) lines = text_wrap(text, columns);
  for (guint i = 0; i < lines->len && card->row < card->area.row + card->area.rows; i++) {
    canvas_put(card->canvas, card->row, card->area.column + 1, LABEL_COLUMNS, STYLE_OFF,
               i ? "" : label);
    canvas_put(card->canvas, card->row++, card->area.column + 1 + LABEL_COLUMNS, columns, style,
               lines->pdata[i]);
  }
}

static void
put_address(Card *card, const LayoutNode *node)
{
  const Layout *layout = state_layout(card->ui->state);
  g_autofree char *mac = mac_print(&state_node(card->ui->state, node->id)->mac);
  g_autoptr(GString) text = g_string_new(node->has_mac ? mac : "no MAC");
  if (node->has_ip)
    g_string_append_printf(text, "   %u.%u.%u.%u", node->ip >> 24, node->ip >> 16 & 255,
                           node->ip >> 8 & 255, node->ip & 255);
  if (node->subnet >= 0)
    g_string_append_printf(text, "   subnet %s", layout->subnets[node->subnet].name);
  put_line(card, "address", STYLE_NORMAL, text->str);
}

static void
put_place(Card *card, const LayoutNode *node)
{
  const Layout *layout = state_layout(card->ui->state);
  g_autoptr(GString) text = g_string_new(NULL);
  char port[8];
  if (node->attached != NODE_NONE) {
    g_autofree char *speed = units_print(node->speed, DIMENSION_RATE);
    g_string_append_printf(text, "on %s with %s", layout_node(layout, node->attached)->name, speed);
  }
  if (node->server != NODE_NONE) {
    seat_port(card->ui, node->id, port);
    g_string_append_printf(text, "   served by %s%s%s", layout_node(layout, node->server)->name,
                           *port ? " over " : "", port);
  }
  if (node->protected_node)
    g_string_append(text, "   protected");
  put_line(card, "place", STYLE_NORMAL, text->str);
}

static void
put_backends(Card *card, const LayoutNode *node)
{
  g_autoptr(GString) text = g_string_new(NULL);
  gboolean down = FALSE;
  for (int role = 0; role < ROLE_N; role++) {
    const char *backend = node->backend[role];
    if ((role == ROLE_WAKE || role == ROLE_LOG) && backend == NULL)
      continue;
    if (role == ROLE_METER && g_strcmp0(backend, node->backend[ROLE_EXEC]) == 0)
      continue;
    gboolean is_down = backend && !state_backend_up(card->ui->state, backend);
    g_string_append_printf(text, "%s%s %s%s", role ? "   " : "", layout_role_name(role),
                           backend ? backend : "-", is_down ? " (down)" : "");
    down = down || is_down;
  }
  put_line(card, "reached by", down ? STYLE_ERROR : STYLE_NORMAL, text->str);
}

static void
put_power(Card *card, const NodeState *node)
{
  static const char *const states[] = {"unknown", "off", "on"};
  g_autoptr(GString) text = g_string_new(states[node->power]);
  if (node->power_t >= 0) {
    gint64 age = (ui_now(card->ui) - node->power_t) / TIME_SECOND;
    g_string_append_printf(text, ", seen %" G_GINT64_FORMAT " s ago%s%s", age,
                           node->power_source ? " by " : "",
                           node->power_source ? node->power_source : "");
  }
  if (node->acting)
    g_string_append(text, "   a command acts on it");
  put_line(card, "power", node->power == POWER_UNKNOWN ? STYLE_WARNING : STYLE_NORMAL, text->str);
}

static void
put_usage(Card *card, const char *name, const NodeState *node)
{
  g_autofree char *path = g_strconcat(name, ".usage", NULL);
  gint64 age = (ui_now(card->ui) - node->usage_t) / TIME_SECOND;
  g_autofree char *text =
      g_strdup_printf("%s, seen %" G_GINT64_FORMAT " s ago by %s",
                      state_property(card->ui->state, path), age, node->usage_source);
  put_line(card, "usage", node->in_use ? STYLE_WARNING : STYLE_NORMAL, text);
}

/* `for 59 min more, until 01:00:31 of this session: by anna@desk1: exam` */
static void
put_reserved(Card *card, const NodeState *node)
{
  const gint64 minute = 60 * TIME_SECOND;
  gint64 minutes = (MAX(0, node->reserved_t - ui_now(card->ui)) + minute - 1) / minute;
  int end = (int)(node->reserved_t / TIME_SECOND);
  g_autofree char *left =
      minutes < 120 ? g_strdup_printf("%d min", (int)minutes)
                    : g_strdup_printf("%d h %d min", (int)(minutes / 60), (int)(minutes % 60));
  g_autofree char *text =
      g_strdup_printf("for %s more, until %02d:%02d:%02d of this session: %s", left, end / 3600,
                      end / 60 % 60, end % 60, node->reserved);
  put_line(card, "reserved", STYLE_WARNING, text);
}

/* `firmware 5.0   dhcp 1.5   …   login`, seconds in each stage; the one it is in counts on. */
static void
put_stages(Card *card, const NodeState *node)
{
  g_autoptr(GString) text = g_string_new(NULL);
  Stage login = state_login(card->ui->state);
  for (Stage stage = 1; stage <= login; stage++) {
    gint64 end = ui_now(card->ui);
    if (node->stage_t[stage] < 0)
      continue;
    for (Stage later = stage + 1; later <= login; later++) {
      if (node->stage_t[later] >= 0) {
        end = node->stage_t[later];
        break;
      }
    }
    g_autofree char *seconds =
        units_fixed((double)(end - node->stage_t[stage]) / (double)TIME_SECOND, 1);
    g_string_append_printf(text, "%s%s%s%s", text->len ? "   " : "",
                           state_stage_name(card->ui->state, stage), stage == login ? "" : " ",
                           stage == login ? "" : seconds);
  }
  put_line(card, node->booting ? "booting" : "last boot",
           node->booting ? STYLE_BOOTING : STYLE_NORMAL, text->len ? text->str : "not seen");
}

/* `dhcp by dnsmasq, likely   kernel by linux`; nothing to tell where one source is sure of all. */
static void
put_stage_sources(Card *card, const NodeState *node)
{
  const CoreState *state = card->ui->state;
  g_autoptr(GString) text = g_string_new(NULL);
  const char *only = node->stage_source[node->stage];
  gboolean differ = FALSE;
  for (Stage stage = 1; stage < state_n_stages(state); stage++) {
    const char *source = node->stage_source[stage];
    gboolean sure = node->stage_certainty[stage] == CERTAINTY_SURE;
    if (!source)
      continue;
    differ = differ || !sure || !g_str_equal(source, only);
    g_string_append_printf(text, "%s%s by %s%s%s", text->len ? "   " : "",
                           state_stage_name(state, stage), source, sure ? "" : ", ",
                           sure ? "" : certainty_name(node->stage_certainty[stage]));
  }
  if (differ)
    put_line(card, "seen", STYLE_OFF, text->str);
}

static void
put_traffic(Card *card, const LayoutNode *node)
{
  const Meter *meter = seat_meter(card->ui, node->id);
  gboolean served = meter && meter != meters_seat_rx(state_meters(card->ui->state), node->id);
  g_autofree char *stale = stale_text(card->ui, meter);
  if (stale || !meter) {
    put_line(card, "receives", STYLE_OFF, stale);
    return;
  }
  g_autofree char *rate = rate_text(card->ui, meter->rate);
  g_autofree char *most = rate_text(card->ui, layout_payload(node->speed));
  double up = traffic_of_seat(card->ui, node->id).up;
  g_autofree char *sent = rate_text(card->ui, up);
  g_autofree char *sends = up < 0 ? g_strdup("") : g_strdup_printf(", sends %s", sent);
  g_autofree char *text = g_strdup_printf("%s%s of %s %s%s", rate, sends, most, rate_unit(card->ui),
                                          served ? ", by what its server's connections carry" : "");
  put_line(card, "receives", STYLE_NORMAL, text);
}

static const Meter *
fresh_meter(const Card *card, const LayoutNode *node, const char *counter)
{
  g_autofree char *name = g_strconcat(node->name, ".", counter, NULL);
  const Meter *meter = meters_find(state_meters(card->ui->state), name);
  return meter && !meter_is_stale(meter, ui_now(card->ui)) ? meter : NULL;
}

/* `10.0.0.9:2049 10.0.0.1:873   rtt 1.2 ms   window 42   3 sent again`, as its server has it. */
static void
put_connection(Card *card, const LayoutNode *node)
{
  g_autofree char *path = g_strconcat(node->name, ".flow", NULL);
  const char *flow = state_property(card->ui->state, path);
  const Meter *rtt = fresh_meter(card, node, "rtt"), *window = fresh_meter(card, node, "cwnd");
  const Meter *again = fresh_meter(card, node, "retrans");
  if (!flow)
    return;
  g_autoptr(GString) text = g_string_new(flow);
  if (rtt && rtt->rate >= 0) {
    g_autofree char *ms = units_fixed(rtt->rate, rtt->rate < 10 ? 1 : 0);
    g_string_append_printf(text, "   rtt %s ms", ms);
  }
  if (window && window->rate >= 0) {
    g_autofree char *segments = units_fixed(window->rate, 0);
    g_string_append_printf(text, "   window %s", segments);
  }
  if (again)
    g_string_append_printf(text, "   %" G_GINT64_FORMAT " sent again", again->total);
  put_line(card, "connection", STYLE_NORMAL, text->str);
}

/* Its part in the latest load that it takes part in. */
static void
put_load(Card *card, NodeId id)
{
  for (guint i = state_n_loads(card->ui->state); i > 0; i--) {
    const LoadRun *run = state_load(card->ui->state, i - 1);
    for (guint k = 0; k < run->n; k++) {
      const LoadSeat *seat = &run->seats[k];
      Style style;
      if (seat->node != id)
        continue;
      g_autofree char *bytes =
          isfinite(seat->bytes) ? units_print(seat->bytes, DIMENSION_SIZE) : g_strdup("");
      g_autofree char *text =
          g_strdup_printf("%s%s%s: %s%s%s", run->job, *run->label ? " as " : "", run->label,
                          outcome_word(seat->outcome, &style), *bytes ? ", " : "", bytes);
      put_line(card, "load", style, text);
      return;
    }
  }
}

static void
card_draw(Ui *ui, Canvas *canvas, Area area)
{
  const Layout *layout = state_layout(ui->state);
  if (ui->selected == NODE_NONE)
    return;
  const LayoutNode *node = layout_node(layout, ui->selected);
  const NodeState *now = state_node(ui->state, ui->selected);
  const LayoutRoom *room = ui_room(ui);
  Card card = {ui, canvas, {area.row + 1, area.column, area.rows - 1, area.columns}, area.row + 1};
  g_autofree char *title = g_strdup_printf("%s  %s", node->name, room ? room->title : "");
  frame_draw_rule(canvas, area.row, area.column, area.columns, STYLE_FOCUS, title, STYLE_TITLE, "");
  if (now->fault)
    put_line(&card, "failed", STYLE_ERROR, now->fault);
  put_address(&card, node);
  put_place(&card, node);
  put_backends(&card, node);
  put_power(&card, now);
  if (now->usage_t >= 0)
    put_usage(&card, node->name, now);
  if (now->reserved)
    put_reserved(&card, now);
  put_stages(&card, now);
  put_stage_sources(&card, now);
  put_traffic(&card, node);
  put_connection(&card, node);
  put_load(&card, node->id);
  int left = area.row + area.rows - card.row;
  if (left < 2)
    return;
  g_autofree char *heading = g_strdup_printf("Log of %s", node->name);
  frame_draw_rule(canvas, card.row, area.column, area.columns, STYLE_TITLE, heading, STYLE_TITLE,
                  "");
  log_draw_tail(ui, canvas, (Area){card.row + 1, area.column, left - 1, area.columns}, node->id,
                state_log_end(ui->state));
}

/* To the seat beside it, as in the plan. */
static void
card_move(Ui *ui, Move move)
{
  view_lab.move(ui, move);
}

const View view_card = {"card", "a seat: addresses, backends, stages, its last lines", card_draw,
                        card_move};
