#include <math.h>

#include "backends/sim/sim_private.h"

typedef struct {
  Event event;
  char *owned[2];
} Said;

const char *
sim_name(const Sim *sim, NodeId node)
{
  return sim->layout->nodes[node].name;
}

gint64
sim_duration(double seconds)
{
  double ns = ceil(seconds * 1e9);
  return ns < (double)(TIME_NEVER / 4) ? (gint64)ns : TIME_NEVER / 4;
}

static Said *
say(Sim *sim, EventKind kind)
{
  g_array_set_size(sim->outbox, sim->outbox->len + 1);
  Said *said = &g_array_index(sim->outbox, Said, sim->outbox->len - 1);
  *said = (Said){.event = {.t = sim->now, .kind = kind}};
  return said;
}

void
sim_observe(Sim *sim, NodeId node, const char *fact, const char *value)
{
  Said *said = say(sim, EVENT_OBSERVE);
  said->owned[0] = g_strdup(fact);
  said->owned[1] = g_strdup(value);
  said->event.observe = (ObserveEvent){node, said->owned[0], said->owned[1], sim->backend.name};
}

void
sim_line(Sim *sim, const Request *request, NodeId node, const char *stream, const char *text)
{
  Said *said = say(sim, EVENT_LINE);
  said->owned[0] = g_strdup(text);
  said->event.line = (LineEvent){request->id, node, stream, said->owned[0]};
}

void
sim_result(Sim *sim, const Request *request, NodeId node, Verdict verdict, char *text)
{
  Said *said = say(sim, EVENT_RESULT);
  said->owned[0] = text;
  said->event.result = (ResultEvent){request->id, node, verdict, text ? text : ""};
}

void
sim_samples(Sim *sim, const SamplesEvent *samples)
{
  say(sim, EVENT_SAMPLES)->event.samples = *samples;
}

static void
said_clear(gpointer data)
{
  Said *said = data;
  g_free(said->owned[0]);
  g_free(said->owned[1]);
}

static void
say_link(Sim *sim)
{
  if (sim->link_due > sim->now)
    return;
  sim->link_due = TIME_NEVER;
  Said *said = say(sim, EVENT_LINK);
  said->owned[0] = g_strdup_printf("simulated lab, seed %" G_GUINT64_FORMAT, sim->seed);
  said->event.link = (LinkEvent){sim->backend.name, TRUE, said->owned[0]};
}

/* After anything happened: rates as they are now, and when something happens next. */
static void
plan(Sim *sim)
{
  sim_world_solve(sim);
  sim_meter_plan(sim);
  gint64 next = MIN(MIN(sim->link_due, sim->world.next), sim->watch.due);
  gint64 answer = sim_request_next(sim);
  next = MIN(MIN(next, answer), sim_left_next(sim));
  next = MIN(next, sim_agenda_next(sim));
  sim->next = next == TIME_NEVER ? next : MAX(next, sim->now);
}

static gboolean
is_due(const Sim *sim)
{
  return sim->next <= sim->now && sim->watch.due > sim->now;
}

static void
post_all(Sim *sim)
{
  g_autoptr(GArray) said = sim->outbox;
  sim->outbox = g_array_new(FALSE, FALSE, sizeof(Said));
  g_array_set_clear_func(sim->outbox, said_clear);
  for (guint i = 0; i < said->len; i++)
    sim->backend.post(&g_array_index(said, Said, i).event, sim->backend.post_data);
}

/* An answer due at a deadline is in time. What happens may take no time and make more happen, so it
 * goes round until only the sample is left, which thus sees all of it. */
static void
sim_advance(Backend *backend, gint64 t)
{
  Sim *sim = (Sim *)backend;
  g_assert(t >= sim->now && t <= sim->next);
  sim->now = t;
  if (t < sim->next)
    return;
  say_link(sim);
  do {
    sim_world_finish(sim);
    sim_agenda_step(sim);
    sim_request_give_answers(sim);
    sim_request_keep_deadlines(sim);
    sim_left_keep_ends(sim);
    plan(sim);
  } while (is_due(sim));
  if (sim_meter_sample(sim))
    plan(sim);
  post_all(sim);
}

static void
move_to(Sim *sim, gint64 now)
{
  g_assert(now >= sim->now && now <= sim->next);
  sim->now = now;
}

/* Nothing is posted from within a call: what it said is due at once. */
static void
plan_after_call(Sim *sim)
{
  plan(sim);
  if (sim->outbox->len > 0)
    sim->next = sim->now;
}

static void
sim_start(Backend *backend, gint64 now)
{
  Sim *sim = (Sim *)backend;
  move_to(sim, now);
  sim->link_due = now;
  plan(sim);
}

