#include "session/reservations.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/transcript.h"
#include "session/transcript_fields.h"

#define VERSION 1
#define FILE_MAX (16 * 1024 * 1024)
#define LINE_MAX_BYTES 4096
#define NAME_MAX_BYTES 64
#define LOCK_TRIES 50
#define LOCK_PAUSE_US 10000

struct Reservations {
  char *path, *lab;
  GHashTable *held; /* node's name → Reservation */
  char *problem;    /* of the file as last read; NULL none */
  gboolean looked, changed;
  struct stat seen; /* the file as last read; all 0 when there was none */
};

static void
reservation_free(gpointer data)
{
  Reservation *reservation = data;
  g_free((char *)reservation->by);
  g_free((char *)reservation->why);
  g_free(reservation);
}

Reservations *
reservations_new(const char *path, const char *lab)
{
  Reservations *reservations = g_new0(Reservations, 1);
  reservations->path = g_strdup(path);
  reservations->lab = g_strdup(lab);
  reservations->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, reservation_free);
  return reservations;
}

void
reservations_free(Reservations *reservations)
{
  if (reservations == NULL)
    return;
  g_hash_table_unref(reservations->held);
  g_free(reservations->problem);
  g_free(reservations->path);
  g_free(reservations->lab);
  g_free(reservations);
}

char *
reservations_default_path(const char *lab)
{
  g_autofree char *slug = transcript_slug(lab);
  g_autofree char *name = g_strdup_printf("reservations-%s.jsonl", slug);
  return g_build_filename(g_get_user_state_dir(), "pult", name, NULL);
}

const Reservation *
reservations_find(const Reservations *reservations, const char *node)
{
  return g_hash_table_lookup(reservations->held, node);
}

static void
hold(Reservations *reservations, const char *node, const Reservation *from)
{
  Reservation *copy = g_new(Reservation, 1);
  *copy = (Reservation){from->until, g_strdup(from->by), g_strdup(from->why)};
  g_hash_table_replace(reservations->held, g_strdup(node), copy);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static gint64
read_time(Fields *fields, const char *key)
{
  const char *text = fields_string(fields, key);
  g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, NULL);
  if (time == NULL)
    fields_fail(fields, "`%s` is no time such as 2026-12-02T17:00:00Z", key);
  return time == NULL ? 0 : g_date_time_to_unix(time);
}

static gboolean
read_head(json_t *root, GPtrArray *owned, GError **error)
{
  Fields fields;
  fields_begin(&fields, root, "the first line", owned);
  gint64 version = fields_integer(&fields, "reservations", 1, G_MAXINT32);
  fields_string(&fields, "lab");
  if (version > VERSION)
    fields_fail(&fields, "a newer pult wrote this (version %d)", (int)version);
  return fields_end(&fields, error);
}

static gboolean
read_entry(Reservations *reservations, json_t *root, GPtrArray *owned, GError **error)
{
  Fields fields;
  fields_begin(&fields, root, "a reservation", owned);
  const char *node = fields_string(&fields, "node");
  Reservation reservation = {.until = read_time(&fields, "until")};
  reservation.by = fields_string(&fields, "by");
  reservation.why = fields_string(&fields, "why");
  if (*node == 0 || strlen(node) > NAME_MAX_BYTES)
    fields_fail(&fields, "`node` is no node's name");
  if (reservations_find(reservations, node) != NULL)
    fields_fail(&fields, "%s is reserved twice", node);
  if (!fields_end(&fields, error))
    return FALSE;
  hold(reservations, node, &reservation);
  return TRUE;
}

static gboolean
read_line(Reservations *reservations, const char *line, gsize length, gboolean first,
          GError **error)
{
  json_error_t problem;
  json_t *root =
      length > LINE_MAX_BYTES ? NULL : json_loadb(line, length, JSON_REJECT_DUPLICATES, &problem);
  if (root == NULL) {
    g_set_error_literal(error, RESERVATIONS_ERROR, 0,
                        length > LINE_MAX_BYTES ? "a line this long is none of ours"
                                                : problem.text);
    return FALSE;
  }
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  gboolean read =
      first ? read_head(root, owned, error) : read_entry(reservations, root, owned, error);
  json_decref(root);
  return read;
}

