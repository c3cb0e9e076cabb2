/* The command language, for the `:` prompt, scripts, `pult do` and transcripts alike.
 *
 *   line    = [ command { ";" command } ] [ "#" text ]   ";" and "#" act outside quotes, "#" at a
 *                                                        word's start
 *   command = { "try" | "plan" } VERB { WORD | "quoted \"word\"" }
 *
 *   power   status|on|off|cycle|reset SET [soft|hard] [stagger DUR] [including in-use]
 *   boot    SET [via pxe|disk|keys|kexec] [entry NAME] [cold|warm] [stagger DUR] [as LABEL]
 *           [including in-use]
 *   wait    boot LABEL|SET STAGE | load LABEL | power SET on|off    [at-least N] [timeout DUR]
 *   load    start JOB on SET [cold|warm] [for DUR] [as LABEL] [KEY=VALUE…] | load stop|leave LABEL
 *   measure SOURCE… (for DUR | during LABEL) [window DUR] as LABEL
 *   expect  LABEL.FIGURE (< | <= | > | >= | within) VALUE [+-N%]
 *   reserve SET until TIME "why"   release SET
 *   console SET [off]
 *   keys    SET KEY… [including in-use]    type SET "text" [including in-use]
 *   route   NODE|next|back [including in-use]
 *   pxe     show | set SETTING VALUE | undo
 *   set PATH VALUE   get PATH   mark "text"   sleep DUR   stop   quit
 *
 * What stands in [brackets] comes in any order, each once. Beyond that:
 *  - VALUE and DUR are one or two words, `5s` or `5 s`; a SET is one word, in quotes when it has
 *    blanks: `"first(3, @off)"`. In a `set`, two words are a number and its unit.
 *  - STAGE is firmware, dhcp, tftp, kernel, initramfs, root or login.
 *  - `wait boot WORD STAGE`: a word that fits LABEL is the label of a boot; when no boot has that
 *    label, the node of that name; never a group, which needs its @ there.
 *  - TIME is a DUR from now, 18:00 (the next one) or 2026-12-02T18:00[:00], local time. Core has no
 *    clock: whoever gives it a command turns the latter two into a duration first.
 *  - LABEL is [A-Za-z][A-Za-z0-9_]*, at most 64 bytes.
 *  - soft and hard go with `power off` and `power cycle`, hard being the default.
 *  - SETTING is default-entry, timeout, total-timeout, title, password or theme. Times are whole
 *    tenths of a second, as menus count; 0 s is for ever. A password is file:PATH or env:NAME.
 *  - `within` needs its +-N%, at most 100 % and kept to a millionth of one; nothing else takes it.
 *  - A VALUE has the unit of its figure; a count (ok, failed, files) has none.
 *  - An argument that reads like one of its command's option words is quoted: `boot "cold" warm`.
 *
 * Errors are for the person who typed: they name the column (from 1, in characters) and the nearest
 * word. Limits: a typed line 64 KiB; a command, whose sets core may have written out, 1 MiB; any
 * word but a set 4 KiB.
 */
#ifndef PULT_CORE_COMMAND_H
#define PULT_CORE_COMMAND_H

#include "model/units.h"

#define COMMAND_LINE_MAX (64 * 1024)   /* bytes of a line as typed */
#define COMMAND_TEXT_MAX (1024 * 1024) /* of one command, sets resolved */
#define RESERVE_MAX (366 * 24 * 3600 * G_GINT64_CONSTANT(1000000000)) /* ns */
#define RESERVE_WHY_MAX 200                                           /* bytes */
#define COMMAND_KEYS_MAX 1000 /* of one command, or characters of one text */

typedef enum {
  VERB_POWER,
  VERB_BOOT,
  VERB_WAIT,
  VERB_LOAD,
  VERB_MEASURE,
  VERB_EXPECT,
  VERB_SET,
  VERB_GET,
  VERB_PXE,
  VERB_RESERVE,
  VERB_RELEASE,
  VERB_CONSOLE,
  VERB_KEYS,
  VERB_TYPE,
  VERB_ROUTE,
  VERB_MARK,
  VERB_SLEEP,
  VERB_STOP,
  VERB_QUIT,
} Verb;
#define VERB_N (VERB_QUIT + 1)

typedef struct {
  const char *name;
  const char *synopsis; /* `boot SET [via pxe|…] …` */
  const char *summary;  /* one line */
  const char *help;     /* paragraphs, with an example */
} VerbInfo;

