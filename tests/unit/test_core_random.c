/* Core under a world that does anything: commands, answers in any order and to anybody, silence,
 * links that come and go. Whatever happens, each command ends exactly once, a stop leaves nothing
 * behind, and a clone goes on as its original does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"

#define EVENTS 10000

static const char *const commands[] = {
    "boot a[01-02] as one",
    "boot a01",
    "boot @all warm as one",
    "boot a02 via disk stagger 3s as two including in-use",
    "reserve a[01-02] until 7s \"exam\"",
    "release a02",
    "console a[01-02]",
    "console a01 off",
    "power on a[01-02]",
    "power off a02 soft",
    "power cycle a[01-02] stagger 2s",
    "power cycle a01,s1",
    "power reset a02",
    "power status a[01-02],s1,sw1",
    "wait boot one login",
    "wait boot one tftp at-least 1 timeout 20s",
    "wait boot a02 kernel timeout 1min",
    "wait power a[01-02] on timeout 30s",
    "wait power a01 off at-least 1",
    "wait load dd",
    "load start dd on a[01-02]",
    "load start find-cat on a01 cold for 5s as two",
    "load start dd on a02 as x",
    "load stop dd",
    "load stop x",
    "measure bond server seats for 3s as m",
    "measure port:eth1 during dd as dd",
    "measure bond during one as one",
    "expect one.boot.mean < 20 s",
    "expect dd.ok > 0",
    "set s1/bond0.policy layer2+3",
    "get s1.nfsd",
    "plan boot a01",
    "mark \"x\"",
    "sleep 2s",
    "stop",
    "nonsense",
    "boot @failed",
};
static const char *const nodes[] = {"a01", "a02", "s1", "sw1"};
static const struct {
  const char *fact, *value;
} facts[] = {
    {"power", "on"},
    {"power", "off"},
    {"power", "maybe"},
    {"stage", "firmware"},
    {"stage", "dhcp"},
    {"stage", "tftp"},
    {"stage", "kernel"},
    {"stage", "initramfs"},
    {"stage", "root"},
    {"stage", "login"},
    {"stage", "windows"},
    {"usage", "in use"},
    {"usage", "free"},
    {"usage", "unknown"},
    {"reserved", "until 3 s by b@c: d"},
    {"reserved", "no"},
    {"mac", "52:54:00:0a:00:05"},
    {"bond0.policy", "layer3+4"},
    {"eth1.state", "down"},
    {"eth1.state", "up"},
    {"nfsd", "9"},
};
static const char *const figures[] = {"bytes=1000 seconds=2 files=3 start_ns=5", "bytes=", "=1",
                                      "seconds=0 bytes=7"};
static const char *const columns[] = {"s1/eth0.tx B", "s1/eth1.tx B", "a01.rx B", "s1.load m"};

typedef struct {
  Layout *layout;
  CoreState *state;
  GRand *rand;
  gint64 t;
  guint32 cmd, request;
  gint64 counters[G_N_ELEMENTS(columns)];
  GArray *done; /* by cmd: how often */
  GString *out;
} World;

