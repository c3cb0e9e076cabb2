/* The machine behind one simulated BMC: what ipmi_sim calls to read and to switch it.
 *
 *   chassis DIR get power|boot
 *   chassis DIR set power 0|1 | reset 1 | shutdown 1 | boot DEVICE
 *
 * ipmi_sim waits for it, and answers nothing else meanwhile. DIR holds one machine:
 *
 *   state    `POWER NEXT AT BOOT`: power is 0 or 1 until AT (ns of CLOCK_REALTIME), then NEXT
 *   log      `NS WHAT ARGUMENTS…`, a line for each call that was asked, and one for what came of
 *            it: did, said VALUE, ignored, failed, hung. Lines with `did` are what was carried out.
 *   faults   `NAME [VALUE]` a line, absent when nothing is wrong. Read at every call, so it is to
 *            be replaced whole. Times are in seconds:
 *              slow, slow-get S    waits before it acts (set), before it looks (get)
 *              late, late-get S    waits when it has acted or looked, before it answers
 *              lag S               power is another only S after it was set
 *              soft S              a soft shutdown takes S (0.3)
 *              hang, hang-set      does not answer as long as this line stands
 *              fail, fail-set      exits 1 and does nothing
 *              lie [on|off]        says so of the power; without a word the opposite of what it is
 *              deaf, deaf-soft     says yes and does nothing
 *   hook     words, one a line, of a program to run when the power was switched: it gets DIR and
 *            on, off, reset or shutdown behind them. When it fails, so does the call.
 *   sense    words of another that tells the power, where the state does not: it gets DIR behind
 *            them, and exits 0 when the machine is on, 1 when it is off. Else `get` fails.
 *
 * Exit status 0 when done, 1 when not, 2 when DIR is not what it should be. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define LINE_MAX_BYTES 512
#define HOOK_WORDS_MAX 64
#define NO_HOOK (-1)
#define SECOND INT64_C(1000000000)
#define DEVICE_FORMAT "%31s"

typedef struct {
  double slow[2], late[2]; /* of get, of set */
  double lag, soft;
  bool hang[2], fail[2];
  bool lies, deaf, deaf_soft;
  char lie[8];
} Faults;

typedef struct {
  int power, next;
  int64_t at;
  char boot[32];
} State;

enum { GET, SET };

static int64_t
now(void)
{
  struct timespec at;

  clock_gettime(CLOCK_REALTIME, &at);
  return at.tv_sec * SECOND + at.tv_nsec;
}

static void
wait_for(double seconds)
{
  struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

  while (nanosleep(&left, &left) != 0 && errno == EINTR)
    ;
}

/* One write(): lines of several writers do not mix. */
static void
log_line(char **words, const char *format, ...)
{
  char line[LINE_MAX_BYTES];
  va_list args;

  size_t n = (size_t)snprintf(line, sizeof line, "%lld ", (long long)now());
  va_start(args, format);
  n += (size_t)vsnprintf(line + n, sizeof line - n, format, args);
  va_end(args);
  for (; *words && n < sizeof line; words++)
    n += (size_t)snprintf(line + n, sizeof line - n, " %s", *words);
  if (n > sizeof line - 2)
    n = sizeof line - 2;
  line[n++] = '\n';

  int fd = open("log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, line, n) != (ssize_t)n) {
    perror("chassis: log");
    exit(2);
  }
  close(fd);
}

static void
take_fault(Faults *faults, const char *name, const char *value)
{
  struct {
    const char *name;
    double *seconds;
    bool *flag, *other;
  } known[] = {
      {"slow", &faults->slow[SET], NULL, NULL},
      {"slow-get", &faults->slow[GET], NULL, NULL},
      {"late", &faults->late[SET], NULL, NULL},
      {"late-get", &faults->late[GET], NULL, NULL},
      {"lag", &faults->lag, NULL, NULL},
      {"soft", &faults->soft, NULL, NULL},
      {"hang", NULL, &faults->hang[GET], &faults->hang[SET]},
      {"hang-set", NULL, &faults->hang[SET], NULL},
      {"fail", NULL, &faults->fail[GET], &faults->fail[SET]},
      {"fail-set", NULL, &faults->fail[SET], NULL},
      {"lie", NULL, &faults->lies, NULL},
      {"deaf", NULL, &faults->deaf, &faults->deaf_soft},
      {"deaf-soft", NULL, &faults->deaf_soft, NULL},
  };

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(name, known[i].name) != 0)
      continue;
    if (known[i].seconds)
      *known[i].seconds = strtod(value, NULL);
    if (known[i].flag)
      *known[i].flag = true;
    if (known[i].other)
      *known[i].other = true;
  }
  if (strcmp(name, "lie") == 0)
    snprintf(faults->lie, sizeof faults->lie, "%s", value);
}

static Faults
read_faults(void)
{
  Faults faults = {.soft = 0.3};
  char line[LINE_MAX_BYTES];

  FILE *file = fopen("faults", "re");
  while (file && fgets(line, sizeof line, file)) {
    char name[16] = "", value[16] = "";
    if (sscanf(line, "%15s %15s", name, value) >= 1)
      take_fault(&faults, name, value);
  }
  if (file)
    fclose(file);
  return faults;
}

