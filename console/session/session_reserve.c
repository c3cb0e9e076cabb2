/* Reservations between core, which holds them for this session, and the file all sessions share.
 *
 * The file has wall-clock times, core durations. Where time is jumped over there is no file: a
 * session's bytes must not hang on one, and its time is not the clock's. */
#include <string.h>

#include "core/state.h"
#include "model/nodeset.h"
#include "session/session_private.h"

#define LOOK_SECONDS 2 /* between two looks at what other sessions reserve */

static gint64
wall_now(void)
{
  return g_get_real_time() / G_USEC_PER_SEC;
}

/* As TOLD remembers it, and all that another session sees of it. */
static char *
print_reservation(const Reservation *reservation)
{
  return g_strdup_printf("%" G_GINT64_FORMAT " by %s: %s", reservation->until, reservation->by,
                         reservation->why);
}

static void
observe(Session *session, NodeId node, const char *value)
{
  Event event = {.kind = EVENT_OBSERVE, .t = session->now};
  event.observe = (ObserveEvent){node, "reserved", value, "reserve"};
  session_fold(session, &event);
}

static void
tell(Session *session, NodeId id)
{
  Keeping *keeping = &session->keeping;
  const Reservation *reservation =
      reservations_find(keeping->file, session->layout->nodes[id].name);
  gint64 left = reservation != NULL ? reservation->until - wall_now() : 0;
  if (left <= 0) {
    if (keeping->told[id] != NULL && state_node(session->core, id)->reserved_t >= 0)
      observe(session, id, "no");
    g_clear_pointer(&keeping->told[id], g_free);
    return;
  }
  g_autofree char *now = print_reservation(reservation);
  if (g_strcmp0(now, keeping->told[id]) == 0)
    return;
  g_autofree char *value =
      g_strdup_printf("until %" G_GINT64_FORMAT " s by %s: %s",
                      MIN(left, RESERVE_MAX / TIME_SECOND), reservation->by, reservation->why);
  observe(session, id, value);
  g_free(keeping->told[id]);
  keeping->told[id] = g_steal_pointer(&now);
}

void
reserve_look(Session *session)
{
  Keeping *keeping = &session->keeping;
  if (keeping->file == NULL)
    return;
  g_autoptr(GError) error = NULL;
  gboolean changed;
  if (!reservations_look(keeping->file, &changed, &error))
    session_complain(session, error->message);
  for (NodeId id = 0; changed && id < session->layout->n_nodes; id++)
    tell(session, id);
}

static gboolean
on_look_time(gpointer data)
{
  Session *session = data;
  loop_catch_up(session);
  reserve_look(session);
  loop_arm(session);
  return G_SOURCE_CONTINUE;
}

void
reserve_init(Session *session, const SessionOptions *options)
{
  Keeping *keeping = &session->keeping;
  if (options->reservations == NULL || session->jumps)
    return;
  keeping->file = reservations_new(options->reservations, options->layout->lab);
  keeping->told = g_new0(char *, options->layout->n_nodes);
  keeping->by = g_strdup_printf("%s@%s", g_get_user_name(), g_get_host_name());
}

void
reserve_begin(Session *session)
{
  if (session->keeping.file == NULL)
    return;
  loop_run_due(session, 0); /* links first */
  reserve_look(session);
  session->keeping.timer = g_timeout_add_seconds(LOOK_SECONDS, on_look_time, session);
}

void
reserve_clear(Session *session)
{
  Keeping *keeping = &session->keeping;
  g_clear_handle_id(&keeping->timer, g_source_remove);
  for (NodeId id = 0; keeping->told != NULL && id < session->layout->n_nodes; id++)
    g_free(keeping->told[id]);
  g_free(keeping->told);
  g_free(keeping->by);
  reservations_free(keeping->file);
}

char *
reserve_resolve(const char *said, GError **error)
{
  g_autoptr(Command) command = command_parse(said, error);
  ClockTime time;
  gint64 seconds;
  if (command == NULL)
    return NULL;
  if (command->clock == NULL || !command_clock_parse(command->clock, &time))
    return g_strdup(said);
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  if (!reservations_seconds(&time, now, &seconds, error)) {
    g_prefix_error(error, "until %s: ", command->clock);
    return NULL;
  }
  g_clear_pointer(&command->clock, g_free);
  command->duration = seconds * TIME_SECOND;
  return command_print(command);
}

/* TRUE when core did what COMMAND says: nothing refused it, or only planned. */
static gboolean
was_done(const Session *session, const Command *command, const Nodeset *set)
{
  const CoreOptions *options = state_options(session->core);
  if (command->plan_only || options->dry_run || options->read_only)
    return FALSE;
  NodeId id = layout_find(session->layout, nodeset_name(set, 0));
  gint64 until = command->verb == VERB_RESERVE ? session->now + command->duration : -1;
  return state_node(session->core, id)->reserved_t == until;
}

static void
write_down(Session *session, const Command *command, const Nodeset *set)
{
  Keeping *keeping = &session->keeping;
  guint n = nodeset_count(set);
  gint64 now = wall_now();
  g_autofree const char **names = g_new(const char *, n);
  for (guint i = 0; i < n; i++)
    names[i] = nodeset_name(set, i);
  Reservation reservation = {
      .until = now + (command->duration + TIME_SECOND - 1) / TIME_SECOND,
      .by = keeping->by,
      .why = command->text,
  };
  gboolean reserves = command->verb == VERB_RESERVE;
  g_autoptr(GError) error = NULL;
  if (!reservations_change(keeping->file, names, n, reserves ? &reservation : NULL, now, &error)) {
    g_autofree char *message = g_strdup_printf("%s in this session only: %s",
                                               reserves ? "reserved" : "released", error->message);
    keeping->failed = TRUE;
    session_complain(session, message);
    return;
  }
  for (guint i = 0; i < n; i++) {
    NodeId id = layout_find(session->layout, names[i]);
    g_free(keeping->told[id]);
    keeping->told[id] = reserves ? print_reservation(&reservation) : NULL;
  }
}

void
reserve_keep(Session *session, const Command *command)
{
  Keeping *keeping = &session->keeping;
  if (command->verb != VERB_RESERVE && command->verb != VERB_RELEASE)
    return;
  g_autoptr(Nodeset) set = nodeset_parse(command->set, NULL, NULL, NULL);
  if (set == NULL || nodeset_count(set) == 0 || !was_done(session, command, set))
    return;
  if (keeping->file != NULL) {
    write_down(session, command, set);
  } else if (!keeping->warned) {
    keeping->warned = TRUE;
    session_complain(session, "reservations end with this session, and no other sees them");
  }
}
