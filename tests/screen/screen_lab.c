#include "screen_lab.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *
read_file(const char *name, gsize *length)
{
  const char *top = g_getenv("SRC");
  g_autofree char *path = top ? g_build_filename(top, name, NULL) : g_strdup(name);
  g_autoptr(GError) error = NULL;
  char *text = NULL;
  if (!g_file_get_contents(path, &text, length, &error))
    fail_msg("%s", error->message);
  return text;
}

static JobSet *
read_jobs(void)
{
  static const char *const names[] = {"dd-nbd",   "dd-read",  "dd-write",
                                      "find-cat", "tar-read", "tar"};
  JobSet *jobs = job_set_new();
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    gsize length;
    g_autofree char *file = g_strdup_printf("scripts/jobs/%s.yaml", names[i]);
    g_autofree char *text = read_file(file, &length);
    g_autoptr(GError) error = NULL;
    Job *job = job_parse(file, text, length, &error);
    if (!job)
      fail_msg("%s", error->message);
    job_set_take(jobs, job);
  }
  return jobs;
}

static void
take_output(const Event *output, gpointer data)
{
  ScreenLab *lab = data;
  if (output->kind == EVENT_REQUEST &&
      (output->request.operation == OP_ON || output->request.operation == OP_OFF ||
       output->request.operation == OP_RESET || output->request.operation == OP_SET))
    lab->n_power++;
  if (output->kind == EVENT_REQUEST)
    lab->sim->class->submit(lab->sim, lab->t, &output->request);
  else if (output->kind == EVENT_CANCEL)
    lab->sim->class->cancel(lab->sim, lab->t, output->cancel.request);
  else if (output->kind == EVENT_DONE && output->done.cmd == lab->cmd)
    lab->last_verdict = (gint)output->done.verdict;
}

static void
take_post(const Event *event, gpointer data)
{
  ScreenLab *lab = data;
  assert_true(event->t >= lab->t);
  lab->t = event->t;
  core_step(lab->core, event, take_output, lab);
}

ScreenLab *
screen_lab_new(const char *file, const char *text, const HostOps *ops, gpointer host)
{
  const CoreOptions options = {.seed = 1};
  ScreenLab *lab = g_new0(ScreenLab, 1);
  g_autoptr(GError) error = NULL;
  gsize length;
  g_autofree char *content = text ? g_strdup(text) : read_file(file, &length);
  lab->layout = layout_parse(file, content, strlen(content), &error);
  if (!lab->layout)
    fail_msg("%s", error->message);
  lab->jobs = read_jobs();
  lab->core = core_new(lab->layout, &options);
  lab->sim = sim_new("sim", lab->layout, lab->jobs, options.seed, take_post, lab);
  lab->status = (HostStatus){.lab = lab->layout->lab,
                             .speed = 1,
                             .end = -1,
                             .wall_clock = "14:03",
                             .recording = TRUE,
                             .jobs = lab->jobs};
  lab->ui = ui_new(lab->core, ops, host);
  lab->sim->class->start(lab->sim, 0);
  screen_lab_run(lab, 0);
  return lab;
}

void
screen_lab_free(ScreenLab *lab)
{
  if (!lab)
    return;
  ui_free(lab->ui);
  backend_free(lab->sim);
  core_free(lab->core);
  job_set_free(lab->jobs);
  layout_free(lab->layout);
  g_free(lab);
}

void
screen_lab_run(ScreenLab *lab, double seconds)
{
  gint64 until = llround(seconds * 1e9);
  for (;;) {
    gint64 due = lab->sim->class->next_due(lab->sim), wake = core_deadline(lab->core);
    if (MIN(due, wake) > until)
      break;
    if (due <= wake) {
      lab->sim->class->advance(lab->sim, due);
      continue;
    }
    lab->t = MAX(lab->t, wake);
    Event event = {.kind = EVENT_WAKE, .t = lab->t};
    core_step(lab->core, &event, take_output, lab);
  }
  lab->t = until;
  lab->sim->class->advance(lab->sim, until);
  lab->status.now = until;
}

void
screen_lab_say(ScreenLab *lab, const char *line, int confirm)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = core_resolve(lab->core, line, &error);
  if (!text)
    fail_msg("%s: %s", line, error->message);
  lab->last_verdict = -1;
  Event event = {.kind = EVENT_COMMAND, .t = lab->t, .command = {++lab->cmd, line, text, confirm}};
  core_step(lab->core, &event, take_output, lab);
}

char *
screen_lab_draw(ScreenLab *lab, int rows, int columns, gboolean ascii)
{
  g_autoptr(Canvas) canvas = canvas_new(rows, columns, ascii);
  ui_draw(lab->ui, canvas, &lab->status);
  return canvas_dump(canvas, FALSE);
}

void
screen_lab_type(ScreenLab *lab, const char *text)
{
  for (const char *p = text; *p; p = g_utf8_next_char(p))
    ui_key(lab->ui, (UiKey)g_utf8_get_char(p));
}
