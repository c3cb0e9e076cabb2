#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gio/gio.h>

#include "backends/powerman/powerman.h"
#include "tests/contract/backend_ask.h"

/* A powermand whose devices have a fault each, that of their name. A thread a connection. */
static const char devices[] = "fine[1-2] slow1 dead1 liar1 refuses1 dumb1 hangup1 chatty1";
static const char names[] = "fine1 fine2 slow1 dead1 liar1 refuses1 dumb1 hangup1 chatty1 stranger";

#define SLOW_US 300000

typedef struct {
  GSocketService *service;
  guint16 port;
  GMutex mutex; /* guards what follows, up to n_clients */
  GHashTable *on;
  guint told_dead;  /* commands that never had an answer */
  guint asked_slow; /* times that slow1's state was */
  guint n_clients;
  Layout *layout;
  BackendCheck *check;
} Lab;

/* ---- powermand ----------------------------------------------------------------------------- */

static void
reply_devices(GString *reply)
{
  g_auto(GStrv) all = g_strsplit(devices, " ", -1);

  for (guint i = 0; all[i] != NULL; i++)
    g_string_append_printf(
        reply, "304 d%u: state=connected reconnects=000 actions=000 type=t hosts=%s\r\n", i,
        all[i]);
  g_string_append(reply, "103 Query complete\r\n");
}

static void
reply_status(const Lab *lab, GString *reply, char **plugs)
{
  for (guint i = 0; plugs[i] != NULL; i++) {
    gboolean dumb = g_str_has_prefix(plugs[i], "dumb");
    gboolean on = g_hash_table_contains(lab->on, plugs[i]);
    g_string_append_printf(reply, "303 %s: %s\r\n", plugs[i], dumb ? "unknown" : on ? "on" : "off");
  }
  g_string_append(reply, "103 Query complete\r\n");
}

/* A liar says that it did. */
static void
reply_change(Lab *lab, GString *reply, const char *verb, char **plugs)
{
  gboolean refuses = g_str_has_prefix(plugs[0], "refuses");

  for (guint i = 0; plugs[i] != NULL && !refuses && !g_str_has_prefix(plugs[i], "liar"); i++) {
    if (strcmp(verb, "off") == 0)
      g_hash_table_remove(lab->on, plugs[i]);
    else if (strcmp(verb, "on") == 0)
      g_hash_table_add(lab->on, g_strdup(plugs[i]));
  }
  g_string_append(reply, refuses ? "210 Command completed with errors\r\n"
                                 : "102 Command completed successfully\r\n");
}

/* FALSE: it hangs up. */
static gboolean
reply_of_device(Lab *lab, const char *verb, char **plugs, GString *reply)
{
  if (g_str_has_prefix(plugs[0], "hangup"))
    return FALSE;
  if (g_str_has_prefix(plugs[0], "slow"))
    g_usleep(SLOW_US);
  if (g_str_has_prefix(plugs[0], "chatty"))
    g_string_append(reply, "telemetry: recv(chatty): \033[2J\r\n308 other news\r\n");
  g_mutex_lock(&lab->mutex);
  lab->asked_slow += strcmp(verb, "status") == 0 && g_str_has_prefix(plugs[0], "slow");
  if (g_str_has_prefix(plugs[0], "dead"))
    lab->told_dead++;
  else if (strcmp(verb, "status") == 0)
    reply_status(lab, reply, plugs);
  else
    reply_change(lab, reply, verb, plugs);
  g_mutex_unlock(&lab->mutex);
  return TRUE;
}

/* FALSE: it hangs up. An empty REPLY: it never answers. */
static gboolean
answer(Lab *lab, const char *command, GString *reply)
{
  g_auto(GStrv) words = g_strsplit(command, " ", 2);

  if (words[0] == NULL)
    return TRUE;
  if (strcmp(words[0], "exprange") == 0) {
    g_string_append(reply, "109 Node range expansion ON\r\n");
  } else if (strcmp(words[0], "device") == 0) {
    reply_devices(reply);
  } else {
    g_auto(GStrv) plugs = g_strsplit(words[1] != NULL ? words[1] : "hangup", ",", -1);
    if (!reply_of_device(lab, words[0], plugs, reply))
      return FALSE;
  }
  if (reply->len > 0)
    g_string_append(reply, "powerman> ");
  return TRUE;
}

static guint
count_clients(Lab *lab, int more)
{
  g_mutex_lock(&lab->mutex);
  lab->n_clients += (guint)more;
  guint n = lab->n_clients;
  g_mutex_unlock(&lab->mutex);
  return n;
}

