#include "backends/ssh/ssh_once_keeper.h"

/* place KIND MAC: the file's $dir, $name and $file.
 *
 * sum: of $file. $kept has KIND/MAC=SUM of each that was put.
 *
 * owner: whose $file is: nobody's (free), ours, stale, another keeper's (held), somebody's
 * (foreign). What another machine keeps cannot be looked into. In a command line of the shell's own
 * name its keeper is known by the word behind it.
 *
 * put_one: fails with $why. A file that comes into being meanwhile is not overwritten; where there
 * are no hard links that is as good as it gets.
 *
 * back_one: fails with $why, and forgets it where it is not ours any more. */
static const char keeper[] =
    "pxelinux=$1 ipxe=$2 kept= host=$(uname -n); "
    "mark=\"# pult boot-once, kept by $host $$\"; "
    "say() { printf '%s\\n' \"$*\"; }; "
    "place() {"
    " case $1 in p) dir=$pxelinux name=01-$2 ;; *) dir=$ipxe name=$2.ipxe ;; esac;"
    " file=$dir/$name;"
    "}; "
    "sum() { set -- $(cksum <\"$file\"); echo $1:$2; }; "
    "lives() {"
    " if [ -r /proc/$$/cmdline ]; then grep -q pult-once \"/proc/$1/cmdline\" 2>/dev/null;"
    " else kill -0 \"$1\" 2>/dev/null; fi;"
    "}; "
    "owner() {"
    " line=;"
    " if [ ! -e \"$file\" ] && [ ! -L \"$file\" ]; then echo free; return; fi;"
    " { read -r first; read -r line; } 2>/dev/null <\"$file\";"
    " case $line in"
    " \"$mark\") echo ours ;;"
    " \"${mark% *} \"*) if lives \"${line##* }\"; then echo held; else echo stale; fi ;;"
    " '# pult boot-once, kept by '*) echo held ;;"
    " *) echo foreign ;;"
    " esac;"
    "}; "
    "forget() {"
    " rest=;"
    " for one in $kept; do case $one in $1=*) ;; *) rest=\"$rest $one\" ;; esac; done;"
    " kept=$rest;"
    "}; "
    "put_one() {"
    " place $1 $2;"
    " [ -d \"$dir\" ] || { why=\"there is no folder $dir\"; return 1; };"
    " whose=$(owner);"
    " case $whose in"
    " held) why=\"another console boots it by $file\"; return 1 ;;"
    " foreign) why=\"$file is there already, and not pult's\"; return 1 ;;"
    " esac;"
    " temp=$dir/.$name.$$;"
    " why=$({"
    "  case $1 in p) say '# One boot of one machine; taken back behind it.' ;; *) say '#!ipxe' ;; "
    "esac;"
    "  say \"$mark\";"
    "  printf %s $3 | base64 -d;"
    " } 2>&1 >\"$temp\" && chmod a+r \"$temp\" 2>&1) && [ -s \"$temp\" ] ||"
    "  { rm -f \"$temp\"; why=${why:-\"$dir takes no file\"}; return 1; };"
    " if [ $whose = free ]; then"
    "  why=$(ln \"$temp\" \"$file\" 2>&1) || { [ ! -e \"$file\" ] && why=$(mv \"$temp\" \"$file\" "
    "2>&1); };"
    " else why=$(mv -f \"$temp\" \"$file\" 2>&1); fi || { rm -f \"$temp\"; return 1; };"
    " rm -f \"$temp\";"
    " forget $1/$2;"
    " kept=\"$kept $1/$2=$(sum)\";"
    "}; "
    "back_one() {"
    " place $1 $2;"
    " for one in $kept; do"
    "  case $one in $1/$2=*) ;; *) continue ;; esac;"
    "  if [ ! -e \"$file\" ]; then forget $1/$2; return 0; fi;"
    "  if [ \"$1/$2=$(sum)\" != $one ]; then"
    "   forget $1/$2; why=\"$file was changed by somebody; it is left there\"; return 1;"
    "  fi;"
    "  why=$(rm -f \"$file\" 2>&1) || return 1;"
    "  forget $1/$2;"
    " done;"
    "}; "
    "put() {"
    " [ $3 = - ] || put_one p $2 $3 || { say $1 failed \"$why\"; return; };"
    " [ $4 = - ] || put_one i $2 $4 ||"
    "  { failure=$why; back_one p $2; say $1 failed \"$failure\"; return; };"
    " say $1 ok;"
    "}; "
    "back() {"
    " if back_one p $2; then back_one i $2; else failure=$why; back_one i $2; why=$failure; false; "
    "fi"
    "  && say $1 ok || say $1 failed \"$why\";"
    "}; "
    "leave() {"
    " trap '' HUP INT TERM;"
    " exec >/dev/null 2>&1;"
    " for each in $kept; do each=${each%%=*}; back_one ${each%%/*} ${each#*/}; done;"
    "}; "
    "sweep() {"
    " for file in \"$@\"; do"
    "  if [ -f \"$file\" ] && [ \"$(owner)\" = stale ]; then rm -f \"$file\" && say stale "
    "\"$file\"; fi;"
    " done;"
    "}; "
    "umask 022; "
    "trap '' PIPE; trap exit HUP INT TERM; trap leave EXIT; "
    "[ -z \"$pxelinux\" ] || sweep \"$pxelinux\"/01-*; "
    "[ -z \"$ipxe\" ] || sweep \"$ipxe\"/*.ipxe; "
    "say ready; "
    "while read -r word arguments; do"
    " case $word in put|back) $word $arguments ;; esac;"
    "done";

char *
ssh_once_keeper_line(const char *shell, const char *pxelinux, const char *ipxe)
{
  g_autofree char *program = g_shell_quote(keeper);
  g_autofree char *first = g_shell_quote(pxelinux != NULL ? pxelinux : "");
  g_autofree char *second = g_shell_quote(ipxe != NULL ? ipxe : "");
  return g_strdup_printf("exec %s -c %s pult-once %s %s", shell, program, first, second);
}
