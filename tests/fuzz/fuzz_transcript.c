/* Any bytes survive being escaped. Any file is refused with a line, or is read, verified and sought
 * through. Any lines of events are refused, or print the same again and are folded into a state
 * that can be copied and shown, whatever nonsense they tell. */
#include "fuzz.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/data.h"
#include "session/replay.h"
#include "session/transcript_parse.h"
#include "ui/ui.h"

static void
check_escape(const char *bytes, gsize length)
{
  g_autoptr(GString) text = g_string_new(NULL);
  transcript_escape(text, bytes, length);
  g_assert_true(g_utf8_validate(text->str, (gssize)text->len, NULL));
  for (const char *p = text->str; *p != '\0'; p = g_utf8_next_char(p))
    g_assert_true(!g_unichar_iscntrl(g_utf8_get_char(p)) || *p == '\t' || *p == '\n');
  gsize n = 0;
  g_autofree char *back = transcript_unescape(text->str, &n);
  g_assert_true(back != NULL && n == length && memcmp(back, bytes, length) == 0);
  g_autofree char *as_text = g_strndup(bytes, length);
  g_autofree char *other = transcript_unescape(as_text, &n);
  g_assert_true(other == NULL || n <= strlen(as_text));
}

/* ---- Whole files ---- */

static void
read_all(const char *path)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TranscriptReader) reader = transcript_open(path, &error);
  gint64 t = 0;
  const Event *event;
  if (reader == NULL) {
    fuzz_check_error(error);
    return;
  }
  for (guint64 seq = 1; (event = transcript_next(reader, NULL, &error)) != NULL; seq++) {
    g_assert_true(event->seq == seq && event->t >= t);
    t = event->t;
  }
  if (error != NULL)
    fuzz_check_error(error);
}

static void
seek_through(const char *path)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Replay) replay = replay_open(path, &error);
  if (replay == NULL) {
    fuzz_check_error(error);
    return;
  }
  gint64 end = replay_end(replay);
  gboolean whole = replay_seek(replay, end, &error);
  g_assert_true(whole == (error == NULL) && replay_now(replay) <= end);
  g_clear_error(&error);
  if (replay_seek(replay, end / 2, &error))
    g_assert_cmpint(replay_now(replay), <=, end / 2);
}

static void
check_file(const uint8_t *data, size_t size)
{
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  g_assert_true(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
  g_autoptr(GError) error = NULL;
  guint64 events;
  read_all(path);
  seek_through(path);
  if (!replay_verify(path, &events, &error))
    fuzz_check_error(error);
  close(fd);
}

/* ---- Lines of a lab that is always the same ---- */

typedef struct {
  const Layout *layout;
  TranscriptLine *line, *again;
  CoreState *core;
  GString *text;
  gint64 t;
} Lab;

/* Reads TEXT, as it was printed, once more: the same comes out. */
static void
check_printed(Lab *lab, const Event *event)
{
  g_string_truncate(lab->text, 0);
  transcript_print_event(lab->text, lab->layout, event);
  g_autofree char *once = g_strdup(lab->text->str);
  Event read;
  g_autoptr(GError) error = NULL;
  if (!transcript_parse_event(lab->again, lab->layout, once, strlen(once) - 1, &read, &error))
    g_error("%s: %s", once, error->message);
  g_string_truncate(lab->text, 0);
  transcript_print_event(lab->text, lab->layout, &read);
  g_assert_cmpstr(once, ==, lab->text->str);
}

/* A line that is scanned instead of parsed is one that parsing takes, for the same. */
static void
check_scanned(Lab *lab, const char *text, gsize length)
{
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(gint64));
  g_autoptr(GString) source = g_string_new(NULL);
  Event scanned, parsed;
  if (!transcript_scan_samples(text, length, values, source, &scanned))
    return;
  g_autofree char *blank = g_strconcat("{ ", text + 1, NULL);
  g_assert_true(transcript_parse_event(lab->again, lab->layout, blank, length + 1, &parsed, NULL));
  g_string_truncate(lab->text, 0);
  transcript_print_event(lab->text, lab->layout, &parsed);
  g_autofree char *printed = g_strdup(lab->text->str);
  g_string_truncate(lab->text, 0);
  transcript_print_event(lab->text, lab->layout, &scanned);
  g_assert_cmpstr(printed, ==, lab->text->str);
}

static void
on_output(const Event *output, gpointer data)
{
  Event event = *output;
  event.seq = 1;
  event.t = ((Lab *)data)->t;
  check_printed(data, &event);
}

static void
take_line(Lab *lab, const char *text, gsize length)
{
  Event event;
  g_autoptr(GError) error = NULL;
  check_scanned(lab, text, length);
  if (!transcript_parse_event(lab->line, lab->layout, text, length, &event, &error)) {
    fuzz_check_error(error);
    return;
  }
  check_printed(lab, &event);
  if (event_is_output(event.kind))
    return;
  lab->t = event.t = MAX(event.t, lab->t);
  core_step(lab->core, &event, on_output, lab);
  g_assert_cmpint(core_deadline(lab->core), >=, 0);
}

static void
check_canvas(const Canvas *canvas)
{
  for (int i = 0; i < canvas->rows * canvas->columns; i++)
    for (const char *p = canvas->cells[i].text; *p != '\0'; p = g_utf8_next_char(p))
      g_assert_false(g_unichar_iscntrl(g_utf8_get_char(p)));
}

static void
show(const CoreState *core)
{
  static const HostOps none = {0};
  static const char *const views[] = {"lab", "boot", "log"};
  const HostStatus status = {.lab = "fuzz", .speed = 1, .end = -1, .wall_clock = "14:03"};
  g_autoptr(Ui) ui = ui_new(core, &none, NULL);
  g_autoptr(Canvas) canvas = canvas_new(24, 80, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(views); i++) {
    g_assert_true(ui_set_view(ui, views[i]));
    ui_draw(ui, canvas, &status);
    check_canvas(canvas);
  }
}

static void
check_lines(const char *data, gsize size)
{
  static Lab lab;
  const CoreOptions options = {.seed = 1, .consent = CONSENT_YES};
  if (lab.layout == NULL)
    lab = (Lab){.layout = data_layout(FUZZ_LAB, NULL),
                .line = transcript_line_new(),
                .again = transcript_line_new(),
                .text = g_string_new(NULL)};
  lab.core = core_new(lab.layout, &options);
  lab.t = 0;
  for (const char *at = data, *end = data + size; at < end;) {
    const char *newline = memchr(at, '\n', (gsize)(end - at));
    gsize length = (gsize)((newline != NULL ? newline : end) - at);
    g_autofree char *text = g_strndup(at, length);
    take_line(&lab, text, length);
    at += length + 1;
  }
  g_autoptr(CoreState) copy = core_clone(lab.core);
  g_assert_cmpint(core_deadline(copy), ==, core_deadline(lab.core));
  core_free(lab.core);
  show(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char head[] = "{\"pult\"";
  if (size >= strlen(head) && memcmp(data, head, strlen(head)) == 0) {
    check_file(data, size);
    return 0;
  }
  check_escape((const char *)data, size);
  check_lines((const char *)data, size);
  return 0;
}
