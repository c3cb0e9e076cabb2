#include "backends/proc/proc_loop.h"

static const char begin[] = "exec 2>/dev/null\n"
                            "nl='\n'\n"
                            "LC_ALL=C; export LC_ALL\n"
                            "disks=\n"
                            "for d in /sys/block/*/device; do [ -e \"$d\" ] || continue\n"
                            "  d=${d%/device}; disks=\"$disks ${d##*/}\"; done\n"
                            "read -r k </proc/sys/kernel/osrelease && printf 'k %s\\n' \"$k\"\n"
                            "while read -r t w; do\n"
                            "o=@$t\n";

static const char sys_body[] = "d=/sys/class/net/$i/statistics\n"
                               "  read -r a <$d/rx_bytes && read -r b <$d/rx_packets &&\n"
                               "  read -r c <$d/tx_bytes && read -r e <$d/tx_packets &&\n"
                               "  o=\"$o${nl}n $i $a $b $c $e\"";

static const char dev[] = "case $w in *N*)\n"
                          "  while read -r l; do o=\"$o${nl}N $l\"; done </proc/net/dev;; esac\n";

/* Of the long file on RPC only two lines are wanted; reading it on costs a call a byte. */
static const char server[] =
    "case $w in *l*)\n"
    "  read -r l </proc/loadavg && o=\"$o${nl}l $l\"\n"
    "  for i in $disks; do read -r l </sys/block/$i/stat && o=\"$o${nl}d $i $l\"; done\n"
    "  if [ -r /proc/net/rpc/nfsd ]; then\n"
    "    while read -r l; do case $l in th*|rpc*) o=\"$o${nl}r $l\";; esac\n"
    "      case $l in rpc*) break;; esac; done </proc/net/rpc/nfsd; fi\n"
    "  if [ -r /proc/fs/nfsd/pool_stats ]; then\n"
    "    while read -r l; do o=\"$o${nl}p $l\"; done </proc/fs/nfsd/pool_stats; fi;; esac\n";

static const char bond_body[] = "f=/proc/net/bonding/$i\n"
                                "  if [ -r \"$f\" ]; then o=\"$o${nl}b $i\"\n"
                                "    while read -r l; do o=\"$o${nl}: $l\"; done <\"$f\"; fi";

static const char end[] = "case $w in *s*)\n"
                          "  printf '%s\\ns\\n' \"$o\"\n"
                          "  ss -tin state established </dev/null; o=\"S $?\";; esac\n"
                          "printf '%s\\n.%s\\n' \"$o\" \"$t\" || exit\n"
                          "done\n";

/* `case $w in *LETTER*) for i in NAMES; do BODY; done;; esac` */
static void
add_for(GString *command, char letter, const char *const *names, const char *body)
{
  if (!names || !*names)
    return;
  g_string_append_printf(command, "case $w in *%c*) for i in", letter);
  for (guint i = 0; names[i]; i++) {
    g_autofree char *quoted = g_shell_quote(names[i]);
    g_string_append_printf(command, " %s", quoted);
  }
  g_string_append_printf(command, "; do %s\n  done;; esac\n", body);
}

char *
proc_loop_command(const char *const *interfaces, const char *const *bonds)
{
  GString *command = g_string_new(begin);

  add_for(command, 'n', interfaces, sys_body);
  g_string_append(command, dev);
  g_string_append(command, server);
  add_for(command, 'b', bonds, bond_body);
  g_string_append(command, end);
  return g_string_free(command, FALSE);
}

void
proc_loop_ask(GString *line, guint64 token, guint ask)
{
  static const char letters[] = "nNlbs";

  g_string_append_printf(line, "%" G_GUINT64_FORMAT " ", token);
  for (guint i = 0; letters[i]; i++)
    if (ask & (1u << i))
      g_string_append_c(line, letters[i]);
  g_string_append_c(line, '\n');
}
