# shellcheck shell=sh
# Drives the real program in a terminal of tmux. A script sources this, and then:
#
#   desk_open COLUMNS ROWS     a shell in a new terminal; the one before is closed
#   desk_type TEXT             types TEXT and Enter
#   desk_press KEY…            presses keys, by tmux's names
#   desk_resize COLUMNS ROWS
#   desk_run ARGUMENT…         starts $PULT in the terminal; $desk_pid is its process
#   desk_line LINE             runs a line of the shell in the cleared terminal
#   sees NAME REGEX [SECONDS]  passes once a line of the screen matches; fails after SECONDS (30)
#   hides NAME REGEX           passes once no line of the screen matches; fails after 30 s
#   ends NAME STATUS           passes once what was started last has ended with STATUS
#   check NAME COMMAND…        passes when COMMAND succeeds
#   desk_finish                says how it went, closes the terminal; the last line of a script
#
# Nothing waits for a fixed time: whatever is waited for has a limit.

passed=0
failed=0
desk_server=
desk_socket=pult-$$
desk_status= # file that has the status of what was started last, once it has ended
desk_count=0
desk_log=$TMPDIR/desk.log
export TMUX_TMPDIR="$TMPDIR"
unset TMUX

command -v tmux >/dev/null || {
  echo 'tmux is not installed'
  exit 77
}

desk_tmux() {
  tmux -u -L "$desk_socket" -f /dev/null "$@"
}

# Ends the server that was started here, and no other.
desk_close() {
  [ -n "$desk_server" ] || return 0
  kill "$desk_server" 2>/dev/null || true
  desk_server=
  desk_status=
  desk_count=$((desk_count + 1))
  desk_socket=pult-$$-$desk_count
}
trap desk_close EXIT

desk_open() {
  desk_close
  desk_tmux new-session -d -x "$1" -y "$2" \
    'PS1="ready> " exec bash --norc --noprofile -i' \; set-option -g escape-time 0 \; \
    set-option -g default-terminal "${desk_terminal-screen}"
  desk_server=$(desk_tmux display-message -p '#{pid}')
  desk_until 15 '^ready>' || desk_fail 'terminal' 'there is no shell in it'
}

desk_screen() {
  desk_tmux capture-pane -p
}

# desk_until SECONDS REGEX: TRUE once a line of the screen matches
desk_until() {
  desk_end=$(($(date +%s) + $1))
  while ! desk_screen | grep -q -e "$2"; do
    [ "$(date +%s)" -le "$desk_end" ] || return 1
    sleep 0.05
  done
}

desk_fail() {
  failed=$((failed + 1))
  echo "failed $(echo "$1" | tr ' ' -): $2"
  [ -z "$desk_server" ] || desk_screen | sed -e '/^ *$/d' -e 's/^/    |/'
}

desk_type() {
  desk_tmux send-keys -l -- "$1"
  desk_tmux send-keys Enter
}

desk_press() {
  desk_tmux send-keys "$@"
}

desk_resize() {
  desk_tmux resize-window -x "$1" -y "$2"
}

# desk_wait FILE: TRUE once there is something in it
desk_wait() {
  desk_end=$(($(date +%s) + 30))
  while [ ! -s "$1" ]; do
    [ "$(date +%s)" -le "$desk_end" ] || return 1
    sleep 0.05
  done
}

desk_line() {
  # A program that has said its last word may still be about to end: its status is not this one's,
  # and what is typed here not for it.
  [ -z "$desk_status" ] || desk_wait "$desk_status" ||
    desk_fail 'the program before' 'goes on, or was ended by nobody'
  desk_count=$((desk_count + 1))
  desk_status=$TMPDIR/desk.status.$desk_count
  desk_type "clear; $1; echo \$? >$desk_status"
}

desk_run() {
  rm -f "$TMPDIR/desk.pid"
  desk_line "sh -c 'echo \$\$ >$TMPDIR/desk.pid; exec $PULT $*'"
  desk_wait "$TMPDIR/desk.pid" || desk_fail 'start' 'there is no program in the terminal'
  desk_pid=$(cat "$TMPDIR/desk.pid")
}

sees() {
  if desk_until "${3-30}" "$2"; then
    passed=$((passed + 1))
  else
    desk_fail "$1" "no line matches '$2':"
  fi
}

hides() {
  desk_end=$(($(date +%s) + 30))
  while desk_screen | grep -q -e "$2"; do
    if [ "$(date +%s)" -gt "$desk_end" ]; then
      desk_fail "$1" "a line still matches '$2':"
      return 0
    fi
    sleep 0.05
  done
  passed=$((passed + 1))
}

ends() {
  if desk_wait "$desk_status" && [ "$(cat "$desk_status")" = "$2" ]; then
    passed=$((passed + 1))
  else
    desk_fail "$1" "status '$(cat "$desk_status" 2>/dev/null)', not $2:"
  fi
}

check() {
  desk_name=$1
  shift
  if "$@" >"$desk_log" 2>&1; then
    passed=$((passed + 1))
  else
    desk_fail "$desk_name" "$* says: $(tail -n 3 "$desk_log")"
  fi
}

desk_finish() {
  desk_close
  echo "$passed passed, $failed failed, 0 skipped"
  [ "$failed" = 0 ]
}
