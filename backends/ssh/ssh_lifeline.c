#include "backends/ssh/ssh_lifeline.h"

/* all SIGNAL: gives it to everything in the session but who calls it and the shell that waits for
 * the command ($$, the session's first process); false when there is nothing. Zombies are left to
 * their parents. pgrep is asked first: a shell reads /proc byte by byte. In `read me rest
 * </proc/self/stat` read is the shell's own: it tells the caller.
 *
 * end_all: TERM, and KILL to what is left after SSH_GRACE.
 *
 * When the command has ended by a signal of the watcher's, the rest of the session goes as well,
 * before its end is told. A watcher that is killed in the middle of giving signals leaves the rest
 * to that. */
static const char wrapper[] =
    "all() {"
    " [ -r /proc/self/stat ] || { kill -$1 0; return; };"
    " found=1;"
    " read -r me rest </proc/self/stat;"
    " for p in $(pgrep -s $$ || { cd /proc && echo [0-9]*; }); do"
    "  read -r line </proc/$p/stat && set -- $1 ${line##*) } || continue;"
    "  [ $5 = $$ ] && [ $2 != Z ] && [ $p != $$ ] && [ $p != $me ] && kill -$1 $p && found=0;"
    " done;"
    " return $found;"
    "}; "
    "kill_all() {"
    " for try in 1 2 3 4 5 6 7 8 9; do all KILL || return; done;"
    "}; "
    "end_all() {"
    " all TERM;"
    " for pause in .1 .3 .6 1 1; do all 0 || return; sleep $pause || sleep 1; done;"
    " kill_all;"
    "}; "
    "exec 3<&0 </dev/null; "
    "stopped=:; "
    "trap stopped=end_all USR1; trap stopped=kill_all USR2; trap : HUP INT TERM; "
    "{"
    " trap '' HUP INT TERM USR1 USR2;"
    " while read -r signal <&3; do"
    "  [ $signal = KILL ] && kill -USR2 $$ || kill -USR1 $$; all $signal;"
    " done;"
    " kill -USR1 $$;"
    " end_all;"
    "} >/dev/null 2>&1 & "
    "watcher=$!; "
    "exec 4>&2 2>/dev/null; "
    "$1 -c \"$2\" 2>&4 3<&- 4>&-; "
    "status=$?; "
    "exec >&- 4>&-; "
    "kill -KILL $watcher; "
    "$stopped; "
    "exit $status";

/* OpenSSH makes every command a session of its own, Dropbear does not: there the session is the
 * server's. What is no group's first process either has one by setsid, under the same number. */
static const char opening[] =
    "leads() { [ $4 = $$ ]; }; "
    "own=; "
    "if read -r line </proc/$$/stat && ! leads ${line##*) }; then"
    " own=setsid;"
    " command -v setsid >/dev/null ||"
    "  { echo 'the SSH server makes no sessions, and there is no setsid' >&2; exit 126; };"
    "fi; "
    "exec $own \"$@\"";

static char *
in_session(const char *shell, const char *arguments)
{
  g_autofree char *program = g_shell_quote(opening);
  return g_strdup_printf("exec %s -c %s pult %s -c %s", shell, program, shell, arguments);
}

char *
ssh_lifeline_wrap(const char *shell, const char *line)
{
  g_autofree char *program = g_shell_quote(wrapper);
  g_autofree char *quoted = g_shell_quote(line);
  g_autofree char *runner = g_shell_quote(shell);
  g_autofree char *arguments = g_strdup_printf("%s pult %s %s", program, runner, quoted);
  return in_session(runner, arguments);
}

char *
ssh_lifeline_without(const char *shell, const char *line)
{
  g_autofree char *quoted = g_shell_quote(line);
  g_autofree char *runner = g_shell_quote(shell);
  return in_session(runner, quoted);
}