static void
blame(Reservations *reservations, guint line, const char *message)
{
  if (reservations->problem != NULL)
    return;
  g_autofree char *place = line > 0 ? g_strdup_printf(":%u", line) : g_strdup("");
  reservations->problem = g_strdup_printf("%s%s: %s", reservations->path, place, message);
}

static void
read_text(Reservations *reservations, const char *text, gsize length)
{
  const char *end = text + length;
  if (length == 0)
    blame(reservations, 0, "is empty");
  for (guint n = 1; text < end; n++) {
    const char *newline = memchr(text, '\n', (gsize)(end - text));
    gsize line = (gsize)((newline != NULL ? newline : end) - text);
    g_autoptr(GError) error = NULL;
    if (!read_line(reservations, text, line, n == 1, &error))
      blame(reservations, n, error->message);
    text += line + 1;
  }
}

static void
read_file(Reservations *reservations)
{
  g_autofree char *text = NULL;
  gsize length;
  g_autoptr(GError) error = NULL;
  if (!S_ISREG(reservations->seen.st_mode))
    blame(reservations, 0, "is no file");
  else if (reservations->seen.st_size > FILE_MAX)
    blame(reservations, 0, "is larger than 16 MiB");
  else if (!g_file_get_contents(reservations->path, &text, &length, &error))
    blame(reservations, 0, error->message);
  else
    read_text(reservations, text, length);
}

static gboolean
same_file(const struct stat *a, const struct stat *b)
{
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
         a->st_mode == b->st_mode && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* TRUE when it was read anew. */
static gboolean
look(Reservations *reservations)
{
  struct stat status;
  int failure = stat(reservations->path, &status) < 0 ? errno : 0;
  if (failure != 0)
    memset(&status, 0, sizeof status);
  if (reservations->looked && same_file(&status, &reservations->seen))
    return FALSE;
  reservations->looked = reservations->changed = TRUE;
  reservations->seen = status;
  g_hash_table_remove_all(reservations->held);
  g_clear_pointer(&reservations->problem, g_free);
  if (failure == 0)
    read_file(reservations);
  else if (failure != ENOENT && failure != ENOTDIR)
    blame(reservations, 0, g_strerror(failure));
  return TRUE;
}

gboolean
reservations_look(Reservations *reservations, gboolean *changed, GError **error)
{
  gboolean anew = look(reservations);
  *changed = reservations->changed;
  reservations->changed = FALSE;
  if (!anew || reservations->problem == NULL)
    return TRUE;
  g_set_error(error, RESERVATIONS_ERROR, 0,
              "%s; its other lines hold, and nothing more is written there until it is mended",
              reservations->problem);
  return FALSE;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static gboolean
fail(const Reservations *reservations, const char *doing, GError **error)
{
  g_set_error(error, RESERVATIONS_ERROR, 0, "%s: %s: %s", reservations->path, doing,
              g_strerror(errno));
  return FALSE;
}

/* A lock of its own: what is locked must not be replaced. */
static int
lock(const Reservations *reservations, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(reservations->path);
  g_autofree char *path = g_strconcat(reservations->path, ".lock", NULL);
  if (g_mkdir_with_parents(folder, 0700) < 0) {
    fail(reservations, "its folder", error);
    return -1;
  }
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    fail(reservations, "its lock", error);
    return -1;
  }
  for (guint i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
    if (errno != EINTR && (errno != EWOULDBLOCK || i >= LOCK_TRIES)) {
      fail(reservations, "another session holds its lock", error);
      close(fd);
      return -1;
    }
    g_usleep(LOCK_PAUSE_US);
  }
  return fd;
}

static void
put_object(GString *out, json_t *object)
{
  char *line = json_dumps(object, JSON_COMPACT);
  g_string_append(out, line);
  g_string_append_c(out, '\n');
  free(line);
  json_decref(object);
}

static json_t *
escaped(const char *text)
{
  g_autoptr(GString) out = g_string_new(NULL);
  transcript_escape(out, text, strlen(text));
  return json_stringn(out->str, out->len);
}

static void
put_entry(GString *out, const char *node, const Reservation *reservation)
{
  g_autoptr(GDateTime) until = g_date_time_new_from_unix_utc(reservation->until);
  g_autofree char *text = g_date_time_format(until, "%Y-%m-%dT%H:%M:%SZ");
  put_object(out, json_pack("{s:o,s:s,s:o,s:o}", "node", escaped(node), "until", text, "by",
                            escaped(reservation->by), "why", escaped(reservation->why)));
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
  return strcmp(a, b);
}

static gboolean
write_file(Reservations *reservations, GError **error)
{
  g_autoptr(GString) out = g_string_new(NULL);
  put_object(out,
             json_pack("{s:i,s:o}", "reservations", VERSION, "lab", escaped(reservations->lab)));
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(reservations->held), compare_names);
  for (GList *name = names; name != NULL; name = name->next)
    put_entry(out, name->data, reservations_find(reservations, name->data));
  reservations->looked = FALSE; /* whatever becomes of it */
  if (!g_file_set_contents_full(reservations->path, out->str, (gssize)out->len,
                                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600,
                                error)) {
    return FALSE;
  }
  look(reservations);
  return TRUE;
}

