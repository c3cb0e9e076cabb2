#include "backends/proc/proc_net.h"

#include "backends/proc/proc_scan.h"

gboolean
proc_net_parse(const char *line, char name[PROC_NAME_BYTES], ProcCounters *counters)
{
  guint64 values[10]; /* bytes packets errs drop fifo frame compressed multicast, bytes packets */
  const char *at = line + strspn(line, " \t");
  /* A name has no blank; an alias has a colon itself (eth0:1). */
  const char *end = at + strcspn(at, " \t"), *colon = end;
  while (colon > at && *colon != ':')
    colon--;
  gsize length = (gsize)(colon - at);

  if (length == 0 || length >= PROC_NAME_BYTES)
    return FALSE;
  const char *rest = colon + 1;
  if (!proc_take_numbers(&rest, values, G_N_ELEMENTS(values)))
    return FALSE;
  memcpy(name, at, length);
  name[length] = '\0';
  *counters = (ProcCounters){values[0], values[1], values[8], values[9]};
  return TRUE;
}

static gint64
step(guint64 last, guint64 now)
{
  guint64 change = now >= last ? now - last : now + (G_GUINT64_CONSTANT(1) << 32) - last;
  return (gint64)MIN(change, G_GUINT64_CONSTANT(1) << 56);
}

static gint64
payload(gint64 total, gint64 bytes, gint64 packets)
{
  gint64 headers = MIN(packets, G_MAXINT64 / PROC_FRAME_HEADERS) * PROC_FRAME_HEADERS;
  return MIN(total + MAX(bytes - headers, 0), G_GINT64_CONSTANT(1) << 60);
}

void
proc_net_add(ProcNet *net, const ProcCounters *now)
{
  const guint64 before[] = {net->last.rx_bytes, net->last.rx_packets, net->last.tx_bytes,
                            net->last.tx_packets};
  const guint64 after[] = {now->rx_bytes, now->rx_packets, now->tx_bytes, now->tx_packets};
  guint n_back = 0;
  gboolean wide = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS(before); i++) {
    n_back += after[i] < before[i];
    wide = wide || (after[i] < before[i] && before[i] > G_MAXUINT32);
  }
  if (net->begun && n_back < 2 && !wide) {
    net->rx = payload(net->rx, step(before[0], after[0]), step(before[1], after[1]));
    net->tx = payload(net->tx, step(before[2], after[2]), step(before[3], after[3]));
  }
  net->begun = TRUE;
  net->last = *now;
}
