/* What the screen may ask for, and what it is told besides the state of the lab. */
#ifndef PULT_UI_HOST_H
#define PULT_UI_HOST_H

#include "core/state.h"
#include "model/job.h"

typedef struct {
  const char *lab;
  gboolean real; /* any backend touches real machines */
  gboolean replay;
  gboolean paused;
  gboolean following;     /* replay of a growing file */
  double speed;           /* 1: real time */
  gint64 now;             /* session time, ns */
  gint64 end;             /* replay: last event; else -1 */
  const char *wall_clock; /* `14:03` */
  gboolean recording;
  const char *record_error; /* NULL, or one line */
  gboolean busy;            /* a command is outstanding */
  guint waiting;            /* commands typed since, which wait for it */
  const JobSet *jobs;       /* for Tab at the `:` line; NULL: none known */
} HostStatus;

/* Every callback may be NULL: then the key says it is not available here. */
typedef struct {
  /* A typed line; CONFIRM is the number typed as consent, -1 none. FALSE with an error to show. */
  gboolean (*say)(gpointer host, const char *line, gint confirm, GError **error);
  void (*stop)(gpointer host);
  void (*pause)(gpointer host, gboolean paused);
  void (*set_speed)(gpointer host, double speed);
  void (*seek)(gpointer host, gint64 t);
  /* Of a replay: an event, or a mark, on or BACK; a PLACE as typed. FALSE with an error to show. */
  gboolean (*step)(gpointer host, gboolean back, GError **error);
  gboolean (*mark)(gpointer host, gboolean back, GError **error);
  gboolean (*go)(gpointer host, const char *place, GError **error);
  void (*suspend)(gpointer host); /* ^Z */
  /* Another theme; says which, borrowed. */
  const char *(*next_theme)(gpointer host);
  void (*quit)(gpointer host);
} HostOps;

#endif
