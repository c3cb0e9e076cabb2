/* What a video switch is to be told and what it answers: a description in data, read from
 * backends/devices/NAME.yaml or a file of the lab's own.
 *
 *   device: extron-sis
 *   about: Extron matrix switchers, Simple Instruction Set
 *   source: CrossPoint 300 Matrix Switchers, Programmer's Guide, chapter 4
 *   telnet: {port: 23}
 *   replies: {end: '\r\n'}
 *   parameters: {in: 0 to 64, out: 1 to 64}
 *   errors: {E01: there is no such input}
 *   state: ['Out(?<out>\d+) In(?<in>\d+) All']
 *   scripts:
 *     connect:
 *       steps: [{send: '{in}*{out}!', expect: 'Out(?<out>\d+) In(?<in>\d+) All'}]
 *
 * pult-device(5) tells all keys. Patterns are PCRE2 and match whole lines of what the device says.
 *
 * Immutable once read; strings in it live as long as it does. No clock, no I/O.
 */
#ifndef PULT_VSWITCH_DEVICE_H
#define PULT_VSWITCH_DEVICE_H

#include "model/event.h"
#include "model/pattern.h"
#include "model/units.h"
#include "model/yaml.h"

#define DEVICE_MAX_PARAMETERS 16
#define DEVICE_MAX_STEPS 16
#define DEVICE_MAX_PATTERNS 64
/* Of one line that a device says, of one command to it, and of one value. */
#define DEVICE_MAX_LINE 4096
#define DEVICE_MAX_VALUE 256

#define DEVICE_ERROR (g_quark_from_static_string("pult-device"))

typedef enum {
  DEVICE_NUMBER,
  DEVICE_TEXT,
  DEVICE_SECRET, /* as text; shown as *** wherever it would be seen */
  DEVICE_WORDS,  /* one of a list, each with what the device calls it */
} DeviceKind;

typedef struct {
  char *name;
  DeviceKind kind;
  guint min, max;      /* DEVICE_NUMBER */
  char **words;        /* DEVICE_WORDS, NULL-terminated */
  char **device_words; /* what each is to the device */
  char *chord;         /* DEVICE_WORDS: what stands between several, `Ctrl-c`; NULL: one alone */
  char *fallback;      /* NULL: has to be given */
} DeviceParameter;

typedef struct DeviceTemplate DeviceTemplate;

/* `send` first; then all of what is given has to come: the echo of what was sent, a line that
 * matches one of the patterns, or so long a silence without an error. */
typedef struct {
  DeviceTemplate *send; /* NULL: only listens */
  GPtrArray *expects;   /* of Pattern; empty: none */
  int item;             /* the parameter that counts, from 1, which of a list is captured; -1 */
  gboolean prompt;      /* the reply is no whole line: nothing ends it */
  gboolean echo;
  gint64 silence; /* ns; 0: none is asked for */
  gint64 pause;   /* ns of waiting after it */
  gint64 within;  /* ns, from the last byte sent */
} DeviceStep;

typedef struct {
  char *name;
  guint n_steps;
  DeviceStep *steps;
  gint64 within;       /* ns, for the whole */
  gboolean changes;    /* what became of it is unknown when no answer comes */
  gboolean idempotent; /* may be sent again after such; nothing is by itself */
} DeviceScript;

typedef struct {
  Pattern *pattern;
  char *says; /* what it means, for a person */
} DeviceError;

typedef enum { DEVICE_SERIAL, DEVICE_TCP, DEVICE_TELNET, DEVICE_HTTPS } DeviceWay;
#define DEVICE_WAYS (DEVICE_HTTPS + 1)

typedef enum {
  DEVICE_LINES,    /* `end` ends each reply */
  DEVICE_FRAMES,   /* each is of `length` bytes */
  DEVICE_MESSAGES, /* each comes whole: HTTPS, `STATUS BODY` */
} DeviceFraming;

typedef struct {
  char *name, *about, *source;
  gboolean offers[DEVICE_WAYS];
  guint port[DEVICE_WAYS]; /* where it has one */
  guint speed, bits, stop_bits;
  char parity; /* 'n', 'e', 'o' */
  DeviceFraming framing;
  char *end;
  guint length;
  gint64 byte_gap, command_gap; /* ns */
  guint n_parameters;
  DeviceParameter parameters[DEVICE_MAX_PARAMETERS];
  guint n_errors;
  DeviceError *errors;
  GPtrArray *ignores, *states; /* of Pattern */
  GPtrArray *scripts;          /* of DeviceScript; `login`, `init`, `keep-alive` among them */
  gint64 keep_alive;           /* ns between; 0: none */
  DeviceScript *headers;       /* HTTPS: what each step sends is one header; NULL: none */
} Device;

/* NULL with all its errors, each `NAME:LINE:COLUMN: message`. */
Device *device_parse(const char *file_name, const char *text, gsize length, GError **error);
void device_free(Device *device);

const char *device_way_name(DeviceWay way);
/* NULL: it has none called so. */
const DeviceScript *device_script(const Device *device, const char *name);
/* The same, with an error that names the nearest. */
const DeviceScript *device_script_get(const Device *device, const char *name, GError **error);
/* -1: none is called so. */
int device_parameter(const Device *device, const char *name);
/* Whether some send template of SCRIPT takes the parameter. */
gboolean device_script_takes(const DeviceScript *script, guint parameter);

/* ---- Values ---------------------------------------------------------------------------------- */

/* What the parameters of one run are, by their index: text as the device is told it, NULL where it
 * is not given. */
typedef struct {
  const Device *device;
  char *text[DEVICE_MAX_PARAMETERS];
  guint number[DEVICE_MAX_PARAMETERS]; /* of those of DEVICE_NUMBER */
} DeviceValues;

/* NULL with an error: SCRIPT takes no such parameter, or needs one that is not given, or the value
 * is none. No value holds control characters, so that none can end a command and begin another. */
DeviceValues *device_values_new(const Device *device, const DeviceScript *script,
                                const Argument *given, guint n, GError **error);
void device_values_free(DeviceValues *values);

/* BYTES as one printable line: escapes for what is not ASCII, `***` for secrets of VALUES (which
 * may be NULL), at most some 200 characters. */
char *device_shown(const DeviceValues *values, const char *bytes, gsize n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Device, device_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DeviceValues, device_values_free)

#endif
