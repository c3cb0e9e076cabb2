#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gio/gio.h>

#include "backends/vswitch/vswitch.h"
#include "tests/contract/backend_ask.h"

/* A matrix that speaks SIS as its maker's guide says; each input has a fault, that of its seat. */
static const char *const seats[] = {"fine1",   "fine2",   "split3", "news4",  "silent5", "garbles6",
                                    "hangup7", "refuse8", "other9", "both10", "late11",  NULL};

typedef struct {
  GSocketService *service;
  guint16 port;
  GMutex mutex; /* guards what follows */
  guint n_clients;
  guint shown[16]; /* by output */
  guint n_asked[16];
  /* Of the main thread. */
  Layout *layout;
  BackendCheck *check;
  GString *said;
} Lab;

static void
say(GOutputStream *out, const char *text)
{
  g_output_stream_write_all(out, text, strlen(text), NULL, NULL, NULL);
}

static void
tell(Lab *lab, GOutputStream *out, guint output)
{
  g_mutex_lock(&lab->mutex);
  g_autofree char *reply = g_strdup_printf("%02u\r\n", lab->shown[output]);
  g_mutex_unlock(&lab->mutex);
  say(out, reply);
}

/* FALSE: it hangs up. */
static gboolean
tie(Lab *lab, GOutputStream *out, guint input, guint output)
{
  g_autofree char *reply = g_strdup_printf("Out%02u In%02u All\r\n", output, input);

  if (input == 8) {
    say(out, "E01\r\n");
    return TRUE;
  }
  g_mutex_lock(&lab->mutex);
  lab->shown[output] = input;
  lab->n_asked[input]++;
  g_mutex_unlock(&lab->mutex);
  if (input == 3) {
    for (const char *p = reply; *p != '\0'; p++) {
      g_output_stream_write_all(out, p, 1, NULL, NULL, NULL);
      g_usleep(2000);
    }
  } else if (input == 4) {
    g_autofree char *merged = g_strconcat("Out05 In02 All\r\nQik\r\n", reply, "In04 All\r\n", NULL);
    say(out, merged);
  } else if (input == 6) {
    say(out, "Out01 Jn06 All\r\n");
  } else if (input == 9) {
    say(out, "Out01 In02 All\r\n");
  } else if (input == 10) {
    g_autofree char *both = g_strconcat(reply, "E22\r\n", NULL);
    say(out, both);
  } else if (input == 11) {
    g_usleep(500000);
    say(out, reply);
  } else if (input != 5 && input != 7) {
    say(out, reply);
  }
  return input != 7;
}

static void
count_client(Lab *lab, int more)
{
  g_mutex_lock(&lab->mutex);
  lab->n_clients += (guint)more;
  g_mutex_unlock(&lab->mutex);
}

/* SIS has no end of a command: `1*3!` ties, `3&` asks, `Q` asks for the version. */
static gboolean
on_client(GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
          gpointer data)
{
  GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(connection));
  GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(connection));
  Lab *lab = data;
  guint number = 0, before = 0;
  guint8 byte;
  gboolean good = TRUE;
  (void)service;
  (void)source;

  count_client(lab, 1);
  say(out, "\377\373\001\r\n(c) Copyright 2009, Extron Electronics\r\n");
  while (good && g_input_stream_read(in, &byte, 1, NULL, NULL) == 1) {
    if (byte == 255) { /* IAC, an option, which */
      good = g_input_stream_read(in, &byte, 1, NULL, NULL) == 1 &&
             g_input_stream_read(in, &byte, 1, NULL, NULL) == 1;
    } else if (g_ascii_isdigit(byte)) {
      number = number * 10 + (byte - '0');
    } else if (byte == '*') {
      before = number;
      number = 0;
    } else if (byte == '!') {
      good = tie(lab, out, before, MIN(number, 15));
      number = 0;
    } else if (byte == '&') {
      tell(lab, out, MIN(number, 15));
      number = 0;
    } else if (byte == 'Q') {
      say(out, "1.23\r\n");
    }
  }
  count_client(lab, -1);
  return TRUE;
}

/* ---- The lab ------------------------------------------------------------------------------- */