static gboolean
is_over(gpointer node, gpointer reservation, gpointer now)
{
  (void)node;
  return ((const Reservation *)reservation)->until <= *(const gint64 *)now;
}

gboolean
reservations_change(Reservations *reservations, const char *const *nodes, guint n,
                    const Reservation *reservation, gint64 now, GError **error)
{
  int fd = lock(reservations, error);
  if (fd < 0)
    return FALSE;
  look(reservations);
  gboolean written = FALSE;
  if (reservations->problem != NULL) {
    g_set_error(error, RESERVATIONS_ERROR, 0, "%s; mend it first", reservations->problem);
  } else {
    for (guint i = 0; i < n; i++) {
      if (reservation != NULL)
        hold(reservations, nodes[i], reservation);
      else
        g_hash_table_remove(reservations->held, nodes[i]);
    }
    g_hash_table_foreach_remove(reservations->held, is_over, &now);
    written = write_file(reservations, error);
  }
  close(fd);
  return written;
}

/* ---- Wall-clock times ---------------------------------------------------------------------- */

gboolean
reservations_seconds(const ClockTime *time, GDateTime *now, gint64 *seconds, GError **error)
{
  gboolean dated = time->year != 0;
  GTimeZone *zone = g_date_time_get_timezone(now);
  g_autoptr(GDateTime) end =
      g_date_time_new(zone, dated ? (gint)time->year : g_date_time_get_year(now),
                      dated ? (gint)time->month : g_date_time_get_month(now),
                      dated ? (gint)time->day : g_date_time_get_day_of_month(now), (gint)time->hour,
                      (gint)time->minute, time->second);
  if (!dated && end != NULL && g_date_time_compare(end, now) <= 0) {
    GDateTime *tomorrow = g_date_time_add_days(end, 1);
    g_date_time_unref(end);
    end = tomorrow;
  }
  GTimeSpan left = end != NULL ? g_date_time_difference(end, now) : 0;
  *seconds = (left + G_TIME_SPAN_SECOND - 1) / G_TIME_SPAN_SECOND;
  if (left > 0 && *seconds <= RESERVE_MAX / G_GINT64_CONSTANT(1000000000))
    return TRUE;
  g_set_error_literal(error, COMMAND_ERROR, 0,
                      left > 0 ? "a reservation lasts 366 days at most"
                               : "that time is over already");
  return FALSE;
}
