/* The transcript: JSON lines, one event each.
 *
 * Line 1 is everything core was given, line 2 the only one that may differ between two runs in
 * jump mode; then an event a line, `"out":true` with outputs. What is in brackets may be absent.
 *
 *   {"pult":1,"layout":TEXT,"layout_name":…,"layout_sha256":…,"script":TEXT|null,"script_name":…,
 *    "seed":N,"options":{"read_only":…,"dry_run":…,"consent":"ask"|"yes"|N}}
 *   {"session":{"host":…,"operator":…,"started":"2026-…Z","version":…,
 *    "clock":"jump"|"real"|"scaled","speed":…}}
 *
 *   {"seq":1,"t":0,"kind":"link","name":"sim","up":true,"text":"…"}
 *   {"seq":2,"t":0,"kind":"request","out":true,"id":1,"cmd":0,"backend":"sim","op":"status",
 *    "nodes":"a[01-02]","args":{…}[,"deadline":5000000000]}
 *   …"command","cmd":1,"said":…,"text":…[,"confirm":2]}
 *   …"wake"}
 *   …"result","req":1,"node":"a01","verdict":"ok"[,"text":…]}
 *   …"line","req":1,"node":…,"stream":…,"text":…}
 *   …"observe","node":…,"fact":…,"value":…,"source":…}
 *   …"samples","source":"sim"[,"columns":[…]],"v":[1,2,…]}
 *   …"cancel","out":true,"id":…}
 *   …"done","out":true,"cmd":…,"verdict":…}
 *   …"note","out":true,"severity":…[,"node":…],"text":…}
 *   …"figure","out":true,"label":…,"name":…,"value":…|null,"unit":…,"n":…,"runs":…}
 *   …"expect","out":true,"text":…,"held":…,"value":…|null}
 *   …"plan","out":true,"cmd":…,"parts":[{"backend":…,"action":…,"nodes":…}],"seats":N
 *    [,"protected":…][,"in_use":…][,"reserved":…]}
 *
 * In every string C0 characters except tab and newline, DEL, C1 and bytes that are not valid UTF-8
 * become \xNN and a backslash is doubled (then JSON's own quoting): lossless. Node lists are
 * folded.
 */
#ifndef PULT_SESSION_TRANSCRIPT_H
#define PULT_SESSION_TRANSCRIPT_H

#include <sys/stat.h>

#include "core/core.h"

#define TRANSCRIPT_VERSION 1
#define TRANSCRIPT_ERROR (g_quark_from_static_string("pult-transcript"))

typedef struct {
  const char *layout_name, *layout_text, *layout_sha256;
  const char *script_name, *script_text; /* NULL without a script */
  CoreOptions options;
} TranscriptHead;

typedef struct {
  const char *host, *user, *started, *version, *clock;
  double speed;
} TranscriptSession;

/* Appends EVENT's line, newline included, to OUT. The format for files and for `--json`. */
void transcript_print_event(GString *out, const Layout *layout, const Event *event);
void transcript_print_head(GString *out, const TranscriptHead *head);
void transcript_print_session(GString *out, const TranscriptSession *session);
/* Lossless escape of remote bytes and back; unescape fails on a bad escape. */
void transcript_escape(GString *out, const char *bytes, gsize length);
char *transcript_unescape(const char *text, gsize *length);

/* Writing: buffered; flush() hands it to the kernel, sync() to the disk. After the first error
 * every call is a quick FALSE with the same error; the file stays readable to its last whole line.
 */
typedef struct TranscriptWriter TranscriptWriter;
/* Mode 0600, never overwrites. */
TranscriptWriter *transcript_create(const char *path, GError **error);
gboolean transcript_write(TranscriptWriter *writer, const char *text, gsize length, GError **error);
gboolean transcript_flush(TranscriptWriter *writer, GError **error);
gboolean transcript_sync(TranscriptWriter *writer, GError **error);
void transcript_close(TranscriptWriter *writer);
/* `OpenSLX, two rooms` → `OpenSLX-two-rooms`, for names of files. Free with g_free. */
char *transcript_slug(const char *lab);
/* `$XDG_STATE_HOME/pult/DATE-LAB.jsonl`, folders made, a number added when it exists. */
char *transcript_default_path(const char *lab, GError **error);

/* Reading, strictly: what this version would not have written is an error. A line is at most 1 MiB,
 * the first (it holds the layout) 32 MiB. A cut last line is none: reading ends before it. */
typedef struct TranscriptReader TranscriptReader;
/* Reads head and layout; errors are `FILE:LINE: message`, a newer version said in words. */
TranscriptReader *transcript_open(const char *path, GError **error);
void transcript_reader_free(TranscriptReader *reader);
const TranscriptHead *transcript_head(const TranscriptReader *reader);
const Layout *transcript_layout(const TranscriptReader *reader);
/* NULL until line 2 was read: after the first transcript_next(), if the file is not cut before. */
const TranscriptSession *transcript_session(const TranscriptReader *reader);
/* The next event, valid until the next call; NULL at the end (no error) or on an error. *RAW (may
 * be NULL) is its line as it stands, without the newline. At the end of a growing file a later call
 * may give more. */
const Event *transcript_next(TranscriptReader *reader, const char **raw, GError **error);
guint64 transcript_line_number(const TranscriptReader *reader); /* of the line read last */

/* A place between two events, to come back to in the same reader. */
typedef struct {
  goffset offset;
  guint64 line, seq;
  gint64 t;
} TranscriptMark;
TranscriptMark transcript_tell(const TranscriptReader *reader);
gboolean transcript_seek(TranscriptReader *reader, const TranscriptMark *mark, GError **error);
/* t of the last whole line; 0 when there is none yet. Leaves the place as it is. */
gint64 transcript_last_time(const TranscriptReader *reader);
goffset transcript_size(const TranscriptReader *reader); /* of the file, now */
gboolean transcript_is_file(const TranscriptReader *reader, const struct stat *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TranscriptWriter, transcript_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TranscriptReader, transcript_reader_free)

#endif