static void
on_seen(const Event *event, gpointer data)
{
  Lab *lab = data;

  if (event->kind == EVENT_LINE)
    g_string_append_printf(lab->said, "%s\n", strchr(event->line.text, ' ') + 1);
  else if (event->kind == EVENT_OBSERVE && strcmp(event->observe.value, "yes") == 0)
    g_string_append_printf(lab->said, "%s %s\n", event->observe.fact,
                           lab->layout->nodes[event->observe.node].name);
}

static void
serve(Lab *lab)
{
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);
  g_autoptr(GSocketAddress) bound = NULL;

  lab->service = g_threaded_socket_service_new(64);
  assert_true(g_socket_listener_add_address(G_SOCKET_LISTENER(lab->service), any,
                                            G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
                                            &bound, NULL));
  lab->port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  g_signal_connect(lab->service, "run", G_CALLBACK(on_client), lab);
}

static int
set_up(void **state)
{
  Lab *lab = g_new0(Lab, 1);
  GError *error = NULL;
  g_autofree char *set = g_strjoinv(",", (char **)seats);

  serve(lab);
  lab->said = g_string_new(NULL);
  g_autofree char *text = g_strdup_printf("lab: t\ndefaults: {keys: kvm}\nswitches: {sw1: {}}\n"
                                          "clients: {\"%s\": {switch: sw1, speed: 1 Gbit/s}}\n"
                                          "backends: {kvm: {type: vswitch, device: extron-sis, "
                                          "via: telnet, address: \"127.0.0.1:%u\"}}\n",
                                          set, lab->port);
  lab->layout = layout_parse("t", text, strlen(text), &error);
  if (lab->layout == NULL)
    fail_msg("%s", error->message);
  lab->check = backend_check_new(lab->layout, on_seen, lab);
  BackendSetup setup = {.name = g_intern_string("kvm"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "kvm"),
                        .post = backend_check_post,
                        .post_data = lab->check};
  Backend *backend = vswitch_new(&setup, &error);
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
  guint n_clients = 1;

  backend_check_free(lab->check);
  g_socket_service_stop(lab->service);
  g_socket_listener_close(G_SOCKET_LISTENER(lab->service));
  /* Its clients gone, each thread ends by itself. */
  while (g_main_context_iteration(NULL, FALSE) || n_clients > 0) {
    g_usleep(1000);
    g_mutex_lock(&lab->mutex);
    n_clients = lab->n_clients;
    g_mutex_unlock(&lab->mutex);
  }
  g_object_unref(lab->service);
  g_mutex_clear(&lab->mutex);
  layout_free(lab->layout);
  g_string_free(lab->said, TRUE);
  g_free(lab);
  return 0;
}

static guint32
route(const Lab *lab, const char *name, gint64 deadline)
{
  return backend_ask(lab->check, OP_ROUTE, name, deadline, NULL);
}

static void
expect(const Lab *lab, guint32 request, const char *name, Verdict verdict, const char *said)
{
  backend_ask_finish(lab->check, request);
  backend_ask_expect(lab->check, request, name, verdict, said);
}

static void
expect_route(const Lab *lab, const char *name, Verdict verdict, const char *said)
{
  expect(lab, route(lab, name, 30 * TIME_SECOND), name, verdict, said);
}

/* ---- Cases --------------------------------------------------------------------------------- */

/* Each fault its own sentence, and after each the device can be asked again. */
static void
test_each(void **state)
{
  Lab *lab = *state;

  expect_route(lab, "fine1", VERDICT_OK, "");
  expect_route(lab, "split3", VERDICT_OK, "");
  expect_route(lab, "news4", VERDICT_OK, "");
  expect_route(lab, "late11", VERDICT_OK, "");
  expect_route(lab, "refuse8", VERDICT_FAILED,
               "refuse8: it answered \"E01\": there is no such input");
  expect_route(lab, "both10", VERDICT_FAILED, "both10: it answered \"E22\": it is busy");
  expect_route(lab, "fine2", VERDICT_OK, "");
  expect_route(lab, "silent5", VERDICT_UNKNOWN, "it said nothing for");
  expect_route(lab, "fine1", VERDICT_OK, "");
  expect_route(lab, "garbles6", VERDICT_UNKNOWN, "it said \"Out01 Jn06 All\"");
  expect_route(lab, "other9", VERDICT_UNKNOWN, "it said \"Out01 In02 All\"");
  expect_route(lab, "hangup7", VERDICT_UNKNOWN, "; it may have happened");
  /* All that was said is told, options of Telnet aside. */
  assert_non_null(strstr(lab->said->str, "> 4*1!\n< Out05 In02 All\n< Qik\n< Out01 In04 All\n"));
  assert_non_null(strstr(lab->said->str, "< (c) Copyright 2009, Extron Electronics\n"));
  assert_non_null(strstr(lab->said->str, "shown fine1\n"));
  g_mutex_lock(&lab->mutex);
  guint silent = lab->n_asked[5], hangup = lab->n_asked[7];
  g_mutex_unlock(&lab->mutex);
  /* Nothing is sent twice. */
  assert_int_equal(silent, 1);
  assert_int_equal(hangup, 1);
}

