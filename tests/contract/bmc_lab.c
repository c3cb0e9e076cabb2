#ifdef HAVE_IPMI

#include "tests/contract/bmc_lab.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- bmclab -------------------------------------------------------------------------------- */

/* What it prints; NULL, said, when it fails. */
static char *
run_lab(GPtrArray *words)
{
  g_autofree char *out = NULL, *complaint = NULL;
  g_autoptr(GError) error = NULL;
  int status;

  g_ptr_array_add(words, NULL);
  if (!g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out,
                    &complaint, &status, &error) ||
      !g_spawn_check_wait_status(status, &error)) {
    g_autofree char *why = g_strdup(complaint != NULL && *complaint ? complaint : error->message);
    print_message("%s\n", g_strdelimit(g_strstrip(why), "\n", ' '));
    return NULL;
  }
  return g_steal_pointer(&out);
}

static GPtrArray *
words_of(const char *verb)
{
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  const char *source = g_getenv("SRC");

  g_ptr_array_add(words,
                  g_build_filename(source != NULL ? source : ".", "scripts/labs/bmclab", NULL));
  g_ptr_array_add(words, g_strdup(verb));
  return words;
}

static void
add_name(GPtrArray *words, const char *name)
{
  g_ptr_array_add(words, g_strdup("--name"));
  g_ptr_array_add(words, g_strdup(name));
}

char *
bmc_lab_tell(const BmcLab *lab, const char *verb, const char *set, ...)
{
  g_autoptr(GPtrArray) words = words_of(verb);
  va_list more;
  const char *word;

  g_ptr_array_add(words, g_strdup(set));
  va_start(more, set);
  while ((word = va_arg(more, const char *)) != NULL)
    g_ptr_array_add(words, g_strdup(word));
  va_end(more);
  add_name(words, lab->name);
  char *out = run_lab(words);
  if (out == NULL)
    fail_msg("bmclab %s %s failed", verb, set);
  return out;
}

guint
bmc_lab_count(const BmcLab *lab, guint n, const char *what)
{
  g_autofree char *number = g_strdup_printf("bmc%u", n);
  g_autofree char *path = g_build_filename(lab->folder, number, "log", NULL);
  g_autofree char *log = NULL;
  g_autofree char *line = g_strconcat(" did ", what, NULL);
  guint count = 0;

  if (!g_file_get_contents(path, &log, NULL, NULL))
    fail_msg("there is no %s", path);
  g_auto(GStrv) lines = g_strsplit(log, "\n", -1);
  for (char **at = lines; *at != NULL; at++)
    count += g_str_has_suffix(*at, line) ? 1 : 0;
  return count;
}

static gboolean
take_status(BmcLab *lab)
{
  g_autoptr(GPtrArray) words = words_of("status");

  add_name(words, lab->name);
  g_ptr_array_add(words, g_strdup("--json"));
  g_autofree char *text = run_lab(words);
  json_t *status = text != NULL ? json_loads(text, 0, NULL) : NULL;
  if (status == NULL)
    return FALSE;
  lab->net = g_strdup(json_string_value(json_object_get(status, "net")));
  lab->folder = g_strdup(json_string_value(json_object_get(status, "folder")));
  lab->port = (guint)json_integer_value(json_object_get(status, "port"));
  json_decref(status);
  return lab->net != NULL && lab->folder != NULL;
}

static BmcLab *
lab_new(guint n)
{
  BmcLab *lab = g_new0(BmcLab, 1);

  g_assert(n >= 1 && n <= 9);
  lab->n = n;
  lab->jobs = job_set_new();
  lab->seen = g_string_new(NULL);
  return lab;
}

BmcLab *
bmc_lab_new(guint n)
{
  static guint serial;
  g_autoptr(BmcLab) lab = lab_new(n);
  g_autoptr(GPtrArray) words = words_of("up");

  lab->name = g_strdup_printf("test_%d_%u", (int)getpid(), serial++);
  g_ptr_array_add(words, g_strdup_printf("%u", n));
  add_name(words, lab->name);
  g_ptr_array_add(words, g_strdup("--until-exit"));
  g_ptr_array_add(words, g_strdup_printf("%d", (int)getpid()));
  g_ptr_array_add(words, g_strdup("--serial"));
  g_autofree char *out = run_lab(words);
  return out != NULL && take_status(lab) ? g_steal_pointer(&lab) : NULL;
}

BmcLab *
bmc_lab_new_at(const char *net, guint n, const char *password_file)
{
  BmcLab *lab = lab_new(n);

  lab->net = g_strdup(net);
  lab->port = 623;
  lab->folder = g_path_get_dirname(password_file);
  return lab;
}

static void
close_backend(BmcLab *lab)
{
  g_clear_pointer(&lab->check, backend_check_free);
  g_clear_pointer(&lab->layout, layout_free);
}

void
bmc_lab_free(BmcLab *lab)
{
  if (lab == NULL)
    return;
  close_backend(lab);
  if (lab->name != NULL) {
    g_autoptr(GPtrArray) words = words_of("down");
    add_name(words, lab->name);
    g_autofree char *out = run_lab(words);
  }
  job_set_free(lab->jobs);
  g_string_free(lab->seen, TRUE);
  g_free(lab->name);
  g_free(lab->net);
  g_free(lab->folder);
  g_free(lab);
}

/* ---- The backend --------------------------------------------------------------------------- */

