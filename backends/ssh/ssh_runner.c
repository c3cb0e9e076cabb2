#include "backends/ssh/ssh_runner.h"

/* all SIGNAL: gives it to everything in the session but its own shells: the first ($$) and those
 * that have one of $shells as their parent. False when there is nothing. Zombies are left to their
 * parents.
 *
 * end_all SIGNAL: the same, and KILL to what is left after 3 s. Of nothing it looks a second time:
 * it may just have been about to begin.
 *
 * pause SECONDS: not in the session, where one of its shells would take the other's for what the
 * job has left behind, and wait until that is gone.
 *
 * tick: the clock into $t. date is asked for nothing it cannot tell: busybox may have been built
 * without %N. It is a child like any other, and asked again when a signal met it.
 *
 * quiet LINE: in a session of its own. A signal may meet it on the way there, and nowhere else:
 * then it has not begun, and is begun again.
 */
static const char common[] =
    "export LC_ALL=C; "
    "read -r line </proc/$$/stat; set -- ${line##*) }; session=$4; "
    "say() { printf \"\\n%s %s\\n\" \"$token\" \"$*\"; }; "
    "all() {"
    " found=1;"
    " for p in /proc/[0-9]*/stat; do"
    "  read -r line <$p && set -- $1 ${line##*) } && [ \"$5\" = $session ] && [ $2 != Z ] ||"
    "   continue;"
    "  p=${p%/*}; p=${p##*/};"
    "  case $shells in *\" $3 \"*|*\" $p \"*) ;; *) kill -$1 $p && found=0 ;; esac;"
    " done;"
    " return $found;"
    "}; "
    "own=; command -v setsid >/dev/null && own=setsid; "
    "pause() { $own sleep $1 || $own sleep 1; }; "
    "end_all() {"
    " all $1 || { pause .3; all $1 || return; };"
    " for s in .1 .3 .6 1 1; do all 0 || return; pause $s; done;"
    " for try in 1 2 3 4 5 6 7 8 9; do all KILL || return; done;"
    "}; "
    "up() { read -r u rest </proc/uptime; u=${u%.*}${u#*.}; }; "
    "clock=date; "
    "case $(date +%N) in *[!0-9]*|\"\") clock=uptime; esac; "
    "tick() {"
    " case $clock in"
    " date) until t=$(date +%s%N) && [ -n \"$t\" ]; do :; done ;;"
    " *) up; t=${u}0000000 ;;"
    " esac;"
    "}; "
    "quiet() {"
    " for try in 1 2 3 4 5; do"
    "  $own $shell -c \"$1\";"
    "  case $? in 129|130|137|143) ;; *) return ;; esac;"
    " done;"
    "}; ";

/* Reads the channel (3), writes to it (4) and to the worker (its output). */
static const char reader[] =
    "read_channel() {"
    " trap \"\" HUP INT TERM USR1 PIPE;"
    " read -r me rest </proc/self/stat;"
    " echo $me;"
    " while read -r word arg rest <&3; do"
    "  case $word in"
    "  echo) tick; say echo $arg $t >&4 ;;"
    "  fire|bye) echo $word $arg ;;"
    "  stop) give_up $arg ;;"
    "  leave) let_go $arg ;;"
    "  esac;"
    " done;"
    " [ -z \"$stays\" ] || outlive;"
    " give_up TERM;"
    " exec >/dev/null;"
    " while kill -0 $worker; do"
    "  end_all TERM 2>/dev/null; pause .1;"
    " done;"
    "}; "
    /* The end of the channel is then none of the job's, which has so many seconds more, or with -1
     * as many as it takes. The worker has its farewell already, for when the job has ended. */
    "let_go() {"
    " stays=$1; up; begun=${u%??};"
    " echo bye;"
    " say left >&4;"
    "}; "
    "outlive() {"
    " while up; [ $stays -lt 0 ] || [ $((${u%??} - begun)) -lt $stays ]; do pause 1; done;"
    "}; "
    /* The worker is told first: what it waits for may be what is ended. It may be about to begin
     * something: when the channel has ended the reader stays until the worker has gone. */
    "give_up() {"
    " echo stop;"
    " for p in /proc/[0-9]*/stat; do"
    "  read -r line <$p && set -- $1 ${line##*) } && [ $3 = $top ] || continue;"
    "  p=${p%/*}; p=${p##*/};"
    "  [ $p != $me ] && worker=$p && kill -USR1 $p;"
    " done;"
    " end_all $1;"
    "}; ";

