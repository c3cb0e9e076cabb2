/* What a program's lines tell of the stages of a boot: `backends/stages/NAME.yaml`.
 *
 *   stages: tftpd-hpa
 *   about: in.tftpd -v, each file as it is asked for
 *   programs: [in.tftpd]
 *   patterns:
 *     - {stage: tftp, match: 'RRQ from (?<ip>(?&IP)) filename (?<file>(?&LOADER))'}
 *
 * A pattern holds for a whole line behind its head (log_line.h); the first that does is taken. The
 * groups mac, ip and name say of whom the line is (seat_finder.h), file is for people. Without a
 * stage a pattern but tells which addresses belong together. MAC, DUID, IP, NAME, LOADER, KERNEL,
 * INITRD and IMAGE may be called, `(?&MAC)`.
 *
 * `programs` are the ones whose lines these are, where a line's head names any. With `reads:
 * console` lines are what a machine's own console shows: no head is looked for, what moves a
 * terminal's cursor is left out, and who it is of is known.
 *
 * Immutable once parsed; any number of matchers may share one.
 */
#ifndef PULT_MODEL_STAGE_SOURCE_H
#define PULT_MODEL_STAGE_SOURCE_H

#include "model/pattern.h"
#include "model/seat_finder.h"

#define STAGE_MAX_NAME 16
#define STAGE_SOURCE_MAX_PATTERNS 64
/* So often a pattern may reach the limits of pattern.h before it is not tried any more. */
#define STAGE_MAX_STRIKES 3

/* How sure a line makes of a stage. */
typedef enum {
  CERTAINTY_SURE,     /* nothing else writes that: an earlier stage than before is a reboot */
  CERTAINTY_LIKELY,   /* never goes back: a running system may ask for an address, too */
  CERTAINTY_POSSIBLE, /* nor does it begin a boot: a renewed lease, a mount, writes the same */
} Certainty;
#define CERTAINTY_N (CERTAINTY_POSSIBLE + 1)

const char *certainty_name(Certainty certainty); /* `sure` */
int certainty_parse(const char *name);           /* -1 */

typedef struct StageSource StageSource;

#define STAGE_SOURCE_ERROR (g_quark_from_static_string("pult-stage-source"))

StageSource *stage_source_parse(const char *file_name, const char *text, gsize length,
                                GError **error);
void stage_source_free(StageSource *source);
const char *stage_source_name(const StageSource *source);
const char *stage_source_about(const StageSource *source);
gboolean stage_source_reads_console(const StageSource *source);
/* The stages its patterns tell, each once, NULL-terminated. */
const char *const *stage_source_stages(const StageSource *source);
guint stage_source_n_patterns(const StageSource *source);
/* A word may be the name of a stage: small letters, digits and `-`. */
gboolean stage_is_name(const char *word);

/* What a line was taken for. Texts are the matcher's until its next line. */
typedef struct {
  const StageSource *source;
  const char *stage; /* NULL: addresses only */
  Certainty certainty;
  NodeId node;                        /* NODE_NONE: of nobody in the layout */
  const char *mac, *ip, *name, *file; /* NULL: it does not say */
  const char *stamp;                  /* as the line's head has it; NULL */
} StageSighting;

typedef struct StageMatcher StageMatcher;

/* SOURCES (n of them, in the order they are tried) and FINDER (NULL: nobody is known) are borrowed.
 */
StageMatcher *stage_matcher_new(const StageSource *const *sources, guint n, SeatFinder *finder);
void stage_matcher_free(StageMatcher *matcher);
/* LINE, whole and without its newline, may be any bytes. FALSE: it tells nothing. */
gboolean stage_matcher_take(StageMatcher *matcher, const char *line, gsize length,
                            StageSighting *sighting);
/* The same of a line on the console of NODE. */
gboolean stage_matcher_take_console(StageMatcher *matcher, NodeId node, const char *line,
                                    gsize length, StageSighting *sighting);
/* The same of a line that NODE's own system logged: the patterns of consoles behind its head,
 * likely at best, for a syslog starts late and then tells what was. */
gboolean stage_matcher_take_own(StageMatcher *matcher, NodeId node, const char *line, gsize length,
                                StageSighting *sighting);
/* Says once of each pattern that it is not tried any more; NULL: nothing to say. Free it. */
char *stage_matcher_complaint(StageMatcher *matcher);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(StageSource, stage_source_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StageMatcher, stage_matcher_free)

#endif
