/* Lines a second on the way to the file: what a two-room lab sends ten times a second, a samples
 * line of 90 counters, and as many short lines. Aim: 200,000 lines/s; half of it fails. */
#include <stdio.h>

#include "session/transcript.h"

#define SAMPLE "tests/unit/samples/two-seats.jsonl"
#define VALUES 90
#define LINES 400000
#define AIM 200000

static gint64
write_lines(TranscriptWriter *writer, const Layout *layout)
{
  gint64 values[VALUES];
  for (guint i = 0; i < VALUES; i++)
    values[i] = 123456789 * (gint64)(i + 1);
  Event samples = {.kind = EVENT_SAMPLES, .samples = {"sim", NULL, values, VALUES}};
  Event observe = {.kind = EVENT_OBSERVE, .observe = {0, "stage", "initramfs", "sim"}};
  g_autoptr(GString) line = g_string_new(NULL);
  for (guint i = 0; i < LINES; i++) {
    Event *event = i % 2 == 0 ? &samples : &observe;
    event->seq = i + 1;
    event->t = (gint64)i * 100 * TIME_MS;
    values[i % VALUES] += 1448;
    g_string_truncate(line, 0);
    transcript_print_event(line, layout, event);
    if (!transcript_write(writer, line->str, line->len, NULL))
      return 0;
  }
  return transcript_flush(writer, NULL) ? LINES : 0;
}

int
main(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TranscriptReader) reader = transcript_open(SAMPLE, &error);
  g_autoptr(TranscriptWriter) writer =
      reader != NULL ? transcript_create("/dev/null", &error) : NULL;
  if (writer == NULL) {
    fprintf(stderr, "bench_transcript: %s\n", error->message);
    return 1;
  }
  gint64 begin = g_get_monotonic_time();
  gint64 n = write_lines(writer, transcript_layout(reader));
  double seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
  double rate = (double)n / seconds;
  printf("transcript: %.0f lines/s, half of them with %d counters (aim %d)\n", rate, VALUES, AIM);
  return rate >= AIM / 2.0 ? 0 : 1;
}
