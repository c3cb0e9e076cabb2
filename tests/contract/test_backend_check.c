#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/contract/backend_check.h"

/* A backend that can break each rule, so that the checker is seen to notice. */
typedef enum {
  HONEST,
  ANSWERS_AT_ONCE,
  ANSWERS_TWICE,
  ANSWERS_ANOTHER,
  ANSWERS_LATE,
  ANSWERS_UNASKED,
  NAMES_NOBODY,
  SPEAKS_IN_LINES,
  SAYS_UNSUPPORTED,
  TALKS_ON,
  MISDATES,
  IS_EARLY,
  HAS_NO_LINK,
  COUNTS_BACK,
  HAS_NO_COLUMNS,
  LOSES_A_VALUE,
  OBSERVES_NOBODY,
  GIVES_COMMANDS,
} Lie;

typedef struct {
  Backend backend;
  Lie lie;
  gint64 due;
  RequestEvent request;
  NodeId nodes[2];
} Liar;

static const char *
text_of(const Liar *liar)
{
  if (liar->lie == NAMES_NOBODY)
    return "it broke";
  return liar->lie == SPEAKS_IN_LINES ? "a01 broke\nbadly" : "a01 broke";
}

static void
post(const Liar *liar, const Event *event)
{
  liar->backend.post(event, liar->backend.post_data);
}

static void
post_result(const Liar *liar, gint64 t, NodeId node, Verdict verdict)
{
  Event event = {.t = t, .kind = EVENT_RESULT};
  event.result = (ResultEvent){liar->request.id, node, verdict, text_of(liar)};
  post(liar, &event);
}

static void
post_samples(const Liar *liar, gint64 t, guint round)
{
  static const char *const columns[] = {"a01.rx B", "a01.tx B"};
  gint64 values[] = {100 + round, 100};
  if (liar->lie == COUNTS_BACK)
    values[1] -= round;
  Event event = {.t = t, .kind = EVENT_SAMPLES};
  event.samples = (SamplesEvent){"liar", round == 0 ? columns : NULL, values, 2};
  if (liar->lie == HAS_NO_COLUMNS)
    event.samples.columns = NULL;
  if (liar->lie == LOSES_A_VALUE && round == 1)
    event.samples.n = 1;
  post(liar, &event);
}

static void
post_more(const Liar *liar, gint64 t)
{
  Event line = {.t = t, .kind = EVENT_LINE};
  Event observe = {.t = t, .kind = EVENT_OBSERVE};
  Event done = {.t = t, .kind = EVENT_DONE};
  line.line = (LineEvent){liar->request.id, liar->nodes[0], "out", "and another thing"};
  observe.observe = (ObserveEvent){12345, "power", "on", "liar"};
  if (liar->lie == TALKS_ON)
    post(liar, &line);
  if (liar->lie == OBSERVES_NOBODY)
    post(liar, &observe);
  if (liar->lie == GIVES_COMMANDS)
    post(liar, &done);
  if (liar->lie == ANSWERS_TWICE)
    post_result(liar, t, liar->nodes[0], VERDICT_FAILED);
  if (liar->lie == ANSWERS_UNASKED)
    post_result(liar, t, 0, VERDICT_FAILED);
}

static void
liar_start(Backend *backend, gint64 now)
{
  (void)now;
  ((Liar *)backend)->due = 0;
}

static void
liar_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  Liar *liar = (Liar *)backend;
  liar->request = *request;
  liar->nodes[0] = request->nodes[0];
  liar->nodes[1] = request->nodes[0] + 1;
  liar->due = now + TIME_SECOND;
  if (liar->lie == ANSWERS_AT_ONCE)
    post_result(liar, now, request->nodes[0], VERDICT_FAILED);
}

static void
liar_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)request;
  ((Liar *)backend)->due = now;
}

static gint64
liar_next_due(const Backend *backend)
{
  return ((const Liar *)backend)->due;
}

static void
liar_advance(Backend *backend, gint64 t)
{
  Liar *liar = (Liar *)backend;
  if (t < liar->due && !(liar->lie == IS_EARLY && liar->request.id > 0))
    return;
  liar->due = TIME_NEVER;
  Event link = {.t = t, .kind = EVENT_LINK};
  link.link = (LinkEvent){"liar", TRUE, ""};
  if (liar->request.id == 0 && liar->lie != HAS_NO_LINK)
    post(liar, &link);
  if (liar->request.id == 0)
    return;
  post_samples(liar, t, 0);
  post_samples(liar, t, 1);
  post_result(liar, t + (liar->lie == MISDATES ? 1 : 0),
              liar->nodes[liar->lie == ANSWERS_ANOTHER ? 1 : 0],
              liar->lie == SAYS_UNSUPPORTED ? VERDICT_UNSUPPORTED : VERDICT_FAILED);
  post_more(liar, t);
}

