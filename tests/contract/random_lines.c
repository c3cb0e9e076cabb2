#include "random_lines.h"

#include <string.h>

#include "core/command.h"

typedef struct {
  GRand *random;
  const Layout *layout;
  GString *out;
} Maker;

guint
random_pick(GRand *random, guint n)
{
  return (guint)g_rand_int_range(random, 0, (gint32)n);
}

static const char *
choose(Maker *maker, const char *const *words, guint n)
{
  return words[random_pick(maker->random, n)];
}

#define CHOOSE(maker, ...)                                                                         \
  choose(maker, (const char *const[]){__VA_ARGS__},                                                \
         G_N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

static gboolean
one_in(Maker *maker, guint n)
{
  return random_pick(maker->random, n) == 0;
}

static const char *
any_node(Maker *maker)
{
  return maker->layout->nodes[random_pick(maker->random, maker->layout->n_nodes)].name;
}

static const char *
any_client(Maker *maker)
{
  const Layout *layout = maker->layout;
  return layout->nodes[layout->clients[random_pick(maker->random, layout->n_clients)]].name;
}

static const char *
any_server(Maker *maker)
{
  const Layout *layout = maker->layout;
  for (;;) {
    const LayoutNode *node = &layout->nodes[random_pick(maker->random, layout->n_nodes)];
    if (node->kind == NODE_SERVER)
      return node->name;
  }
}

static void
add_set(Maker *maker)
{
  static const char *const groups[] = {"@all",     "@on",    "@off",   "@unknown", "@failed",
                                       "@booting", "@inuse", "@free",  "@roomA",   "roomA",
                                       "@roomB",   "@front", "@nobody"};
  GString *out = maker->out;
  switch (random_pick(maker->random, 8)) {
  case 0:
  case 1:
    g_string_append_printf(out, " %s", any_client(maker));
    break;
  case 2:
    g_string_append_printf(out, " %s,%s", any_client(maker), any_client(maker));
    break;
  case 3:
    g_string_append_printf(out, " %s!%s", choose(maker, groups, G_N_ELEMENTS(groups)),
                           any_client(maker));
    break;
  case 4:
    g_string_append_printf(out, " \"first(%u, %s)\"", random_pick(maker->random, 4),
                           choose(maker, groups, G_N_ELEMENTS(groups)));
    break;
  case 5:
    g_string_append_printf(out, " %s", any_node(maker));
    break;
  case 6:
    g_string_append(out,
                    CHOOSE(maker, " a[01-03]", " nosuch", " a[1-", " a0?", " *", " @", " a01^a02"));
    break;
  default:
    g_string_append_printf(out, " %s", choose(maker, groups, G_N_ELEMENTS(groups)));
  }
}

static void
add_label(Maker *maker)
{
  g_string_append(maker->out, CHOOSE(maker, " one", " two", " x", " Load_9", " one", " two"));
}

static void
add_short_time(Maker *maker)
{
  g_string_append_printf(maker->out, " %u%s", random_pick(maker->random, 20),
                         CHOOSE(maker, "s", " s", "00 ms", ".5 s", " ms"));
}

static void
add_long_time(Maker *maker)
{
  g_string_append(maker->out, CHOOSE(maker, " 1 min", " 40 s", " 5 s", " 25s", " 0 s"));
}

static void
add_job(Maker *maker)
{
  g_string_append(maker->out, CHOOSE(maker, " find-cat", " dd-nbd", " tar", " dd-read", " tar-read",
                                     " nojob", " find-cat"));
}

static void
make_power(Maker *maker)
{
  g_string_append_printf(maker->out, "power %s",
                         CHOOSE(maker, "on", "off", "cycle", "reset", "status", "on", "of"));
  add_set(maker);
  if (one_in(maker, 4))
    g_string_append(maker->out, CHOOSE(maker, " soft", " hard", " stagger 0.5 s", " stagger 2s",
                                       " including in-use"));
}

static void
make_boot(Maker *maker)
{
  g_string_append(maker->out, "boot");
  add_set(maker);
  if (one_in(maker, 2)) {
    g_string_append(maker->out, " as");
    add_label(maker);
  }
  if (one_in(maker, 3))
    g_string_append(maker->out,
                    CHOOSE(maker, " cold", " warm", " via disk", " via pxe", " via kexec",
                           " entry ubuntu-10.04::nbd", " stagger 1 s", " via keys"));
}

static void
make_wait(Maker *maker)
{
  static const char *const stages[] = {" login", " tftp",     " kernel",
                                       " root",  " firmware", " never"};
  switch (random_pick(maker->random, 3)) {
  case 0:
    g_string_append(maker->out, "wait boot");
    (one_in(maker, 3) ? add_set : add_label)(maker);
    g_string_append(maker->out, choose(maker, stages, G_N_ELEMENTS(stages)));
    break;
  case 1:
    g_string_append(maker->out, "wait load");
    add_label(maker);
    break;
  default:
    g_string_append(maker->out, "wait power");
    add_set(maker);
    g_string_append(maker->out, CHOOSE(maker, " on", " off"));
  }
  if (one_in(maker, 3))
    g_string_append(maker->out, " at-least 1");
  g_string_append(maker->out, " timeout");
  add_long_time(maker);
}

static void
make_load(Maker *maker)
{
  if (one_in(maker, 4)) {
    g_string_append(maker->out, one_in(maker, 2) ? "load stop" : "load leave");
    add_label(maker);
    return;
  }
  g_string_append(maker->out, "load start");
  add_job(maker);
  g_string_append(maker->out, " on");
  add_set(maker);
  if (!one_in(maker, 4)) {
    g_string_append(maker->out, " for");
    add_short_time(maker);
  }
  if (one_in(maker, 2)) {
    g_string_append(maker->out, " as");
    add_label(maker);
  }
  if (one_in(maker, 3))
    g_string_append(maker->out, CHOOSE(maker, " cold", " warm", " rate=1MB/s", " bytes=10MB",
                                       " protocol=nbd", " rate=x", " k=v"));
}

static void
make_measure(Maker *maker)
{
  g_string_append(maker->out, "measure");
  for (guint i = 0; i <= random_pick(maker->random, 3); i++)
    g_string_append(maker->out, CHOOSE(maker, " bond", " seats", " server", " port:eth0",
                                       " link:sw1-sw2", " bond:bond0", " nothing"));
  if (one_in(maker, 3)) {
    g_string_append(maker->out, " during");
    add_label(maker);
  } else {
    g_string_append(maker->out, " for");
    add_short_time(maker);
  }
  if (one_in(maker, 3))
    g_string_append(maker->out, CHOOSE(maker, " window 2 s", " window 100ms", " window 30 s"));
  g_string_append(maker->out, " as");
  add_label(maker);
}

static void
make_expect(Maker *maker)
{
  g_string_append(maker->out, "expect");
  add_label(maker);
  g_string_append(maker->out,
                  CHOOSE(maker, ".boot.mean < 20 s", ".ok > 0", ".bond.tx.peak >= 1 Mbit/s",
                         ".boot.mean within 18 s +-8%", ".rate.median <= 1 Gbit/s", ".nfsd.max > 1",
                         ".no.such < 1", ".disk.bytes > 1 kB"));
}

static void
make_property(Maker *maker)
{
  gboolean sets = !one_in(maker, 3);
  g_string_append(maker->out, sets ? "set " : "get ");
  switch (random_pick(maker->random, 4)) {
  case 0:
    g_string_append_printf(maker->out, "%s%s", any_server(maker),
                           CHOOSE(maker, ".nfsd 1", ".nfsd 64", ".nfsd 0", ".nfsd x",
                                  ".transmit-ceiling 100Mbit/s", ".transmit-ceiling none"));
    break;
  case 1:
    g_string_append_printf(maker->out, "%s/%s", any_server(maker),
                           CHOOSE(maker, "bond0.policy layer2+3", "bond0.policy layer3+4",
                                  "bond0.era 5.18", "bond0.policy layer2", "eth0.state down",
                                  "eth0.state up", "eth1.state down", "eth9.state up"));
    break;
  case 2:
    g_string_append_printf(
        maker->out, "%s%s", any_client(maker),
        CHOOSE(maker, "/eth0.state down", "/eth0.state up", ".mac 52:54:00:77:00:01", ".mac x"));
    break;
  default:
    g_string_append(maker->out, CHOOSE(maker, "link:sw1-sw2.state down", "link:sw1-sw2.state up",
                                       "link:sw2-sw3.state down", "nosuch.thing 5"));
  }
  if (!sets)
    g_string_truncate(maker->out, strcspn(maker->out->str + 4, " ") + 4);
}

static void
make_rest(Maker *maker)
{
  if (one_in(maker, 2)) {
    g_string_append(maker->out, "sleep");
    add_short_time(maker);
    return;
  }
  g_string_append(maker->out, CHOOSE(maker, "mark \"x\"", "mark \"\u00e4 \\\" \\\\ \\$ \u4e00\"",
                                     "stop", "mark remark", "help", "", "pxe show"));
}

static void (*const makers[])(Maker *maker) = {
    make_power,   make_power,  make_boot,     make_boot, make_wait, make_load,
    make_measure, make_expect, make_property, make_rest, make_rest,
};

static void
make_command(Maker *maker)
{
  g_autoptr(GString) line = g_string_new(NULL);
  GString *out = maker->out;
  maker->out = line;
  makers[random_pick(maker->random, G_N_ELEMENTS(makers))](maker);
  maker->out = out;
  if (one_in(maker, 10))
    g_string_append(out, CHOOSE(maker, "plan ", "try ", "plan try "));
  g_string_append_len(out, line->str, (gssize)line->len);
}

/* A few characters lost, doubled or made others. */
static void
damage(Maker *maker)
{
  static const char bytes[] = " \t\";#\\$=[](),.0as<>+-%\xc3\xbc\xff\x01\x1b@!";
  GString *out = maker->out;
  for (guint n = 1 + random_pick(maker->random, 3); n > 0 && out->len > 0; n--) {
    guint at = random_pick(maker->random, (guint)out->len);
    char byte = bytes[random_pick(maker->random, sizeof bytes - 1)];
    if (one_in(maker, 3))
      g_string_erase(out, at, 1);
    else if (one_in(maker, 2))
      g_string_insert_c(out, at, byte);
    else
      out->str[at] = byte;
  }
}

char *
random_line(GRand *random, const Layout *layout)
{
  Maker maker = {random, layout, g_string_new(NULL)};
  for (guint n = one_in(&maker, 6) ? 3 : 1; n > 0; n--) {
    make_command(&maker);
    if (n > 1)
      g_string_append(maker.out, "; ");
  }
  if (one_in(&maker, 8))
    damage(&maker);
  return g_string_free(maker.out, FALSE);
}

/* A command by itself makes sense here; a label may still be of another kind. */
static void
add_script_line(Maker *maker)
{
  g_autoptr(GString) line = g_string_new(NULL);
  GString *out = maker->out;
  g_autoptr(Command) command = NULL;
  maker->out = line;
  do {
    g_string_truncate(line, 0);
    make_command(maker);
    command = command_parse(line->str, NULL);
  } while (command == NULL);
  maker->out = out;
  g_string_append_printf(out, "%s%s\n", one_in(maker, 3) || command->try_only ? "" : "try ",
                         line->str);
}

char *
random_script(GRand *random, const Layout *layout)
{
  static const char *const heads[] = {"repeat 2 do\n", "foreach n in 1..3 do\n",
                                      "foreach n in a01 one 7 order random do\n",
                                      "with s1.nfsd 4 do\n", "with slx1.nfsd 4 do\n"};
  Maker maker = {random, layout, g_string_new(NULL)};
  guint open = 0;
  /* Each label is something, lest the script is refused for it. */
  g_string_append(maker.out, "try boot @off as one\n"
                             "try load start find-cat on @on for 3 s as two\n"
                             "try measure bond for 1 s as x\n"
                             "try measure server for 1 s as Load_9\n");
  for (guint n = 4 + random_pick(random, 8); n > 0; n--) {
    if (one_in(&maker, 4) && open == 0) {
      g_string_append(maker.out, choose(&maker, heads, G_N_ELEMENTS(heads)));
      open++;
    }
    add_script_line(&maker);
    if (open > 0 && one_in(&maker, 3)) {
      g_string_append(maker.out, "end\n");
      open--;
    }
  }
  if (open > 0)
    g_string_append(maker.out, "end\n");
  return g_string_free(maker.out, FALSE);
}
