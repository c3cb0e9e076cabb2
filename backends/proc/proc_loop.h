/* The loop a metered host runs: a POSIX shell that answers each line it reads with counters.
 *
 * It forks nothing: counters are read by the shell's own `read` from files, and one write a tick
 * carries them. `ss` alone is a program, and run only when asked for. It ends when its input does,
 * so when the connection ends. /proc/net/dev costs a shell that reads byte by byte seven times what
 * /sys/class/net does, so it is asked for where the latter is not there, or is another name
 * space's.
 *
 * A line `TOKEN WHAT` asks, WHAT being letters of proc_loop_ask(). The answer:
 *
 *   k RELEASE              the kernel's, before the first answer
 *   @TOKEN
 *   n NAME B P B P         interface: bytes and packets received, sent; from /sys
 *   N LINE                 of /proc/net/dev
 *   l LINE                 /proc/loadavg
 *   d NAME LINE            /sys/block/NAME/stat, of disks with a device of their own
 *   r LINE                 /proc/net/rpc/nfsd, `th` and `rpc` alone
 *   p LINE                 /proc/fs/nfsd/pool_stats
 *   b NAME                 /proc/net/bonding/NAME, its lines follow as `: LINE`
 *   s                      the lines of `ss -tin state established` follow, then
 *   S STATUS               its exit status
 *   .TOKEN                 the answer is complete
 */
#ifndef PULT_PROC_LOOP_H
#define PULT_PROC_LOOP_H

#include <glib.h>

typedef enum {
  PROC_ASK_SYS = 1 << 0,
  PROC_ASK_DEV = 1 << 1,
  PROC_ASK_SERVER = 1 << 2, /* load, disks, NFS server */
  PROC_ASK_BONDS = 1 << 3,
  PROC_ASK_SOCKETS = 1 << 4,
} ProcAsk;

/* The loop for a shell, as one line of arguments to none: what it reads is its input. Names may be
 * anything. Free with g_free. */
char *proc_loop_command(const char *const *interfaces, const char *const *bonds);
/* Appends the line that asks. */
void proc_loop_ask(GString *line, guint64 token, guint ask);

#endif
