/* Scripts: blocks and variables over the command language, expanded one command at a time.
 *
 *   block = "foreach" NAME "in" ( WORD… | INT ".." INT )
 *             [ "order" given|random|interleaved ] "do" … "end"
 *         | "repeat" INT "do" … "end"
 *         | "with" PATH VALUE "do" … "end"
 *   layout NAME|FILE                                       first command only
 *
 * A block's words stand in one line up to "do". Commands, "end" and further blocks follow in lines
 * of their own, or in the same line: behind "do" directly, else behind ";". A block may not be
 * empty.
 *
 * Variables. $NAME and ${NAME} (NAME as a label) are replaced before anything else, in commands and
 * in the words of inner blocks; \$ is a dollar. Outside quotes the value stands as if it had been
 * written there, so it may be several words, but never several commands; in quotes it is plain
 * text. No block may reuse the name of one around it.
 *
 * foreach. INT..INT counts up or down; leading zeros of the first give the width (01..17). A word
 * that reads `do` or `order` is quoted.
 *   given        as written.
 *   random       Fisher-Yates, anew for each pass: the i-th draw of pass p (both from 0) is
 *                draw_uniform(seed, "foreach", "NAME/B", p · 65536 + i), block B of the script
 *                counted from 0.
 *   interleaved  pass 0 as written, pass 1 backwards, and so on (a b c, c b a, a b c, …): each word
 *                has the same mean place over two passes, so a drift that grows with time falls on
 *                all alike. It wants a repeat or foreach around it, for one pass has no turn.
 * A pass is one way through all words; passes count from the script's start.
 *
 * with. Gives `get PATH`, keeps the value, gives `set PATH VALUE`, the body, and `set PATH OLD`
 * whatever happens once the first `set` was given: a failure, an interrupt, `quit`. Nested ones put
 * back innermost first. A `set` that was refused or not consented to changed nothing and is not put
 * back.
 *
 * Limits: file 4 MiB, line 64 KiB, blocks 16 deep, 65,536 words of a foreach, 1,000,000 commands
 * run (those of `with` included).
 */
#ifndef PULT_SESSION_SCRIPT_H
#define PULT_SESSION_SCRIPT_H

#include "model/event.h"

typedef struct Script Script;

#define SCRIPT_ERROR (g_quark_from_static_string("pult-script"))

/* All errors at once, `FILE:LINE:COLUMN: message` a line each, by position, at most 100 and then a
 * count. Columns count characters from 1. Commands with variables are checked for every value they
 * will have, up to 64 MiB of text; what is longer is checked when it runs. A label that is used
 * must be given somewhere in the script (`wait boot` apart, whose word may be a node). */
Script *script_parse(const char *file_name, const char *text, gsize length, GError **error);
void script_free(Script *script);
const char *script_layout(const Script *script); /* NULL: it names none */
const char *script_text(const Script *script);

/* A run through a script, which it borrows. The caller feeds commands to core and tells how each
 * ended. */
typedef struct ScriptRun ScriptRun;
typedef const char *(*ScriptProperty)(const char *path, gpointer data);

ScriptRun *script_run_new(const Script *script, guint64 seed);
void script_run_free(ScriptRun *run);
/* The next command, valid until the next call, or NULL: at the end, or with error
 * `FILE:LINE:COLUMN: …`, before which open `with` blocks have put their values back. PROPERTY gives
 * the value a `get PATH` left behind (for `with`). */
const char *script_run_next(ScriptRun *run, ScriptProperty property, gpointer data, GError **error);
/* How the last command ended. One that is failed, partial, timeout, unknown, unsupported, cancelled
 * or refused ends the script, unless it began with `try`; open `with` blocks still put their values
 * back. */
void script_run_told(ScriptRun *run, Verdict verdict);
/* Ctrl-C: nothing more but what open `with` blocks put back. */
void script_run_interrupt(ScriptRun *run);
/* `FILE:LINE` of the command given last, for progress; of a `with` that sets or puts back, its own.
 */
const char *script_run_where(const ScriptRun *run);
/* TRUE when a command ended it, or a value could not be put back. */
gboolean script_run_failed(const ScriptRun *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Script, script_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScriptRun, script_run_free)

#endif