static Layout *
make_layout(const BmcLab *lab, const char *settings, const char *overrides)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) places = g_string_new(NULL);

  /* By another spelling than overrides have: a key is given once. */
  for (guint i = 1; i <= lab->n; i++)
    g_string_append_printf(places, "      \"a[%u]\": {address: \"%s.%u:%u\"}\n", i, lab->net, i,
                           lab->port);
  g_autofree char *text = g_strdup_printf(
      "lab: test\n"
      "defaults: {power: bmc}\n"
      "switches: {sw1: {}}\n"
      "clients: {\"a[1-%u]\": {switch: sw1, speed: 1 Gbit/s}, x: {switch: sw1, power: none, "
      "speed: 1 Gbit/s}}\n"
      "rooms: {r: {title: R, seats: \"a[1-%u]\", columns: 6}}\n"
      "backends:\n"
      "  bmc:\n"
      "    type: ipmi\n"
      "    user: admin\n"
      "    password: file:%s/password\n"
      "    workaround: [opensesspriv]\n"
      "%s"
      "    nodes:\n"
      "%s"
      "%s",
      lab->n, lab->n, lab->folder, settings != NULL ? settings : "", places->str,
      overrides != NULL ? overrides : "");
  Layout *layout = layout_parse("test.yaml", text, strlen(text), &error);
  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

static void
see(const Event *event, gpointer data)
{
  BmcLab *lab = data;
  const ObserveEvent *observe = &event->observe;

  if (event->kind == EVENT_LINE)
    g_string_append_printf(lab->seen, "%s %s %s\n",
                           layout_node(lab->layout, event->line.node)->name, event->line.stream,
                           event->line.text);
  if (event->kind == EVENT_OBSERVE)
    g_string_append_printf(lab->seen, "%s %s %s by %s\n",
                           layout_node(lab->layout, observe->node)->name, observe->fact,
                           observe->value, observe->source);
}

static Backend *
make_backend(BmcLab *lab, const char *settings, const char *overrides, GError **error)
{
  close_backend(lab);
  g_string_truncate(lab->seen, 0);
  lab->layout = make_layout(lab, settings, overrides);
  lab->check = backend_check_new(lab->layout, see, lab);
  BackendSetup setup = {.name = g_intern_string("bmc"),
                        .layout = lab->layout,
                        .settings = layout_backend(lab->layout, "bmc"),
                        .jobs = lab->jobs,
                        .post = backend_check_post,
                        .post_data = lab->check};
  return ipmi_backend_new(&setup, error);
}

void
bmc_lab_open(BmcLab *lab, const char *settings, const char *overrides)
{
  g_autoptr(GError) error = NULL;
  Backend *backend = make_backend(lab, settings, overrides, &error);

  if (backend == NULL)
    fail_msg("%s", error->message);
  backend_check_start(lab->check, backend);
}

char *
bmc_lab_open_error(BmcLab *lab, const char *settings, const char *overrides)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Backend) backend = make_backend(lab, settings, overrides, &error);

  if (backend != NULL)
    fail_msg("no error from %s", overrides);
  return g_strdup(error->message);
}

/* ---- Asking -------------------------------------------------------------------------------- */

guint32
bmc_lab_ask(BmcLab *lab, Operation operation, const char *set, gint64 deadline,
            const char *const *arguments)
{
  g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
  g_auto(GStrv) names = g_strsplit(set, ",", -1);

  for (char **name = names; *name != NULL; name++) {
    NodeId node = layout_find(lab->layout, *name);
    g_array_append_val(nodes, node);
  }
  if (g_str_equal(set, "all")) {
    g_array_set_size(nodes, 0);
    for (guint i = 1; i <= lab->n; i++) {
      g_autofree char *name = g_strdup_printf("a%u", i);
      NodeId node = layout_find(lab->layout, name);
      g_array_append_val(nodes, node);
    }
  }
  return backend_check_submit(lab->check, operation, (const NodeId *)(const void *)nodes->data,
                              nodes->len, deadline, arguments);
}

guint32
bmc_lab_do(BmcLab *lab, Operation operation, const char *set, gint64 deadline,
           const char *const *arguments)
{
  guint32 request = bmc_lab_ask(lab, operation, set, deadline, arguments);

  if (!backend_check_finish(lab->check, request,
                            backend_check_now(lab->check) + deadline + 5 * TIME_SECOND))
    fail_msg("%s of %s has no result", operation_name(operation), set);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("%s", backend_check_violation(lab->check));
  return request;
}

void
bmc_lab_expect(const BmcLab *lab, guint32 request, const char *node, Verdict verdict,
               const char *words)
{
  NodeId id = layout_find(lab->layout, node);
  int found = backend_check_verdict(lab->check, request, id);
  const char *text = backend_check_text(lab->check, request, id);

  if (found != (int)verdict)
    fail_msg("%s: %s instead of %s: %s", node, found < 0 ? "nothing" : verdict_name((Verdict)found),
             verdict_name(verdict), text);
  if (words != NULL && strstr(text, words) == NULL)
    fail_msg("%s: `%s` is not in: %s", node, words, text);
}

void
bmc_lab_begin(BmcLab *lab, const char *settings, const char *overrides, gboolean on)
{
  g_autofree char *all = g_strdup_printf("1-%u", lab->n);

  g_free(bmc_lab_tell(lab, "mend", all, NULL));
  bmc_lab_open(lab, NULL, NULL);
  guint32 power = bmc_lab_do(lab, on ? OP_ON : OP_OFF, "all", 30 * TIME_SECOND, NULL);
  for (guint i = 1; i <= lab->n; i++) {
    g_autofree char *name = g_strdup_printf("a%u", i);
    bmc_lab_expect(lab, power, name, VERDICT_OK, NULL);
  }
  bmc_lab_open(lab, settings, overrides);
}

#endif