static const char worker[] =
    "read_counter() { bytes=-; [ -n \"$counter\" ] && read -r bytes <$counter; }; "
    "line() { $shell -c \"$1\" </dev/null 2>&5 5>&-; }; "
    "fail() { say unarmed \"$*\"; drain; kill -KILL $reader; exit 1; }; "
    "arm() {"
    " for p in $needs; do"
    "  command -v $p >/dev/null || fail \"there is no $p\";"
    " done;"
    " if [ -z \"$stopped\" ] && [ -n \"$prepare\" ]; then"
    "  line \"$prepare\" || fail \"prepare: exit status $?\";"
    " fi;"
    " if [ -z \"$stopped\" ] && [ -n \"$cold\" ]; then"
    "  line \"$cold\" || say uncold $?;"
    " fi;"
    " if [ -z \"$stopped\" ] && [ -n \"$warm\" ]; then"
    "  $shell -c \"$warm\" </dev/null >/dev/null 2>&1 5>&-;"
    " fi;"
    " shortest=1000; sleep .01 && shortest=0;"
    " [ -n \"$stopped\" ] || say armed $clock;"
    "}; "
    /* Sleeps but for the last milliseconds, which go in asking the clock; 5 s at a time, since a
     * signal may come just before a sleep and is heeded after it. */
    "wait_until() {"
    " while tick; left=$((($1 - t) / 1000000 - 4));"
    "  [ $left -gt $shortest ] && [ -z \"$stopped\" ];"
    " do"
    "  [ $left -le 5000 ] || left=5000;"
    "  part=$((left % 1000 + 1000));"
    "  [ $shortest = 0 ] && part=.${part#1} || part=;"
    "  sleep $((left / 1000))$part;"
    " done;"
    " while [ $t -lt $1 ] && [ -z \"$stopped\" ]; do tick; done;"
    "}; "
    /* What a line left behind is ended with it: the reader may be in the middle of giving signals.
     */
    "drain() {"
    " all 0 || return;"
    " [ -n \"$stopped\" ] || all TERM;"
    " for s in .05 .1 .3 .6 1 1; do pause $s; all 0 || return; done;"
    " for try in 1 2 3 4 5 6 7 8 9; do all KILL || return; done;"
    "}; "
    "run() {"
    " read_counter; b0=$bytes; up; u0=$u; start=$t; ran=1; say start $start;"
    " line \"$command\";"
    " status=$?;"
    " up; u1=$u; tick; read_counter;"
    " wire=-; [ $bytes = - ] || wire=$((bytes - b0));"
    " drain;"
    " [ -z \"$measure\" ] || quiet \"$measure\" </dev/null 2>&5 5>&-;"
    " say end $start $t $u0 $u1 $status $wire ${stopped:-0};"
    "}; "
    "work() {"
    " trap stopped=1 USR1; trap : HUP INT TERM PIPE;"
    " read -r reader;"
    " arm;"
    " while read -r word arg; do"
    "  case $word in"
    "  fire) wait_until $arg; [ -n \"$stopped\" ] || run ;;"
    "  stop) [ -n \"$ran\" ] || break ;;"
    "  *) break ;;"
    "  esac;"
    " done;"
    " drain;"
    " [ -z \"$cleanup\" ] || quiet \"$cleanup\" </dev/null 2>&5 5>&-;"
    " kill -KILL $reader;"
    " exit 0;"
    "}; ";

/* What the job writes goes by one more pipe, which is read when nobody wants it any more: without a
 * reader its next line would end a job that was left running. Not in the session, where it would be
 * one of the things that are ended; without setsid nothing is read for nobody.
 *
 * What shells say of children that a signal ended is for nobody: errors of lines go to 5. */
static const char session[] =
    "keep() {"
    " exec 3<&- 4>&- 5>&- 6>&-;"
    " [ -n \"$own\" ] && exec $own $shell -c \"cat; exec cat >/dev/null\";"
    " exec cat;"
    "}; "
    "both() {"
    " read -r line </proc/self/stat; top=${line%% *}; set -- ${line##*) }; shells=\" $$ $2 $top \";"
    " { exec 5>&-; read_channel; } | { exec 3<&- 4>&-; work; };"
    "}; "
    "errors() { both 5>&1 >&6 6>&- | keep >&5; }; "
    "trap : HUP INT TERM USR1 PIPE; "
    "exec 3<&0 4>&1 5>&2 </dev/null 2>/dev/null; "
    "errors 6>&1 | keep >&4";

static void
set(GString *text, const char *name, const char *value)
{
  g_autofree char *quoted = g_shell_quote(value != NULL ? value : "");
  g_string_append_printf(text, "%s=%s; ", name, quoted);
}

char *
ssh_runner_text(const SshRunner *runner)
{
  GString *text = g_string_new(NULL);
  set(text, "token", runner->token);
  set(text, "shell", runner->shell);
  set(text, "counter", runner->counter);
  set(text, "needs", runner->needs);
  set(text, "prepare", runner->prepare);
  set(text, "cold", runner->cold);
  set(text, "warm", runner->warm);
  set(text, "command", runner->command);
  set(text, "measure", runner->measure);
  set(text, "cleanup", runner->cleanup);
  g_string_append(text, "stopped=; ran=; worker=; stays=; ");
  g_string_append(text, common);
  g_string_append(text, reader);
  g_string_append(text, worker);
  g_string_append(text, session);
  return g_string_free(text, FALSE);
}
