#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/contract/backend_ask.h"

static NodeId
node_of(const BackendCheck *check, const char *name)
{
  NodeId node = layout_find(backend_check_layout(check), name);

  if (node == NODE_NONE)
    fail_msg("the layout has no %s", name);
  return node;
}

static void
expect_no_violation(const BackendCheck *check)
{
  if (backend_check_violation(check) != NULL)
    fail_msg("%s", backend_check_violation(check));
}

guint32
backend_ask(BackendCheck *check, Operation operation, const char *set, gint64 deadline,
            const char *const *arguments)
{
  g_auto(GStrv) names = g_strsplit(set, " ", -1);
  guint n = g_strv_length(names);
  g_autofree NodeId *nodes = g_new(NodeId, n);

  for (guint i = 0; i < n; i++)
    nodes[i] = node_of(check, names[i]);
  return backend_check_submit(check, operation, nodes, n, deadline, arguments);
}

void
backend_ask_finish(BackendCheck *check, guint32 request)
{
  gboolean finished =
      backend_check_finish(check, request, backend_check_now(check) + 60 * TIME_SECOND);

  expect_no_violation(check);
  assert_true(finished);
}

void
backend_ask_expect(const BackendCheck *check, guint32 request, const char *name, Verdict verdict,
                   const char *said)
{
  NodeId node = node_of(check, name);
  int found = backend_check_verdict(check, request, node);

  if (found < 0)
    fail_msg("%s: no result yet", name);
  const char *text = backend_check_text(check, request, node);
  if ((Verdict)found != verdict || strstr(text, said) == NULL)
    fail_msg("%s: %s, \"%s\"", name, verdict_name((Verdict)found), text);
}

void
backend_ask_expect_open(const BackendCheck *check, guint32 request, const char *name)
{
  assert_int_equal(backend_check_verdict(check, request, node_of(check, name)), -1);
}

static void
ask_signal(BackendCheck *check, guint32 exec, const char *name, const char *signal,
           const char *duration, Verdict verdict)
{
  g_autofree char *id = g_strdup_printf("%u", exec);
  const char *arguments[] = {"request", id, "signal", signal, "for", duration, NULL};
  guint32 request = backend_ask(check, OP_SIGNAL, name, 10 * TIME_SECOND, arguments);

  backend_ask_finish(check, request);
  backend_ask_expect(check, request, name, verdict, "");
}

void
backend_ask_leave(BackendCheck *check, guint32 exec, const char *name, const char *duration)
{
  g_autofree char *text = g_strdup_printf("%s: left running", name);
  NodeId node = node_of(check, name);

  ask_signal(check, exec + 1000000, name, "LEAVE", duration, VERDICT_FAILED);
  backend_ask_expect_open(check, exec, name);
  ask_signal(check, exec, name, "LEAVE", duration, VERDICT_OK);
  gint64 end = backend_check_now(check) + 60 * TIME_SECOND;
  while (backend_check_verdict(check, exec, node) < 0 && backend_check_step(check, end))
    ;
  backend_ask_expect(check, exec, name, VERDICT_CANCELLED, text);
  ask_signal(check, exec, name, "LEAVE", duration, VERDICT_FAILED);
  ask_signal(check, exec, name, "TERM", duration, VERDICT_FAILED);
}

void
backend_ask_walk(BackendCheck *check, const CheckAsk *asks, guint n_steps, gint64 longest)
{
  const Layout *layout = backend_check_layout(check);
  CheckWalk walk = {asks, layout->clients, layout->n_clients, n_steps, longest};

  backend_check_walk(check, &walk, 1);
  expect_no_violation(check);
  assert_true(backend_check_count(check, VERDICT_OK) > 0);
  assert_true(backend_check_count(check, VERDICT_UNSUPPORTED) > 0);
}