/* All verbs of the grammar, try and plan and the words of scripts (layout, foreach, repeat, with)
 * included, in the order a manual lists them; ends with a NULL name. */
extern const VerbInfo command_verbs[];

/* The table of verbs, and all about one (NULL when there is none of that name): lines of at most 79
 * columns, each with its newline. Free with g_free. */
char *command_help_table(void);
char *command_help(const char *verb);

typedef enum { POWER_STATUS, POWER_TURN_ON, POWER_TURN_OFF, POWER_CYCLE, POWER_RESET } PowerAction;
typedef enum { ROUTE_NODE, ROUTE_NEXT, ROUTE_BACK } RouteTo;
typedef enum { WAIT_BOOT, WAIT_LOAD, WAIT_POWER } WaitKind;
typedef enum { MENU_SHOW, MENU_SET, MENU_UNDO } MenuAction;
typedef enum { CACHE_ANY, CACHE_COLD, CACHE_WARM } CacheState;
typedef enum { COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE, COMPARE_WITHIN } Comparison;

typedef struct {
  Verb verb;
  gboolean try_only;  /* `try`: a failure does not end the script */
  gboolean plan_only; /* `plan COMMAND` */
  /* power, boot, load start, reserve, release, console, keys, type, route: node set, not expanded
   */
  char *set;
  char *label;    /* as LABEL; load stop LABEL */
  gint64 stagger; /* ns, 0 none */
  gboolean including_in_use;

  PowerAction power; /* power; wait power: TURN_ON or TURN_OFF */
  gboolean soft;     /* power off, power cycle; else hard */

  char *via, *entry;   /* boot; NULL: the layout's default */
  gboolean cold, warm; /* boot */

  WaitKind wait;
  char *target;    /* wait: label or node set; measure: during LABEL, or NULL */
  char *stage;     /* wait boot */
  gint at_least;   /* -1: all */
  gint64 duration; /* wait timeout, load for, measure for, sleep, reserve until; ns, -1 not given */

  gboolean console_off; /* console */

  char **press;  /* keys: by their names, NULL-terminated */
  RouteTo route; /* route; NODE: set */

  gboolean load_stop; /* or leave */
  gboolean load_leave;
  char *job;
  CacheState cache;
  char **keys, **values; /* load KEY=VALUE, NULL-terminated */

  char **sources; /* measure, NULL-terminated */
  gint64 window;  /* ns; default 1 s */

  char *figure; /* expect: `LABEL.FIGURE` */
  Comparison comparison;
  Quantity value;
  char *value_text; /* VALUE with one blank before its unit, in the unit it was typed in */
  double tolerance; /* 0.08 for +-8%; -1 not given */

  char *clock;       /* reserve: until this wall-clock time; NULL: for DURATION */
  char *path, *text; /* set, get: path; set: value; mark, type: text; reserve: why */

  MenuAction menu; /* pxe */
  char *setting;   /* pxe set: of it, `timeout`; its value is DURATION for a time, else TEXT */
} Command;

/* 18:00 has no year, 0. */
typedef struct {
  guint year, month, day, hour, minute, second;
} ClockTime;

#define COMMAND_ERROR (g_quark_from_static_string("pult-command"))

/* One command (no `;`). NULL with `column N: …`. */
Command *command_parse(const char *text, GError **error);
void command_free(Command *command);
/* The commands of a line, comments and blanks gone; NULL with an error on an open quote. */
char **command_split(const char *line, GError **error);
/* TRUE when every command of LINE parses; the error names the column in the line. */
gboolean command_check_line(const char *line, GError **error);
/* The canonical text; command_parse() of it gives the same command. It means the same at the prompt
 * and in a script: a dollar in it has its backslash. */
char *command_print(const Command *command);
/* TRUE when it changes power, or disturbs others: enforced read-only, planned, consented to.
 * (power but status, boot, set, pxe set and undo, a cold load, keys, type.) With or without `plan`,
 * which is the caller's to heed. */
gboolean command_disturbs(const Command *command);

/* Of `pxe set`: whether SETTING is one of the times, and the value as menus have it (tenths of a
 * second, or the text). Free with g_free. */
gboolean command_setting_is_time(const char *setting);
char *command_setting_value(const Command *command);

/* A wall-clock TIME; FALSE when TEXT is none, such as one of a day that no calendar has. */
gboolean command_clock_parse(const char *text, ClockTime *time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Command, command_free)

#endif
