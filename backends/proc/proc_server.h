/* What a server tells of its own work: load, disks, and the kernel's NFS server.
 *
 * How many nfsd threads are busy no kernel tells since 2.6.30; what is there is calls, and how
 * often a request found no idle thread.
 */
#ifndef PULT_PROC_SERVER_H
#define PULT_PROC_SERVER_H

#include <glib.h>

/* /proc/loadavg: the last minute's, in thousandths. */
gboolean proc_load_parse(const char *line, gint64 *load);
/* /sys/block/NAME/stat (or a line of /proc/diskstats from its fourth word): bytes read and written.
 * Sectors are of 512 bytes, whatever the disk's own are. */
gboolean proc_disk_parse(const char *line, guint64 *bytes);
/* /proc/net/rpc/nfsd: `rpc` calls answered so far, `th` threads. */
gboolean proc_nfsd_calls_parse(const char *line, guint64 *calls);
gboolean proc_nfsd_threads_parse(const char *line, guint64 *threads);
/* A line of /proc/fs/nfsd/pool_stats: how often a transport found no idle thread of that pool. */
gboolean proc_nfsd_pool_parse(const char *line, guint64 *waits);

/* A counter's growth since it was first seen; what went back was reset. Begins as all zeros. */
typedef struct {
  gboolean begun;
  guint64 last;
  gint64 total;
} ProcCount;
void proc_count_add(ProcCount *count, guint64 now);

#endif
