/* Whatever a device says, and however it comes in pieces, ends a script in bounded time, and none
 * succeeds that was not answered.
 *
 * The first byte chooses the device, the second how the rest is cut; a byte 0xff lets time pass,
 * and ends a reply where each comes whole. */
#include "fuzz.h"

#include "backends/vswitch/device_talk.h"

static const struct {
  const char *name, *script;
  Argument given[2];
  guint n_given;
  const char *needed[2]; /* what has to be heard of it */
} runs[] = {
    {"extron-sis", "connect", {{"in", "1"}, {"out", "3"}}, 2, {"Out", " All"}},
    {"extron-sis", "query", {{"out", "3"}}, 1, {"\r\n", ""}},
    {"extron-sis", "login", {{"password", "s3cret"}}, 1, {"Password:", "Login "}},
    {"kramer-p3000", "connect", {{"in", "1"}, {"out", "3"}}, 2, {"@VID ", " OK"}},
    {"kramer-p3000", "query", {{"out", "3"}}, 1, {"@VID ", "\r\n"}},
    {"nti-keemux", "connect", {{"in", "1"}, {"out", "3"}}, 2, {"CS 01,01,03", "*"}},
    {"nti-keemux", "query", {{"out", "3"}}, 1, {"RO 01,03", "*"}},
    {"blackbox-cx", "connect", {{"in", "2"}}, 1, {"\x11", ""}},
    {"pikvm-switch", "connect", {{"in", "2"}}, 1, {"200 ", "\"ok\":"}},
    {"pikvm-switch", "query", {{NULL, NULL}}, 0, {"200 ", "\"active_id\":"}},
    {"pikvm", "power-on", {{NULL, NULL}}, 0, {"\"ok\":", "\"power\":"}},
};

static Device *
load(const char *name)
{
  g_autofree char *path = g_strdup_printf("backends/devices/%s.yaml", name);
  g_autofree char *text = NULL;
  gsize length;
  g_autoptr(GError) error = NULL;
  Device *device = NULL;

  if (g_file_get_contents(path, &text, &length, &error))
    device = device_parse(path, text, length, &error);
  if (device == NULL)
    g_error("%s", error->message);
  return device;
}

static void
spoke(gboolean sent, const char *text, gpointer data)
{
  const gboolean *has_secret = data;
  (void)sent;
  g_assert_true(!*has_secret || strstr(text, "s3cret") == NULL);
  for (const char *p = text; *p != '\0'; p++)
    g_assert_true(g_ascii_isprint(*p));
}

static void
take(DeviceTalk *talk, gint64 now)
{
  char bytes[64];

  while (device_talk_take(talk, bytes, sizeof bytes, now) > 0)
    continue;
}

static void
pass(DeviceTalk *talk, gint64 *now, gint64 ns)
{
  gint64 until = *now + ns;

  for (gint64 due; (due = device_talk_due(talk)) <= until;) {
    *now = MAX(*now, due);
    take(talk, *now);
    device_talk_tick(talk, *now);
  }
  *now = until;
}

static void
hear(DeviceTalk *talk, const uint8_t *data, size_t size, guint piece, gboolean whole, gint64 *now)
{
  while (size > 0) {
    if (*data == 0xff) {
      pass(talk, now, 300 * TIME_MS);
      data++;
      size--;
      continue;
    }
    const uint8_t *time = memchr(data, 0xff, size);
    gsize n = time != NULL ? (gsize)(time - data) : size;
    if (whole) {
      device_talk_hear_message(talk, (const char *)data, n, *now);
    } else {
      n = MIN(piece, n);
      device_talk_hear(talk, (const char *)data, n, *now);
    }
    take(talk, *now);
    data += n;
    size -= n;
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static Device *devices[G_N_ELEMENTS(runs)];
  static const DeviceHooks hooks = {spoke, NULL};
  gint64 now = 0;

  if (size < 2)
    return 0;
  guint run = data[0] % G_N_ELEMENTS(runs);
  if (devices[run] == NULL)
    devices[run] = load(runs[run].name);
  const DeviceScript *script = device_script(devices[run], runs[run].script);
  gboolean has_secret = strcmp(runs[run].script, "login") == 0;
  g_autoptr(DeviceTalk) talk = device_talk_new(devices[run], &hooks, &has_secret);
  device_talk_begin(
      talk, script,
      device_values_new(devices[run], script, runs[run].given, runs[run].n_given, NULL), now);
  take(talk, now);
  gboolean whole = devices[run]->framing == DEVICE_MESSAGES;
  hear(talk, data + 2, size - 2, 1u + data[1], whole, &now);
  pass(talk, &now, script->within + TIME_SECOND);
  g_assert_true(device_talk_is_over(talk));
  if (device_talk_verdict(talk) != VERDICT_OK) {
    g_assert_true(*device_talk_text(talk) != '\0');
    return 0;
  }
  g_autoptr(GString) heard = g_string_new(NULL);
  for (size_t i = 2; i < size; i++)
    if (data[i] != 0xff)
      g_string_append_c(heard, (char)data[i]);
  for (guint i = 0; i < 2; i++)
    g_assert_nonnull(
        memmem(heard->str, heard->len, runs[run].needed[i], strlen(runs[run].needed[i])));
  return 0;
}
