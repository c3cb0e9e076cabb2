#include "backends/proc/proc_flow.h"

#define MOST (G_GINT64_CONSTANT(1) << 60)

typedef struct {
  ProcSocket socket;
  guint64 served; /* since the listing before */
} Connection;

struct ProcFlows {
  GHashTable *by_ip; /* address → index + 1 */
  guint n;
  ProcClient *clients;
  GHashTable *connections; /* of Connection, by itself */
  gboolean begun, counts;
};

static guint
connection_hash(gconstpointer key)
{
  const ProcSocket *socket = key;
  return socket->peer * 31 ^ socket->local ^ ((guint)socket->peer_port << 16 | socket->local_port);
}

static gboolean
connection_equal(gconstpointer a, gconstpointer b)
{
  const ProcSocket *one = a, *other = b;
  return one->local == other->local && one->peer == other->peer &&
         one->local_port == other->local_port && one->peer_port == other->peer_port;
}

static GHashTable *
connections_new(void)
{
  return g_hash_table_new_full(connection_hash, connection_equal, NULL, g_free);
}

ProcFlows *
proc_flows_new(const Layout *layout, NodeId server)
{
  ProcFlows *flows = g_new0(ProcFlows, 1);

  flows->by_ip = g_hash_table_new(NULL, NULL);
  flows->connections = connections_new();
  flows->clients = g_new0(ProcClient, layout->n_clients + 1);
  for (guint i = 0; i < layout->n_clients; i++) {
    const LayoutNode *node = &layout->nodes[layout->clients[i]];
    if (node->server != server || !node->has_ip)
      continue;
    flows->clients[flows->n].node = node->id;
    g_hash_table_insert(flows->by_ip, GUINT_TO_POINTER(node->ip), GUINT_TO_POINTER(++flows->n));
  }
  return flows;
}

void
proc_flows_free(ProcFlows *flows)
{
  if (!flows)
    return;
  g_hash_table_unref(flows->by_ip);
  g_hash_table_unref(flows->connections);
  g_free(flows->clients);
  g_free(flows);
}

static guint64
growth(guint64 before, guint64 now)
{
  return MIN(now >= before ? now - before : now, (guint64)MOST / 2);
}

static void
count(ProcFlows *flows, ProcClient *client, Connection *now)
{
  const Connection *before = g_hash_table_lookup(flows->connections, now);

  client->n_sockets++;
  if (before == NULL && !flows->begun)
    return; /* whatever it carried, it did before anybody looked */
  now->served = growth(before ? before->socket.acked : 0, now->socket.acked);
  guint64 retrans = growth(before ? before->socket.retrans : 0, now->socket.retrans);
  client->served = MIN(client->served + (gint64)now->served, MOST);
  client->retrans = MIN(client->retrans + (gint64)retrans, MOST);
}

/* CANDIDATE is a connection of CLIENT; BEST is the busiest so far of each client. */
static void
consider(const Connection *candidate, const Connection **best)
{
  if (!*best || candidate->served > (*best)->served)
    *best = candidate;
}

static void
choose(ProcClient *client, const Connection *best, GHashTable *listed)
{
  const Connection *kept = client->flows ? g_hash_table_lookup(listed, &client->flow) : NULL;

  client->moved = FALSE;
  if (kept && best->served / 2 <= kept->served) {
    client->flow = kept->socket;
    return;
  }
  client->moved = best != NULL || client->flows;
  client->flows = best != NULL;
  if (best)
    client->flow = best->socket;
}

void
proc_flows_add(ProcFlows *flows, const ProcSocket *sockets, guint n)
{
  GHashTable *listed = connections_new();
  g_autofree const Connection **best = g_new0(const Connection *, flows->n + 1);
  guint n_counted = 0, n_listed = 0;

  for (guint i = 0; i < flows->n; i++)
    flows->clients[i].n_sockets = 0;
  for (guint i = 0; i < n; i++) {
    guint client =
        GPOINTER_TO_UINT(g_hash_table_lookup(flows->by_ip, GUINT_TO_POINTER(sockets[i].peer)));
    n_listed++;
    n_counted += sockets[i].counts;
    if (client == 0 || g_hash_table_contains(listed, &sockets[i]))
      continue;
    Connection *connection = g_new0(Connection, 1);
    *connection = (Connection){.socket = sockets[i]};
    count(flows, &flows->clients[client - 1], connection);
    consider(connection, &best[client - 1]);
    g_hash_table_add(listed, connection);
  }
  for (guint i = 0; i < flows->n; i++)
    choose(&flows->clients[i], best[i], listed);
  g_hash_table_unref(flows->connections);
  flows->connections = listed;
  flows->counts = n_counted > 0 || n_listed == 0;
  flows->begun = TRUE;
}

const ProcClient *
proc_flows_clients(const ProcFlows *flows, guint *n)
{
  *n = flows->n;
  return flows->clients;
}

gboolean
proc_flows_count(const ProcFlows *flows)
{
  return flows->counts;
}
