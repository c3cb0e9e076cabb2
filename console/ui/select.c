#include "ui/view.h"

#include "model/nodeset.h"

#include <string.h>

static guint
find_outside(Ui *ui)
{
  const Layout *layout = state_layout(ui->state);
  const NodeId *clients;
  guint n_clients, n = 0;
  layout_group(layout, "all", &clients, &n_clients);
  ui->outside = g_new(NodeId, n_clients + 1);
  for (guint i = 0; i < n_clients; i++) {
    if (layout_node(layout, clients[i])->room < 0)
      ui->outside[n++] = clients[i];
  }
  return n;
}

/* Machines that no room of the layout holds make a block of their own, so that none is unseen. */
void
select_init(Ui *ui)
{
  const Layout *layout = state_layout(ui->state);
  guint outside = find_outside(ui);
  ui->rooms = g_new(LayoutRoom, layout->n_rooms + 1);
  for (guint i = 0; i < layout->n_rooms; i++)
    ui->rooms[i] = layout->rooms[i];
  ui->n_rooms = layout->n_rooms;
  ui->selected = NODE_NONE;
  if (outside == 0)
    return;
  ui->elsewhere = ui_set_name(ui, ui->outside, outside);
  ui->rooms[ui->n_rooms++] =
      (LayoutRoom){.name = ui->elsewhere,
                   .title = (char *)(layout->n_rooms ? "In no room" : "Machines"),
                   .n_seats = outside,
                   .seats = ui->outside,
                   .columns = 8};
}

void
select_clear(Ui *ui)
{
  g_free(ui->rooms);
  g_free(ui->outside);
  g_free(ui->elsewhere);
}

const LayoutRoom *
ui_room(const Ui *ui)
{
  return ui->room < ui->n_rooms ? &ui->rooms[ui->room] : NULL;
}

int
ui_place(const LayoutRoom *room, NodeId seat)
{
  for (guint i = 0; room && i < room->n_seats; i++) {
    if (room->seats[i] == seat)
      return (int)i;
  }
  return -1;
}

void
ui_select(Ui *ui, NodeId seat)
{
  ui->selected = seat;
  for (guint i = 0; i < ui->n_rooms; i++) {
    if (ui_place(&ui->rooms[i], seat) >= 0) {
      ui->room = i;
      return;
    }
  }
}

void
ui_select_block(Ui *ui, guint room)
{
  ui->room = room;
  ui->selected = NODE_NONE;
  ui->number[0] = '\0';
}

const char *
seat_number(const char *name)
{
  const char *end = name + strlen(name);
  while (end > name && g_ascii_isdigit(end[-1]))
    end--;
  return *end ? end : name;
}

static NodeId
seat_by_number(const Ui *ui, const LayoutRoom *room)
{
  guint64 wanted = g_ascii_strtoull(ui->number, NULL, 10);
  for (guint i = 0; i < room->n_seats; i++) {
    const char *digits = seat_number(layout_node(state_layout(ui->state), room->seats[i])->name);
    if (g_ascii_isdigit(*digits) && g_ascii_strtoull(digits, NULL, 10) == wanted)
      return room->seats[i];
  }
  return NODE_NONE;
}

/* Digits typed one after the other make one number; one that leads nowhere begins anew. */
void
ui_select_number(Ui *ui, char digit)
{
  const LayoutRoom *room = ui_room(ui);
  gsize length = strlen(ui->number);
  NodeId found = NODE_NONE;
  if (!room)
    return;
  if (length + 1 < sizeof ui->number) {
    ui->number[length] = digit;
    ui->number[length + 1] = '\0';
    found = seat_by_number(ui, room);
  }
  if (found == NODE_NONE && length > 0) {
    ui->number[0] = digit;
    ui->number[1] = '\0';
    found = seat_by_number(ui, room);
  }
  if (found != NODE_NONE)
    ui->selected = found;
}

static gboolean
is_all_of(const Ui *ui, const NodeId *group, guint n_group, const NodeId *nodes, guint n)
{
  g_autofree gboolean *named = NULL;
  if (n != n_group)
    return FALSE;
  named = g_new0(gboolean, state_layout(ui->state)->n_nodes);
  for (guint i = 0; i < n; i++)
    named[nodes[i]] = TRUE;
  for (guint i = 0; i < n_group; i++) {
    if (!named[group[i]])
      return FALSE;
  }
  return TRUE;
}

char *
ui_fold(const Ui *ui, const NodeId *nodes, guint n)
{
  g_autofree const char **names = g_new(const char *, n + 1);
  for (guint i = 0; i < n; i++)
    names[i] = layout_node(state_layout(ui->state), nodes[i])->name;
  return nodeset_fold_names(names, n);
}

char *
ui_set_name(const Ui *ui, const NodeId *nodes, guint n)
{
  const Layout *layout = state_layout(ui->state);
  const NodeId *clients;
  guint n_clients;
  layout_group(layout, "all", &clients, &n_clients);
  if (is_all_of(ui, clients, n_clients, nodes, n))
    return g_strdup("@all");
  for (guint i = 0; i < layout->n_rooms; i++) {
    if (is_all_of(ui, layout->rooms[i].seats, layout->rooms[i].n_seats, nodes, n))
      return g_strdup(layout->rooms[i].name);
  }
  for (guint i = 0; i < layout->n_blocks; i++) {
    if (is_all_of(ui, layout->blocks[i].nodes, layout->blocks[i].n_nodes, nodes, n))
      return g_strdup(layout->blocks[i].name);
  }
  return ui_fold(ui, nodes, n);
}

const char *
ui_selection(const Ui *ui)
{
  const LayoutRoom *room = ui_room(ui);
  if (ui->selected != NODE_NONE)
    return layout_node(state_layout(ui->state), ui->selected)->name;
  return room ? room->name : "@all";
}
