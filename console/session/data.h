/* Shipped files by name: layouts, scripts, jobs, stage patterns. Looked for as a path, then in the
 * checkout, the installed place (PULT_DATADIR), and what is compiled in. */
#ifndef PULT_SESSION_DATA_H
#define PULT_SESSION_DATA_H

#include "model/job.h"
#include "model/layout.h"
#include "model/stage_source.h"

/* A whole file of at most 4 MiB, with a NUL behind it. */
gboolean data_read_file(const char *path, char **text, gsize *length, GError **error);
/* NAME is a path (it has a slash, or such a file exists), or a shipped name without ending
 * (`openslx-one-room`) looked for in FOLDER (`layouts`, `scripts`). *PATH says what was read,
 * a shipped file by its bare name. */
gboolean data_read(const char *folder, const char *name, const char *ending, char **path,
                   char **text, gsize *length, GError **error);
/* Names of all that is shipped in FOLDER with ENDING, without it, sorted. Free with g_strfreev. */
char **data_names(const char *folder, const char *ending);
/* Where sources of stages are shipped. */
#define DATA_STAGES "backends/stages"
StageSource *data_stage_source(const char *name, GError **error);
/* Those that LAYOUT names, files from its own folder on, else all that are shipped: of StageSource.
 */
GPtrArray *data_stage_sources(const Layout *layout, GError **error);
Layout *data_layout(const char *name, GError **error);
/* Every shipped job, the checkout's or installed ones over the compiled-in. */
JobSet *data_jobs(GError **error);
/* These, over them those of $XDG_CONFIG_HOME/pult/jobs, of the folder `jobs` beside the file LAYOUT
 * was read from, and of FOLDER (NULL: none), which must be there; later ones replace those of their
 * name. What LAYOUT (NULL: none) says of jobs is held against them. */
JobSet *data_jobs_for(const Layout *layout, const char *folder, GError **error);

#endif
