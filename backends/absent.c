#include "backends/absent.h"

#include "backends/ledger.h"

typedef struct {
  Backend backend;
  Ledger *ledger;
  char *why;
} Absent;

static void
begin(LedgerItem *item, gpointer data)
{
  const Absent *absent = data;

  ledger_answer(item, VERDICT_FAILED, "%s", absent->why);
}

static void
end(LedgerItem *item, gpointer data)
{
  (void)item;
  (void)data;
}

static void
absent_start(Backend *backend, gint64 now)
{
  const Absent *absent = (Absent *)backend;

  (void)now;
  ledger_link(absent->ledger, FALSE, absent->why);
}

static void
absent_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Absent *)backend)->ledger, now, request);
}

static void
absent_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Absent *)backend)->ledger, request);
}

static void
absent_free(Backend *backend)
{
  Absent *absent = (Absent *)backend;

  ledger_free(absent->ledger);
  g_free(absent->why);
  g_free(absent);
}

/* Whatever the real one can do: `unsupported` would be a wrong reason. */
static const BackendClass absent_class = {
    .name = "absent",
    .operations = (1u << OP_N) - 1,
    .start = absent_start,
    .submit = absent_submit,
    .cancel = absent_cancel,
    .free = absent_free,
};

Backend *
absent_new(const BackendSetup *setup, const char *why)
{
  static const LedgerClass ledger = {.begin = begin, .end = end};
  Absent *absent = g_new0(Absent, 1);

  absent->backend = (Backend){&absent_class, setup->name, setup->post, setup->post_data};
  absent->why = g_strdup(why);
  absent->ledger = ledger_new(&absent->backend, setup->layout, &ledger, absent);
  return &absent->backend;
}