/* The state as it is now, locked until close_state(). */
static int
open_state(State *state)
{
  char text[LINE_MAX_BYTES];
  long long at;

  int fd = open("state", O_RDWR | O_CLOEXEC);
  ssize_t n = fd >= 0 && flock(fd, LOCK_EX) == 0 ? read(fd, text, sizeof text - 1) : -1;
  if (n < 0) {
    perror("chassis: state");
    exit(2);
  }
  text[n] = '\0';
  if (sscanf(text, "%d %d %lld " DEVICE_FORMAT, &state->power, &state->next, &at, state->boot) !=
      4) {
    fprintf(stderr, "chassis: state is not one\n");
    exit(2);
  }
  state->at = at;
  if (now() >= state->at)
    state->power = state->next;
  return fd;
}

static void
close_state(int fd, const State *state)
{
  char text[LINE_MAX_BYTES];

  int n = snprintf(text, sizeof text, "%d %d %lld %s\n", state->power, state->next,
                   (long long)state->at, state->boot);
  if (pwrite(fd, text, (size_t)n, 0) != n || ftruncate(fd, n) != 0) {
    perror("chassis: state");
    exit(2);
  }
  close(fd);
}

/* Until no such fault stands any more, or nobody waits for the answer. */
static void
hang(int what, char **words)
{
  pid_t parent = getppid();

  while (read_faults().hang[what] && getppid() == parent)
    wait_for(0.02);
  log_line(words, "hung");
  exit(1);
}

/* Runs the words in FILE with DIR and ACTION, which may be NULL, behind them. Its exit status, 127
 * when it had none; NO_HOOK when there is no such file. */
static int
run_hook(const char *name, const char *dir, const char *action)
{
  static char text[4096];
  char *argv[HOOK_WORDS_MAX + 3];
  size_t n = 0;
  pid_t pid;
  int status;

  FILE *file = fopen(name, "re");
  if (!file)
    return NO_HOOK;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  for (char *rest = text, *word; n < HOOK_WORDS_MAX && (word = strsep(&rest, "\n"));)
    if (*word)
      argv[n++] = word;
  if (n == 0)
    return NO_HOOK;
  argv[n++] = (char *)dir;
  argv[n++] = (char *)action;
  argv[n] = NULL;

  /* Its output is not the answer to ipmi_sim, which would also wait for whoever inherits it. */
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "hook.out",
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                            : 127;
}

static int
get(const char *dir, char **words, const Faults *faults)
{
  State state;

  close(open_state(&state));
  const char *what = words[1];
  if (strcmp(what, "power") == 0) {
    int sensed = run_hook("sense", dir, NULL);
    if (sensed > 1) {
      log_line(words, "failed");
      return 1;
    }
    int power = sensed == NO_HOOK ? state.power : sensed == 0;
    if (faults->lies)
      power = faults->lie[0] ? strcmp(faults->lie, "on") == 0 : !power;
    log_line(words, "said %d", power);
    wait_for(faults->late[GET]);
    printf("power:%d\n", power);
    return 0;
  }
  if (strcmp(what, "boot") == 0) {
    log_line(words, "said %s", state.boot);
    wait_for(faults->late[GET]);
    printf("boot:%s\n", state.boot);
    return 0;
  }
  log_line(words, "failed");
  return 1;
}

/* What `set WHAT VALUE` makes of the state: the name of the hook's action, "" for none, NULL when
 * there is no such thing to set. */
static const char *
change(State *state, const char *what, const char *value, const Faults *faults)
{
  if (strcmp(what, "power") == 0) {
    state->next = strcmp(value, "0") != 0;
    state->at = now() + (int64_t)(faults->lag * 1e9);
    return state->next ? "on" : "off";
  }
  if (strcmp(what, "shutdown") == 0) {
    state->next = 0;
    state->at = now() + (int64_t)(faults->soft * 1e9);
    return "shutdown";
  }
  if (strcmp(what, "reset") == 0)
    return "reset";
  if (strcmp(what, "boot") == 0) {
    snprintf(state->boot, sizeof state->boot, "%s", value);
    return "";
  }
  return NULL;
}

static int
set(const char *dir, char **words, const Faults *faults)
{
  State state;
  bool soft = strcmp(words[1], "shutdown") == 0;

  if (soft ? faults->deaf_soft : faults->deaf) {
    log_line(words, "ignored");
    wait_for(faults->late[SET]);
    return 0;
  }
  int fd = open_state(&state);
  const char *action = change(&state, words[1], words[2], faults);
  if (!action) {
    log_line(words, "failed");
    return 1;
  }
  close_state(fd, &state);
  log_line(words, "did");
  if (*action && run_hook("hook", dir, action) > 0) {
    log_line(words, "failed");
    return 1;
  }
  wait_for(faults->late[SET]);
  return 0;
}

int
main(int argc, char **argv)
{
  bool sets = argc == 5 && strcmp(argv[2], "set") == 0;

  if (!sets && (argc != 4 || strcmp(argv[2], "get") != 0)) {
    fprintf(stderr, "usage: chassis DIR get WHAT | set WHAT VALUE\n");
    return 2;
  }
  if (chdir(argv[1]) != 0) {
    perror(argv[1]);
    return 2;
  }
  char **words = argv + 2;
  int what = sets ? SET : GET;
  Faults faults = read_faults();

  log_line(words, "asked");
  if (faults.hang[what])
    hang(what, words);
  wait_for(faults.slow[what]);
  if (faults.fail[what]) {
    log_line(words, "failed");
    return 1;
  }
  return sets ? set(argv[1], words, &faults) : get(argv[1], words, &faults);
}
