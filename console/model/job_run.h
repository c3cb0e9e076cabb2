/* How a job is run on machines: the `run` section of its file.
 *
 *   run:
 *     parameters: {source: /usr, bytes: {size: 100 MiB}}
 *     needs: [dd]
 *     command: dd if={source} of=/dev/null bs=1M
 *     figures: ['(?<bytes>\d+) bytes .* copied, (?<seconds>[\d.]+) s, .*']
 *
 * Commands are lines for the machine's shell. {NAME} in them is a parameter, {node}, {ip}, {mac},
 * {number} stand for the machine, {server} for the address of the server it loads; {{ is a brace.
 * What comes in their place is quoted for the shell, and so never stands in quotes of its own.
 *
 * A parameter's value is the KEY=VALUE word of `load start`, taken as it is; else the layout's,
 * else the file's, in which placeholders and the parameters before it are filled in. Parameters of
 * a kind ({size: …}, {time: …}, {count: …}) become whole numbers of B, s or things.
 *
 * A layout may give a job other words, `jobs: {find-cat: {command: …, source: …}}`: any command,
 * `needs` (words), or a parameter.
 *
 * Immutable once read.
 */
#ifndef PULT_MODEL_JOB_RUN_H
#define PULT_MODEL_JOB_RUN_H

#include "model/layout.h"
#include "model/pattern.h"
#include "model/yaml_read.h"

#define JOB_MAX_PARAMETERS 16

typedef enum {
  JOB_COMMAND, /* the job itself; always given */
  JOB_PREPARE, /* before it, while the machine makes ready */
  JOB_COLD,    /* instead of the layout's remount and drop-caches, when caches are to be cold */
  JOB_WARM,    /* instead of a first run of the command, when they are to be warm */
  JOB_MEASURE, /* after it, not timed, stopped or not: prints what was moved */
  JOB_CLEANUP, /* last, whatever came of the rest, if what prepares it went well */
} JobLine;
#define JOB_LINES (JOB_CLEANUP + 1)

typedef enum { JOB_TEXT, JOB_SIZE, JOB_TIME, JOB_COUNT } JobParameterKind;

typedef struct {
  char *name;
  JobParameterKind kind;
  char *value; /* default, as written */
} JobParameter;

/* Which of the client's counters tells its bytes when the program tells none. */
typedef enum { JOB_RECEIVES, JOB_SENDS, JOB_NO_NETWORK } JobNetwork;

typedef struct {
  char *lines[JOB_LINES]; /* templates; NULL: none */
  char **needs;           /* programs that must be there; NULL: none named */
  const char *stop;       /* static: the signal that ends it, `TERM` */
  JobNetwork network;
  gboolean expected[256]; /* exit statuses of a run that went well */
  guint n_parameters;
  JobParameter parameters[JOB_MAX_PARAMETERS];
  GPtrArray *figures; /* of Pattern */
} JobRecipe;

/* The word for a line: `command`. */
const char *job_line_name(JobLine line);

/* MAP is the section; what is wrong with it is added to ERRORS. Never NULL. */
JobRecipe *job_recipe_read(const YamlNode *map, YamlErrors *errors);
void job_recipe_free(JobRecipe *recipe);

/* TEXT as a value of PARAMETER; numbers become whole ones of the base unit. */
gboolean job_parameter_read(const JobParameter *parameter, const char *text, char **value,
                            GError **error);
/* NULL: none called so. */
const JobParameter *job_recipe_parameter(const JobRecipe *recipe, const char *name);

/* What NODE is given to do. */
typedef struct {
  char *lines[JOB_LINES]; /* for its shell; NULL: none */
  char **needs;           /* NULL: none named */
} JobCommands;

/* GIVEN are the words of `load start` (n of them). NULL with an error: a key the job has not,
 * naming the nearest, or a value that is none of its kind. */
JobCommands *job_commands_new(const JobRecipe *recipe, const char *job, const Layout *layout,
                              NodeId node, const Argument *given, guint n, GError **error);
void job_commands_free(JobCommands *commands);
/* Whether KEY may stand behind JOB in a layout; else an error that names the nearest that may. */
gboolean job_recipe_check_word(const JobRecipe *recipe, const char *job, const char *key,
                               const char *value, GError **error);

/* ---- Figures out of output (job_figures.c) ---------------------------------------------------
 *
 * A pattern's named groups say what they take: bytes kb mb gb kib mib gib · seconds ms us · files ·
 * status · bytes_per_s … gib_per_s, bit_per_s kbit_per_s mbit_per_s gbit_per_s · amount beside
 * unit, as programs write it (`1.10` `GBytes`). Behind a job's own patterns there is one that any
 * job may print: `bytes N files N seconds S`, each part but one may be left out.
 */

typedef struct {
  double bytes, seconds, files; /* NAN until told */
  double rate;                  /* B/s; NAN until told */
  int status;                   /* -1 until told */
} JobFigures;

void job_figures_init(JobFigures *figures);
/* Whether a pattern may have a group called NAME. */
gboolean job_figures_know(const char *name);
/* Takes what LINE says; what it says replaces what an earlier one said. FALSE: nothing. */
gboolean job_figures_take(JobFigures *figures, const JobRecipe *recipe, PatternMatch *match,
                          const char *line, gsize length);
/* Bytes as told, or from rate and seconds; NAN. */
double job_figures_bytes(const JobFigures *figures);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobRecipe, job_recipe_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobCommands, job_commands_free)

#endif
