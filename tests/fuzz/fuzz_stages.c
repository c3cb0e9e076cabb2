/* Any bytes are refused with positions, or are a source whose patterns are held against any lines,
 * a log's and a console's: here the file's own. A shipped source takes the same lines. */
#include "fuzz.h"

#include "model/stage_source.h"

static Layout *lab;
static StageSource *shipped;

static void
begin(void)
{
  g_autofree char *text = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(FUZZ_LAB, &text, &length, NULL));
  lab = layout_parse(FUZZ_LAB, text, length, NULL);
  g_free(text);
  g_assert_true(g_file_get_contents("backends/stages/dnsmasq.yaml", &text, &length, NULL));
  shipped = stage_source_parse("dnsmasq.yaml", text, length, NULL);
  g_assert_true(lab != NULL && shipped != NULL);
}

static void
match(const StageSource *source, const char *text, gsize size)
{
  g_autoptr(SeatFinder) finder = seat_finder_new(lab);
  g_autoptr(StageMatcher) matcher = stage_matcher_new(&source, 1, finder);
  const char *end = text + size;
  for (guint n = 0; n < 64 && text < end; n++) {
    const char *newline = memchr(text, '\n', (gsize)(end - text));
    gsize length = (gsize)((newline != NULL ? newline : end) - text);
    StageSighting sighting;
    if (stage_matcher_take(matcher, text, length, &sighting))
      g_assert_true(sighting.source == source &&
                    (sighting.node == NODE_NONE || sighting.node < lab->n_nodes));
    if (stage_matcher_take_console(matcher, 0, text, length, &sighting))
      g_assert_true(sighting.node == 0);
    g_autofree char *complaint = stage_matcher_complaint(matcher);
    text += length + 1;
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  if (lab == NULL)
    begin();
  match(shipped, text, size);
  g_autoptr(StageSource) source = stage_source_parse("t.yaml", text, size, &error);
  if (source == NULL)
    fuzz_check_positions(error, "t.yaml");
  else
    match(source, text, size);
  return 0;
}