static void
liar_free(Backend *backend)
{
  g_free(backend);
}

static const BackendClass liar_class = {
    .name = "liar",
    .operations = 1u << OP_ON,
    .virtual_time = TRUE,
    .start = liar_start,
    .submit = liar_submit,
    .cancel = liar_cancel,
    .next_due = liar_next_due,
    .advance = liar_advance,
    .free = liar_free,
};

static const char two_seats[] = "lab: Two\n"
                                "defaults: {power: sim, server: s1}\n"
                                "subnets: {pool: {net: 10.21.0.0/24}}\n"
                                "switches: {sw1: {}}\n"
                                "servers:\n"
                                "  s1:\n"
                                "    switch: sw1\n"
                                "    subnet: pool\n"
                                "    bonds:\n"
                                "      bond0: {ports: [eth0], speed: 1 Gbit/s, mode: balance-xor, "
                                "policy: layer2, era: 5.18, mac: 52:54:00:21:00:10, "
                                "ip: 10.21.0.254}\n"
                                "clients:\n"
                                "  a[01-02]: {switch: sw1, subnet: pool, speed: 1 Gbit/s, "
                                "mac: 52:54:00:0a:00:00 step 1, ip: 10.21.0.1 step 1}\n";

/* What the checker says of LIE; owned. */
static char *
caught(Lie lie)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Layout) layout = layout_parse("two", two_seats, strlen(two_seats), &error);
  if (layout == NULL)
    fail_msg("%s", error->message);
  g_autoptr(BackendCheck) check = backend_check_new(layout, NULL, NULL);
  Liar *liar = g_new0(Liar, 1);
  liar->backend = (Backend){&liar_class, "liar", backend_check_post, check};
  liar->lie = lie;
  backend_check_start(check, &liar->backend);
  NodeId node = layout_find(layout, "a01");
  gint64 deadline = lie == ANSWERS_LATE ? TIME_MS : TIME_NEVER;
  backend_check_run(check, TIME_MS);
  guint32 request = backend_check_submit(check, OP_ON, &node, 1, deadline, NULL);
  if (backend_check_finish(check, request, 5 * TIME_SECOND))
    assert_int_equal(backend_check_n_open(check), 0);
  return g_strdup(backend_check_violation(check));
}

static void
test_honesty_passes(void **state)
{
  (void)state;
  assert_null(caught(HONEST));
}

static void
test_every_lie_is_caught(void **state)
{
  static const char *const says[] = {
      [ANSWERS_AT_ONCE] = "before submit or cancel returned",
      [ANSWERS_TWICE] = "a result of request 1 for a01 after its result",
      [ANSWERS_ANOTHER] = "which was not asked",
      [ANSWERS_LATE] = "had its result after its deadline",
      [ANSWERS_UNASKED] = "which was not asked",
      [NAMES_NOBODY] = "does not name it",
      [SPEAKS_IN_LINES] = "not one printable line",
      [SAYS_UNSUPPORTED] = "answered unsupported",
      [TALKS_ON] = "a line of request 1 for a01 after its result",
      [MISDATES] = "posted an event of",
      [IS_EARLY] = "posted before it was due",
      [HAS_NO_LINK] = "before its link was up",
      [COUNTS_BACK] = "column 1 of liar went back, from 100 to 99",
      [HAS_NO_COLUMNS] = "samples came before their columns",
      [LOSES_A_VALUE] = "1 values for 2 columns",
      [OBSERVES_NOBODY] = "not in the layout",
      [GIVES_COMMANDS] = "not for a backend",
  };
  (void)state;
  for (Lie lie = HONEST + 1; lie < G_N_ELEMENTS(says); lie++) {
    g_autofree char *said = caught(lie);
    if (said == NULL || strstr(said, says[lie]) == NULL)
      fail_msg("of lie %u it says: %s", lie, said ? said : "nothing");
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_honesty_passes),
      cmocka_unit_test(test_every_lie_is_caught),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
