#include "main_seats.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/command.h"
#include "session/transcript.h"

typedef struct {
  gboolean asked;
  Verdict verdict; /* the first that is not ok */
  const char *power;
  char *value, *text;
} Seat;

/* One command at a time is outstanding. */
struct Seats {
  const Layout *layout;
  guint32 cmd;
  char *command;
  gboolean planned;
  GHashTable *requests; /* of this command, by id */
  Seat *seats;          /* by NodeId */
};

Seats *
seats_new(const Layout *layout)
{
  Seats *seats = g_new0(Seats, 1);
  seats->layout = layout;
  seats->requests = g_hash_table_new(NULL, NULL);
  seats->seats = g_new0(Seat, layout->n_nodes);
  return seats;
}

static void
seat_clear(Seat *seat)
{
  g_free(seat->value);
  g_free(seat->text);
  *seat = (Seat){0};
}

static void
forget(Seats *seats)
{
  for (NodeId id = 0; id < seats->layout->n_nodes; id++)
    seat_clear(&seats->seats[id]);
  g_hash_table_remove_all(seats->requests);
  g_clear_pointer(&seats->command, g_free);
  seats->planned = FALSE;
  seats->cmd = 0;
}

void
seats_free(Seats *seats)
{
  if (seats == NULL)
    return;
  forget(seats);
  g_hash_table_unref(seats->requests);
  g_free(seats->seats);
  g_free(seats);
}

/* Takes VALUE. */
static void
add(json_t *object, const char *key, json_t *value)
{
  json_object_set_new(object, key, value);
}

/* Whatever a machine said, as a transcript has it. */
static json_t *
string(const char *text)
{
  g_autoptr(GString) escaped = g_string_new(NULL);
  transcript_escape(escaped, text, strlen(text));
  return json_string(escaped->str);
}

/* Takes OBJECT. */
static void
print(json_t *object)
{
  json_dumpf(object, stdout, JSON_COMPACT);
  putchar('\n');
  json_decref(object);
}

static void
print_seat(const Seats *seats, NodeId id)
{
  const Seat *seat = &seats->seats[id];
  json_t *object = json_object();
  add(object, "seat", json_string(layout_node(seats->layout, id)->name));
  add(object, "command", json_string(seats->command));
  add(object, "verdict", json_string(verdict_name(seat->verdict)));
  if (seat->power != NULL)
    add(object, "power", json_string(seat->power));
  if (seat->value != NULL)
    add(object, "value", string(seat->value));
  if (seat->text != NULL)
    add(object, "text", string(seat->text));
  print(object);
}

static void
print_command(Seats *seats, Verdict verdict)
{
  gboolean any = seats->planned;
  for (NodeId id = 0; id < seats->layout->n_nodes; id++) {
    if (!seats->seats[id].asked)
      continue;
    any = TRUE;
    print_seat(seats, id);
  }
  if (any)
    return;
  json_t *object = json_object();
  add(object, "command", json_string(seats->command));
  add(object, "verdict", json_string(verdict_name(verdict)));
  print(object);
}

static gboolean
is_plan(const Seats *seats)
{
  g_autoptr(Command) command = command_parse(seats->command, NULL);
  return command != NULL && command->plan_only;
}

static void
take_plan(Seats *seats, const PlanEvent *plan)
{
  if (plan->cmd != seats->cmd || !is_plan(seats))
    return;
  seats->planned = TRUE;
  for (guint i = 0; i < plan->n_parts; i++)
    for (guint k = 0; k < plan->parts[i].n_nodes; k++) {
      json_t *object = json_object();
      const LayoutNode *node = layout_node(seats->layout, plan->parts[i].nodes[k]);
      add(object, "seat", json_string(node->name));
      add(object, "command", json_string(seats->command));
      add(object, "plan", string(plan->parts[i].action));
      add(object, "by", json_string(plan->parts[i].backend));
      print(object);
    }
}

static void
take_request(Seats *seats, const RequestEvent *request)
{
  if (request->cmd != seats->cmd)
    return;
  g_hash_table_add(seats->requests, GUINT_TO_POINTER(request->id));
  for (guint i = 0; i < request->n_nodes; i++)
    seats->seats[request->nodes[i]].asked = TRUE;
}

static void
take_failure(Seats *seats, NodeId id, Verdict verdict, const char *text)
{
  Seat *seat = &seats->seats[id];
  if (seat->verdict != VERDICT_OK)
    return;
  seat->verdict = verdict;
  seat->text = g_strdup(text);
}

static void
take_result(Seats *seats, const ResultEvent *result)
{
  if (result->verdict != VERDICT_OK &&
      g_hash_table_contains(seats->requests, GUINT_TO_POINTER(result->request)))
    take_failure(seats, result->node, result->verdict, result->text);
}

static void
take_observe(Seats *seats, const ObserveEvent *observe)
{
  Seat *seat = &seats->seats[observe->node];
  if (g_str_equal(observe->fact, "power")) {
    seat->power = g_intern_string(observe->value);
    return;
  }
  g_autoptr(Command) command = command_parse(seats->command, NULL);
  if (command == NULL || command->verb != VERB_GET ||
      !g_str_has_suffix(command->path, observe->fact))
    return;
  g_free(seat->value);
  seat->value = g_strdup(observe->value);
}

void
seats_event(Seats *seats, const Event *event)
{
  if (event->kind == EVENT_COMMAND) {
    forget(seats);
    seats->cmd = event->command.cmd;
    seats->command = g_strdup(event->command.text);
  }
  if (seats->cmd == 0)
    return;
  switch (event->kind) {
  case EVENT_REQUEST:
    take_request(seats, &event->request);
    break;
  case EVENT_RESULT:
    take_result(seats, &event->result);
    break;
  case EVENT_OBSERVE:
    if (event->observe.node != NODE_NONE)
      take_observe(seats, &event->observe);
    break;
  case EVENT_NOTE: /* what core found by looking: told to go off, but still on */
    if (event->note.severity == SEVERITY_ERROR && event->note.node != NODE_NONE &&
        seats->seats[event->note.node].asked)
      take_failure(seats, event->note.node, VERDICT_FAILED, event->note.text);
    break;
  case EVENT_PLAN:
    take_plan(seats, &event->plan);
    break;
  case EVENT_DONE:
    if (event->done.cmd == seats->cmd) {
      print_command(seats, event->done.verdict);
      forget(seats);
    }
    break;
  default:
    break;
  }
}