static void
sim_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  Sim *sim = (Sim *)backend;
  move_to(sim, now);
  say_link(sim); /* before what the request says */
  sim_request_submit(sim, request);
  plan_after_call(sim);
}

static void
sim_cancel(Backend *backend, gint64 now, guint32 request)
{
  Sim *sim = (Sim *)backend;
  move_to(sim, now);
  sim_request_cancel(sim, request);
  plan_after_call(sim);
}

static gint64
sim_next_due(const Backend *backend)
{
  return ((const Sim *)backend)->next;
}

/* Every machine has addresses, also one whose layout does not tell them. */
static void
draw_addresses(const Sim *sim, SimNode *node)
{
  const char *name = node->layout->name;
  guint32 mac = (guint32)(draw_uniform(sim->seed, "mac", name, 0) * 0x1p24);
  guint32 host = (guint32)(draw_uniform(sim->seed, "ip", name, 0) * 0x1p24);
  if (!node->layout->has_mac)
    node->mac = (MacAddress){{0x52, 0x54, 0, (guint8)(mac >> 16), (guint8)(mac >> 8), (guint8)mac}};
  if (!node->layout->has_ip)
    node->ip = 10u << 24 | host;
}

static void
node_init(Sim *sim, SimNode *node, const LayoutNode *layout)
{
  const LayoutServer *server = layout->as_server;
  *node = (SimNode){
      .layout = layout,
      .on = layout->kind != NODE_CLIENT,
      .port_up = TRUE,
      .mac = layout->mac,
      .ip = layout->ip,
      .next_protocol =
          g_str_has_suffix(sim_default_entry(sim->layout), "::nbd") ? PROTOCOL_NBD : PROTOCOL_NFS,
  };
  draw_addresses(sim, node);
  if (server == NULL)
    return;
  node->nfsd = server->nfsd;
  node->ceiling = server->transmit_ceiling;
  node->disk_rate = server->disk_rate;
  node->ports_up = g_new(gboolean, server->n_ports);
  for (guint i = 0; i < server->n_ports; i++)
    node->ports_up[i] = TRUE;
  node->bonds = g_new(BondState, server->n_bonds);
  for (guint i = 0; i < server->n_bonds; i++)
    bond_state_init(&node->bonds[i], server, &server->bonds[i]);
}

static void
sim_free(Backend *backend)
{
  Sim *sim = (Sim *)backend;
  sim_meter_end(sim);
  sim_request_clear(sim);
  sim_left_clear(sim);
  sim_keys_clear(sim);
  sim_menu_clear(sim);
  g_array_unref(sim->outbox);
  sim_world_clear(sim);
  for (guint i = 0; i < sim->layout->n_nodes; i++) {
    g_free(sim->nodes[i].ports_up);
    g_free(sim->nodes[i].bonds);
  }
  g_free(sim->nodes);
  sim_agenda_clear(sim);
  g_free(sim->read_share);
  g_free(sim->cpu_share);
  g_free(sim);
}

static const BackendClass sim_class = {
    .name = "sim",
    .operations = 1u << OP_STATUS | 1u << OP_ON | 1u << OP_OFF | 1u << OP_RESET |
                  1u << OP_BOOT_DEVICE | 1u << OP_EXEC | 1u << OP_SIGNAL | 1u << OP_WATCH |
                  1u << OP_GET | 1u << OP_SET | 1u << OP_KEYS | 1u << OP_TYPE | 1u << OP_ROUTE,
    .virtual_time = TRUE,
    .start = sim_start,
    .submit = sim_submit,
    .cancel = sim_cancel,
    .next_due = sim_next_due,
    .advance = sim_advance,
    .free = sim_free,
};

Backend *
sim_new(const char *name, const Layout *layout, const JobSet *jobs, guint64 seed, BackendPost post,
        gpointer post_data)
{
  Sim *sim = g_new0(Sim, 1);
  sim->backend = (Backend){&sim_class, g_intern_string(name), post, post_data};
  sim->layout = layout;
  sim->jobs = jobs;
  sim->seed = seed;
  sim->next = sim->link_due = sim->watch.due = TIME_NEVER;
  sim->nodes = g_new(SimNode, layout->n_nodes);
  for (NodeId i = 0; i < layout->n_nodes; i++)
    node_init(sim, &sim->nodes[i], &layout->nodes[i]);
  sim_agenda_init(sim);
  sim_request_init(sim);
  sim_left_init(sim);
  sim_keys_init(sim);
  sim_menu_init(sim);
  sim->outbox = g_array_new(FALSE, FALSE, sizeof(Said));
  g_array_set_clear_func(sim->outbox, said_clear);
  sim_boot_init(sim);
  sim_world_init(sim);
  return &sim->backend;
}