static gboolean
on_client(GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
          gpointer data)
{
  GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(connection));
  g_autoptr(GDataInputStream) in =
      g_data_input_stream_new(g_io_stream_get_input_stream(G_IO_STREAM(connection)));
  Lab *lab = data;
  char *command;
  (void)service;
  (void)source;

  count_clients(lab, 1);
  g_data_input_stream_set_newline_type(in, G_DATA_STREAM_NEWLINE_TYPE_ANY);
  g_output_stream_printf(out, NULL, NULL, NULL, "001 2.3.27\r\npowerman> ");
  while ((command = g_data_input_stream_read_line(in, NULL, NULL, NULL)) != NULL) {
    g_autofree char *mine = command;
    g_autoptr(GString) reply = g_string_new(NULL);
    if (!answer(lab, command, reply) ||
        !g_output_stream_write_all(out, reply->str, reply->len, NULL, NULL, NULL))
      break;
  }
  count_clients(lab, -1);
  return TRUE;
}

/* ---- The lab ------------------------------------------------------------------------------- */

static void
serve(Lab *lab)
{
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);
  GSocketAddress *bound = NULL;

  lab->on = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  lab->service = g_threaded_socket_service_new(64);
  assert_true(g_socket_listener_add_address(G_SOCKET_LISTENER(lab->service), any,
                                            G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
                                            &bound, NULL));
  lab->port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  g_object_unref(bound);
  g_signal_connect(lab->service, "run", G_CALLBACK(on_client), lab);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  GError *error = NULL;
  g_autofree char *set = g_strdelimit(g_strdup(names), " ", ',');

  serve(lab);
  g_autofree char *text =
      g_strdup_printf("lab: t\ndefaults: {power: pm}\nswitches: {sw1: {}}\n"
                      "clients: {\"%s\": {switch: sw1, speed: 1 Gbit/s}}\n"
                      "backends: {pm: {type: powerman, address: \"127.0.0.1:%u\"}}\n",
                      set, lab->port);
  lab->layout = layout_parse("t", text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->check = backend_check_new(lab->layout, NULL, NULL);
  BackendSetup setup = {.name = g_intern_string("pm"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "pm"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = powerman_new(&setup, &error);
  if (backend == NULL)
    fail_msg("%s", error->message);
  backend_check_start(lab->check, backend);
  *state = lab;
  return 0;
}

static int
tear_down(void **state)
{
  Lab *lab = *state;

  backend_check_free(lab->check);
  g_socket_service_stop(lab->service);
  g_socket_listener_close(G_SOCKET_LISTENER(lab->service));
  /* Its clients gone, each thread ends by itself. */
  while (g_main_context_iteration(NULL, FALSE) || count_clients(lab, 0) > 0)
    g_usleep(1000);
  g_object_unref(lab->service);
  g_hash_table_unref(lab->on);
  g_mutex_clear(&lab->mutex);
  layout_free(lab->layout);
  g_free(lab);
  return 0;
}

/* ---- Cases --------------------------------------------------------------------------------- */

/* One verdict a node, its own, whatever the others do in the same request. */
static void
test_each(void **state)
{
  const Lab *lab = *state;
  guint32 on = backend_ask(lab->check, OP_ON, names, 4 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "fine1", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "fine2", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "slow1", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "chatty1", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "dead1", VERDICT_UNKNOWN, "dead1: ");
  backend_ask_expect(lab->check, on, "liar1", VERDICT_TIMEOUT,
                     "liar1: powerman calls it done, but it is still off");
  backend_ask_expect(lab->check, on, "refuses1", VERDICT_FAILED,
                     "refuses1: powerman could not, it is still off");
  backend_ask_expect(lab->check, on, "dumb1", VERDICT_UNKNOWN, "and does not know its state");
  backend_ask_expect(lab->check, on, "hangup1", VERDICT_UNKNOWN, "it may have happened");
  backend_ask_expect(lab->check, on, "stranger", VERDICT_FAILED, "has no node stranger");
  guint32 status = backend_ask(lab->check, OP_STATUS, names, 3 * TIME_SECOND, NULL);
  backend_ask_finish(lab->check, status);
  backend_ask_expect(lab->check, status, "fine1", VERDICT_OK, "");
  backend_ask_expect(lab->check, status, "dead1", VERDICT_TIMEOUT, "dead1: ");
  backend_ask_expect(lab->check, status, "dumb1", VERDICT_UNKNOWN,
                     "does not know the state of dumb1");
  backend_ask_expect(lab->check, status, "hangup1", VERDICT_FAILED, "ended the connection");
}

/* The first query has to learn the devices, and waits for the slowest; who asks the same meanwhile
 * is answered with it, and nobody else waits. What is asked behind a change is asked anew. */
static void
test_first_query(void **state)
{
  Lab *lab = *state;
  guint32 first = backend_ask(lab->check, OP_STATUS, "fine1 fine2 slow1", 60 * TIME_SECOND, NULL);
  guint32 again = backend_ask(lab->check, OP_STATUS, "slow1", 60 * TIME_SECOND, NULL);

  while (backend_check_n_open(lab->check) > 2)
    backend_check_step(lab->check, backend_check_now(lab->check) + 10 * TIME_MS);
  backend_ask_expect(lab->check, first, "fine1", VERDICT_OK, "");
  backend_ask_expect(lab->check, first, "fine2", VERDICT_OK, "");
  backend_ask_expect_open(lab->check, first, "slow1");
  backend_ask_expect_open(lab->check, again, "slow1");
  guint32 on = backend_ask(lab->check, OP_ON, "slow1", 60 * TIME_SECOND, NULL);
  guint32 then = backend_ask(lab->check, OP_STATUS, "slow1", 60 * TIME_SECOND, NULL);
  backend_ask_finish(lab->check, first);
  backend_ask_expect(lab->check, again, "slow1", VERDICT_OK, "");
  backend_ask_expect_open(lab->check, on, "slow1");
  backend_ask_finish(lab->check, then);
  backend_ask_expect(lab->check, on, "slow1", VERDICT_OK, "");
  backend_ask_expect(lab->check, then, "slow1", VERDICT_OK, "");
  g_mutex_lock(&lab->mutex);
  guint asked = lab->asked_slow;
  g_mutex_unlock(&lab->mutex);
  /* Of both, behind `on` as it looks, and of the last. */
  assert_int_equal(asked, 3);
}

/* The dead keep none of the others waiting: those are done long before its deadline. */
static void
test_dead_delays_nobody(void **state)
{
  const Lab *lab = *state;
  guint32 dead = backend_ask(lab->check, OP_STATUS, "dead1", 60 * TIME_SECOND, NULL);
  guint32 others =
      backend_ask(lab->check, OP_ON, "fine1 fine2 slow1 chatty1", 60 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, others);
  backend_ask_expect(lab->check, others, "slow1", VERDICT_OK, "");
  backend_ask_expect_open(lab->check, dead, "dead1");
  backend_check_cancel(lab->check, dead);
  backend_ask_finish(lab->check, dead);
  backend_ask_expect(lab->check, dead, "dead1", VERDICT_CANCELLED, "dead1: ");
}

/* What was sent may have happened, and is not sent again; what is called off unsent has not. */
static void
test_cancel(void **state)
{
  Lab *lab = *state;
  guint32 on = backend_ask(lab->check, OP_ON, "dead1", 60 * TIME_SECOND, NULL);
  gint64 until = backend_check_now(lab->check) + 30 * TIME_SECOND;
  guint told = 0;

  while (told == 0 && backend_check_now(lab->check) < until) {
    backend_check_step(lab->check, backend_check_now(lab->check) + 10 * TIME_MS);
    g_mutex_lock(&lab->mutex);
    told = lab->told_dead;
    g_mutex_unlock(&lab->mutex);
  }
  backend_check_cancel(lab->check, on);
  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "dead1", VERDICT_UNKNOWN, "dead1: ");
  guint32 unsent = backend_ask(lab->check, OP_OFF, "fine1", 60 * TIME_SECOND, NULL);
  backend_check_cancel(lab->check, unsent);
  backend_ask_finish(lab->check, unsent);
  backend_ask_expect(lab->check, unsent, "fine1", VERDICT_CANCELLED, "fine1: ");
  backend_check_run(lab->check, backend_check_now(lab->check) + TIME_SECOND / 2);
  g_mutex_lock(&lab->mutex);
  told = lab->told_dead;
  g_mutex_unlock(&lab->mutex);
  assert_int_equal(told, 1);
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const char *const hard[] = {"how", "hard", NULL}, *const soft[] = {"how", "soft", NULL};
  static const CheckAsk asks[] = {{OP_STATUS, 6, NULL, NULL}, {OP_ON, 4, NULL, NULL},
                                  {OP_OFF, 4, hard, NULL},    {OP_OFF, 1, soft, NULL},
                                  {OP_RESET, 2, NULL, NULL},  {OP_KEYS, 2, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};

  backend_ask_walk(lab->check, asks, 100, TIME_SECOND / 5);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_first_query, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_dead_delays_nobody, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_cancel, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
