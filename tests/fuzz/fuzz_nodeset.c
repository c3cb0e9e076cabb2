/* Any text is refused with a message, or is a set that its folded text names again. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/nodeset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *
give_group(const char *name, gpointer text, GError **error)
{
  if (strlen(name) < 4)
    return g_strdup(text);
  g_set_error(error, NODESET_ERROR, 0, "no group %s", name);
  return NULL;
}

/* The first line is the set, the rest what its groups hold. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  char *groups = strchr(text, '\n');
  if (groups)
    *groups++ = '\0';
  g_autoptr(GError) error = NULL;
  g_autoptr(Nodeset) set = nodeset_parse(text, groups ? give_group : NULL, groups, &error);
  if (!set) {
    g_assert(error && g_utf8_validate(error->message, -1, NULL));
    return 0;
  }
  gboolean hyphens = FALSE; /* a[-1] and a-1 are two, but look alike */
  for (guint i = 0; i < nodeset_count(set); i++) {
    const char *name = nodeset_name(set, i);
    g_assert(strlen(name) <= 255);
    hyphens = hyphens || strchr(name, '-');
    g_assert(hyphens || nodeset_contains(set, name));
  }
  g_autofree char *folded = nodeset_fold(set);
  g_autoptr(Nodeset) again = nodeset_parse(folded, NULL, NULL, NULL);
  if (again && !hyphens) {
    g_autofree char *folded_again = nodeset_fold(again);
    g_assert(nodeset_count(again) == nodeset_count(set));
    g_assert(g_str_equal(folded, folded_again));
  }
  return 0;
}