static void
take(const Event *output, gpointer data)
{
  World *world = data;
  g_string_append_printf(world->out, "%d", output->kind);
  if (output->kind == EVENT_REQUEST) {
    assert_true(output->request.id > world->request);
    assert_true(output->request.n_nodes > 0);
    world->request = output->request.id;
    g_string_append_printf(world->out, " %u %d %u", output->request.id, output->request.operation,
                           output->request.n_nodes);
  } else if (output->kind == EVENT_DONE) {
    g_array_index(world->done, guint, output->done.cmd)++;
    g_string_append_printf(world->out, " %u %d", output->done.cmd, output->done.verdict);
  } else if (output->kind == EVENT_NOTE) {
    g_string_append(world->out, output->note.text);
  } else if (output->kind == EVENT_FIGURE) {
    char value[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(value, sizeof value, output->figure.value);
    g_string_append_printf(world->out, "%s.%s %s %u", output->figure.label, output->figure.name,
                           value, output->figure.n);
  }
  g_string_append_c(world->out, '\n');
}

static guint
pick(World *world, guint n)
{
  return (guint)g_rand_int_range(world->rand, 0, (gint)n);
}

static void
feed(World *world, Event event)
{
  event.t = world->t;
  core_step(world->state, &event, take, world);
}

static void
settle(World *world)
{
  for (guint i = 0; core_deadline(world->state) <= world->t; i++) {
    assert_true(i < 100);
    feed(world, (Event){.kind = EVENT_WAKE});
  }
}

static NodeId
some_node(World *world)
{
  return layout_find(world->layout, nodes[pick(world, G_N_ELEMENTS(nodes))]);
}

static void
command(World *world, const char *text)
{
  guint none = 0;
  settle(world);
  g_array_append_val(world->done, none);
  feed(world, (Event){.kind = EVENT_COMMAND, .command = {++world->cmd, text, text, -1}});
}

static void
happen(World *world)
{
  guint32 recent = world->request > 6 ? world->request - pick(world, 6) : pick(world, 7);
  guint what = pick(world, 100);
  if (what < 8) {
    command(world, commands[pick(world, G_N_ELEMENTS(commands))]);
  } else if (what < 45) {
    Verdict verdict = pick(world, 4) ? VERDICT_OK : (Verdict)pick(world, VERDICT_UNSUPPORTED + 1);
    feed(world, (Event){.kind = EVENT_RESULT,
                        .result = {recent, some_node(world), verdict, pick(world, 2) ? "" : "so"}});
  } else if (what < 75) {
    guint fact = pick(world, G_N_ELEMENTS(facts));
    feed(world, (Event){.kind = EVENT_OBSERVE,
                        .observe = {some_node(world), facts[fact].fact, facts[fact].value, "sim"}});
  } else if (what < 80) {
    feed(world, (Event){.kind = EVENT_LINE,
                        .line = {recent, some_node(world), "figures",
                                 figures[pick(world, G_N_ELEMENTS(figures))]}});
  } else if (what < 85) {
    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
      world->counters[i] += pick(world, 1000);
    feed(world, (Event){.kind = EVENT_SAMPLES,
                        .samples = {"sim", pick(world, 10) ? NULL : columns, world->counters,
                                    G_N_ELEMENTS(columns)}});
  } else if (what < 86) {
    gboolean up = pick(world, 3) > 0;
    feed(world, (Event){.kind = EVENT_LINK, .link = {"sim", up, up ? "up" : "down"}});
  } else {
    gint64 t = world->t + pick(world, 3000) * TIME_MS;
    settle(world);
    while (core_deadline(world->state) < t) {
      world->t = core_deadline(world->state);
      settle(world);
    }
    world->t = t;
  }
}

static void
check_whole(const World *world)
{
  for (guint i = 0; i < state_n_boots(world->state); i++) {
    const BootRun *run = state_boot(world->state, i);
    guint n_ok = 0, n_failed = 0;
    for (guint s = 0; s < run->n; s++) {
      n_ok += run->seats[s].outcome == SEAT_OK;
      n_failed += run->seats[s].outcome == SEAT_FAILED;
    }
    assert_int_equal(n_ok, run->n_ok);
    assert_int_equal(n_failed, run->n_failed);
    assert_int_equal(run->end_t >= 0, n_ok + n_failed == run->n);
  }
  for (guint i = 0; i < world->layout->n_nodes; i++) {
    const NodeState *node = state_node(world->state, i);
    assert_int_equal(node->fault != NULL, node->fault_t >= 0);
    assert_true(node->stage_limit >= world->t || node->stage_limit == core_deadline(world->state));
  }
}

/* The same happens to the clone, then both are compared. */
static void
check_clone(World *world)
{
  World twin = *world;
  guint length = world->done->len;
  twin.state = core_clone(world->state);
  twin.rand = g_rand_copy(world->rand);
  twin.out = g_string_new(NULL);
  twin.done = g_array_copy(world->done);
  g_string_truncate(world->out, 0);
  for (guint i = 0; i < 200; i++) {
    happen(world);
    happen(&twin);
  }
  assert_string_equal(world->out->str, twin.out->str);
  assert_true(world->done->len >= length);
  core_free(twin.state);
  g_rand_free(twin.rand);
  g_string_free(twin.out, TRUE);
  g_array_unref(twin.done);
}

static void
check_ends(World *world)
{
  command(world, "stop");
  for (guint i = 0; i < 400; i++) {
    world->t += TIME_SECOND;
    settle(world);
  }
  for (guint32 cmd = 1; cmd <= world->cmd; cmd++)
    if (g_array_index(world->done, guint, cmd) != 1)
      fail_msg("command %u ended %u times", cmd, g_array_index(world->done, guint, cmd));
  for (guint i = 0; i < world->layout->n_nodes; i++)
    assert_false(state_node(world->state, i)->acting);
}

static void
run_world(guint32 seed, const CoreOptions *options)
{
  g_autofree char *path = g_build_filename(g_getenv("SRC") ? g_getenv("SRC") : ".",
                                           "tests/unit/samples/two-seats.yaml", NULL);
  g_autofree char *text = NULL;
  gsize length;
  assert_true(g_file_get_contents(path, &text, &length, NULL));
  World world = {.layout = layout_parse("two-seats.yaml", text, length, NULL),
                 .rand = g_rand_new_with_seed(seed),
                 .done = g_array_new(FALSE, TRUE, sizeof(guint)),
                 .out = g_string_new(NULL)};
  world.state = core_new(world.layout, options);
  g_array_set_size(world.done, 1);
  feed(&world, (Event){.kind = EVENT_LINK, .link = {"sim", TRUE, "up"}});
  for (guint i = 0; i < EVENTS; i++) {
    happen(&world);
    check_whole(&world);
    if (i % 1000 == 500)
      check_clone(&world);
    if (i % 2500 == 2499)
      check_ends(&world);
  }
  check_ends(&world);
  core_free(world.state);
  layout_free(world.layout);
  g_rand_free(world.rand);
  g_array_unref(world.done);
  g_string_free(world.out, TRUE);
}

static void
test_anything(void **state)
{
  (void)state;
  const CoreOptions yes = {.consent = CONSENT_YES};
  for (guint32 seed = 1; seed <= 4; seed++)
    run_world(seed, &yes);
}

static void
test_anything_read_only(void **state)
{
  (void)state;
  const CoreOptions read_only = {.consent = CONSENT_YES, .read_only = TRUE};
  run_world(5, &read_only);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_anything),
      cmocka_unit_test(test_anything_read_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