static guint
shown(Lab *lab)
{
  g_mutex_lock(&lab->mutex);
  guint input = lab->shown[1];
  g_mutex_unlock(&lab->mutex);
  return input;
}

static void
expect_back(const Lab *lab, Verdict verdict, const char *said)
{
  static const char *const back[] = {"to", "back", NULL};

  expect(lab, backend_ask(lab->check, OP_ROUTE, "fine1", 30 * TIME_SECOND, back), "fine1", verdict,
         said);
}

/* What was there before the first route is asked for, be it none of the lab's seats. */
static void
test_back(void **state)
{
  Lab *lab = *state;

  lab->shown[1] = 14;
  expect_back(lab, VERDICT_FAILED, "nothing was shown before");
  expect_route(lab, "fine1", VERDICT_OK, "");
  expect_route(lab, "fine2", VERDICT_OK, "");
  expect_route(lab, "fine2", VERDICT_OK, "");
  assert_int_equal(shown(lab), 2);
  expect_back(lab, VERDICT_OK, "");
  assert_int_equal(shown(lab), 1);
  expect_back(lab, VERDICT_OK, "");
  assert_int_equal(shown(lab), 14);
  expect_back(lab, VERDICT_FAILED, "nothing was shown before");
}

/* One owner and one queue: what is asked at once goes out one after the other. */
static void
test_queue(void **state)
{
  const Lab *lab = *state;
  static const char *const names[] = {"fine1", "split3", "news4", "late11", "fine2"};
  guint32 requests[G_N_ELEMENTS(names)];

  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    requests[i] = route(lab, names[i], 30 * TIME_SECOND);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    expect(lab, requests[i], names[i], VERDICT_OK, "");
}

/* What was sent may have happened; what waited behind it is called off unsent. */
static void
test_cancel(void **state)
{
  Lab *lab = *state;
  guint32 first = route(lab, "silent5", 30 * TIME_SECOND);
  guint32 second = route(lab, "fine2", 30 * TIME_SECOND);
  gint64 until = backend_check_now(lab->check) + 30 * TIME_SECOND;
  guint asked = 0;

  while (asked == 0 && backend_check_now(lab->check) < until) {
    backend_check_step(lab->check, backend_check_now(lab->check) + 10 * TIME_MS);
    g_mutex_lock(&lab->mutex);
    asked = lab->n_asked[5];
    g_mutex_unlock(&lab->mutex);
  }
  backend_check_cancel(lab->check, second);
  expect(lab, second, "fine2", VERDICT_CANCELLED, "fine2: ");
  backend_check_cancel(lab->check, first);
  expect(lab, first, "silent5", VERDICT_UNKNOWN, "silent5: ");
  expect_route(lab, "fine1", VERDICT_OK, "");
  g_mutex_lock(&lab->mutex);
  guint fine2 = lab->n_asked[2];
  g_mutex_unlock(&lab->mutex);
  assert_int_equal(fine2, 0);
}

static void
test_walk(void **state)
{
  const Lab *lab = *state;
  static const CheckAsk asks[] = {{OP_ROUTE, 8, NULL, NULL},
                                  {OP_KEYS, 1, NULL, NULL},
                                  {OP_STATUS, 1, NULL, NULL},
                                  {OP_STATUS, 0, NULL, NULL}};
  CheckWalk walk = {asks, lab->layout->clients, lab->layout->n_clients, 60, TIME_SECOND / 5};

  backend_check_walk(lab->check, &walk, 1);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("%s", backend_check_violation(lab->check));
  assert_true(backend_check_count(lab->check, VERDICT_OK) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_UNSUPPORTED) > 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_queue, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_cancel, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
