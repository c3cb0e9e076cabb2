#include "backends/proc/proc_server.h"

#include "backends/proc/proc_scan.h"

#define SECTOR 512
#define MOST (G_GINT64_CONSTANT(1) << 60)

gboolean
proc_load_parse(const char *line, gint64 *load)
{
  guint64 whole, hundredths;
  const char *at = line;

  if (!proc_take_number(&at, &whole) || *at++ != '.' || !g_ascii_isdigit(*at) ||
      !proc_take_number(&at, &hundredths) || hundredths > 99 || whole > G_MAXINT32)
    return FALSE;
  *load = (gint64)whole * 1000 + (gint64)hundredths * 10;
  return TRUE;
}

gboolean
proc_disk_parse(const char *line, guint64 *bytes)
{
  guint64 values[7]; /* reads, merged, sectors, ms, writes, merged, sectors */

  if (!proc_take_numbers(&line, values, G_N_ELEMENTS(values)) || values[2] > MOST / SECTOR ||
      values[6] > MOST / SECTOR)
    return FALSE;
  *bytes = (values[2] + values[6]) * SECTOR;
  return TRUE;
}

gboolean
proc_nfsd_calls_parse(const char *line, guint64 *calls)
{
  return proc_take_word(&line, "rpc") && proc_take_number(&line, calls);
}

gboolean
proc_nfsd_threads_parse(const char *line, guint64 *threads)
{
  return proc_take_word(&line, "th") && proc_take_number(&line, threads) && *threads <= G_MAXINT32;
}

gboolean
proc_nfsd_pool_parse(const char *line, guint64 *waits)
{
  guint64 values[3]; /* pool, packets arrived, transports enqueued */

  if (!proc_take_numbers(&line, values, G_N_ELEMENTS(values)))
    return FALSE;
  *waits = values[2];
  return TRUE;
}

void
proc_count_add(ProcCount *count, guint64 now)
{
  if (count->begun && now >= count->last)
    count->total = (gint64)MIN((guint64)count->total + MIN(now - count->last, (guint64)MOST), MOST);
  count->begun = TRUE;
  count->last = now;
}
