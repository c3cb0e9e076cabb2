#include "model/layout_private.h"
#include "model/layout_setting_private.h"

#include <string.h>

static void
server_free(LayoutServer *server)
{
  if (server == NULL)
    return;
  for (guint i = 0; i < server->n_ports; i++)
    g_free(server->ports[i].name);
  for (guint i = 0; i < server->n_bonds; i++) {
    g_free(server->bonds[i].name);
    g_free(server->bonds[i].mode);
    g_free(server->bonds[i].ports);
  }
  for (guint i = 0; i < server->n_exports; i++) {
    g_free(server->exports[i].name);
    g_free(server->exports[i].about);
  }
  g_free(server->ports);
  g_free(server->bonds);
  g_free(server->exports);
  g_free(server);
}

static void
node_clear(LayoutNode *node)
{
  g_free(node->name);
  for (guint role = 0; role < ROLE_N; role++)
    g_free(node->backend[role]);
  server_free(node->as_server);
  g_free(node->joins);
  g_free(node->outlet);
}

static void
groups_free(Layout *layout)
{
  for (guint i = 0; i < layout->n_rooms; i++) {
    g_free(layout->rooms[i].name);
    g_free(layout->rooms[i].title);
    g_free(layout->rooms[i].seats);
    g_free(layout->rooms[i].aisles);
  }
  for (guint i = 0; i < layout->n_blocks; i++) {
    g_free(layout->blocks[i].name);
    g_free(layout->blocks[i].nodes);
  }
  g_free(layout->rooms);
  g_free(layout->blocks);
  g_free(layout->clients);
}

void
layout_free(Layout *layout)
{
  if (layout == NULL)
    return;
  for (guint i = 0; i < layout->n_nodes; i++)
    node_clear(&layout->nodes[i]);
  for (guint i = 0; i < layout->n_subnets; i++)
    g_free(layout->subnets[i].name);
  for (guint i = 0; i < layout->n_links; i++)
    g_free(layout->links[i].name);
  groups_free(layout);
  g_ptr_array_unref(layout->backends);
  g_ptr_array_unref(layout->controls);
  g_ptr_array_unref(layout->jobs);
  g_free(layout->nodes);
  g_free(layout->subnets);
  g_free(layout->links);
  g_hash_table_unref(layout->by_name);
  g_free(layout->file);
  g_free(layout->text);
  g_free(layout->sha256);
  g_free(layout->lab);
  g_free(layout->note);
  g_free(layout->boot_entry);
  g_free(layout->boot_profile);
  layout_boot_keys_clear(layout);
  g_free(layout->boot_root);
  g_free(layout->boot_menu);
  g_free(layout->boot_once.pxelinux);
  g_free(layout->boot_once.ipxe);
  g_free(layout->boot_once.chain);
  g_strfreev(layout->stage_sources);
  layout_stages_clear(layout);
  g_free(layout);
}

NodeId
layout_find(const Layout *layout, const char *name)
{
  guint found = GPOINTER_TO_UINT(g_hash_table_lookup(layout->by_name, name));

  return found > 0 ? found - 1 : NODE_NONE;
}

const LayoutNode *
layout_node(const Layout *layout, NodeId id)
{
  g_assert(id < layout->n_nodes);
  return &layout->nodes[id];
}

gboolean
layout_group(const Layout *layout, const char *name, const NodeId **nodes, guint *n)
{
  int room = layout_find_room(layout, name);

  if (room >= 0) {
    *nodes = layout->rooms[room].seats;
    *n = layout->rooms[room].n_seats;
    return TRUE;
  }
  for (guint i = 0; i < layout->n_blocks; i++) {
    if (strcmp(layout->blocks[i].name, name) == 0) {
      *nodes = layout->blocks[i].nodes;
      *n = layout->blocks[i].n_nodes;
      return TRUE;
    }
  }
  if (strcmp(name, "all") != 0)
    return FALSE;
  *nodes = layout->clients;
  *n = layout->n_clients;
  return TRUE;
}

int
layout_find_link(const Layout *layout, const char *name)
{
  for (guint i = 0; i < layout->n_links; i++) {
    if (strcmp(layout->links[i].name, name) == 0)
      return i;
  }
  return -1;
}

int
layout_find_room(const Layout *layout, const char *name)
{
  for (guint i = 0; i < layout->n_rooms; i++) {
    if (strcmp(layout->rooms[i].name, name) == 0)
      return i;
  }
  return -1;
}

int
layout_find_port(const LayoutServer *server, const char *name)
{
  for (guint i = 0; i < server->n_ports; i++) {
    if (strcmp(server->ports[i].name, name) == 0)
      return i;
  }
  return -1;
}

int
layout_find_bond(const LayoutServer *server, const char *name)
{
  for (guint i = 0; i < server->n_bonds; i++) {
    if (strcmp(server->bonds[i].name, name) == 0)
      return i;
  }
  return -1;
}

int
layout_find_export(const LayoutServer *server, const char *name)
{
  for (guint i = 0; i < server->n_exports; i++) {
    if (strcmp(server->exports[i].name, name) == 0)
      return i;
  }
  return -1;
}

int
layout_find_stage(const Layout *layout, const char *name)
{
  for (guint i = 1; i < layout->n_stages; i++) {
    if (strcmp(layout->stages[i].name, name) == 0)
      return (int)i;
  }
  return -1;
}

double
layout_payload(double wire_speed)
{
  return wire_speed * 1448 / 1538;
}
