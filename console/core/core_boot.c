#include "core/core_boot_lead.h"

#include <string.h>

static void
boot_clear(gpointer data)
{
  Boot *boot = data;
  g_free(boot->seen.label);
  g_free(boot->seen.via);
  g_free(boot->seen.entry);
  g_free(boot->seen.seats);
}

void
boot_unref(Boot *boot)
{
  g_rc_box_release_full(boot, boot_clear);
}

Boot *
boot_clone(Boot *boot)
{
  if (boot->seen.end_t >= 0)
    return g_rc_box_acquire(boot);
  Boot *copy = g_rc_box_dup(sizeof *boot, boot);
  copy->seen.label = g_strdup(boot->seen.label);
  copy->seen.via = g_strdup(boot->seen.via);
  copy->seen.entry = g_strdup(boot->seen.entry);
  copy->seen.seats = g_memdup2(boot->seen.seats, boot->seen.n * sizeof(BootSeat));
  return copy;
}

static Boot *
boot_of_serial(const CoreState *state, guint serial)
{
  guint low = 0, high = state->boots->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    Boot *boot = state->boots->pdata[middle];
    if (boot->serial == serial)
      return boot;
    if (boot->serial < serial)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

const BootRun *
boot_find(const CoreState *state, const char *label, guint run)
{
  for (guint i = state->boots->len; i-- > 0;) {
    const BootRun *seen = &((const Boot *)state->boots->pdata[i])->seen;
    if (g_str_equal(seen->label, label) && (run == 0 || seen->run == run))
      return seen;
  }
  return NULL;
}

static BootSeat *
seat_of(const Boot *boot, NodeId node)
{
  return boot ? node_search(boot->seen.seats, boot->seen.n, sizeof(BootSeat), node) : NULL;
}

/* ---- Figures of a run ---------------------------------------------------------------------- */

static gint64
stage_seen_t(const CoreState *state, const BootSeat *seat, const char *name)
{
  int stage = layout_find_stage(state->layout, name);
  return stage < 0 ? -1 : seat->stage_t[stage];
}

/* A boot that shows no transfer starts with its kernel. */
static gint64
menu_t(const CoreState *state, const BootSeat *seat)
{
  static const char *const names[] = {"tftp", "http", "kexec", "kernel"};
  gint64 t = -1;
  for (guint i = 0; i < G_N_ELEMENTS(names) && t < 0; i++)
    t = stage_seen_t(state, seat, names[i]);
  return t;
}

gint64
boot_seat_took(const CoreState *state, const BootSeat *seat, BootFrom from)
{
  gint64 begin = from == BOOT_FROM_MENU     ? menu_t(state, seat)
                 : from == BOOT_FROM_KERNEL ? stage_seen_t(state, seat, "kernel")
                                            : seat->power_t;
  gint64 end = seat->stage_t[state_login(state)];
  return seat->outcome == SEAT_OK && begin >= 0 && end >= begin ? end - begin : -1;
}

static gint64
stage_end_t(const CoreState *state, const BootSeat *seat, Stage stage)
{
  for (Stage next = stage + 1; next < state_n_stages(state); next++)
    if (seat->stage_t[next] >= 0)
      return seat->stage_t[next];
  return -1;
}

typedef struct {
  double *values;
  guint n;
} Values;

static void
add_span(Values *values, gint64 span)
{
  if (span >= 0)
    values->values[values->n++] = (double)span / (double)TIME_SECOND;
}

static void
say_values(CoreState *state, const BootRun *run, const char *name, Values *values)
{
  if (values->n)
    figure_values(state, run->label, name, "s", values->values, values->n,
                  "mean median min max p90");
  values->n = 0;
}

static void
say_figures(CoreState *state, const BootRun *run)
{
  g_autofree double *buffer = g_new(double, run->n);
  Values values = {.values = buffer};
  static const char *const names[] = {
      [BOOT_FROM_MENU] = "boot", [BOOT_FROM_KERNEL] = "menu", [BOOT_FROM_POWER] = "power"};
  for (BootFrom from = BOOT_FROM_MENU; from <= BOOT_FROM_POWER; from++) {
    for (guint i = 0; i < run->n; i++)
      add_span(&values, boot_seat_took(state, &run->seats[i], from));
    say_values(state, run, names[from], &values);
  }
  for (Stage stage = 1; stage < state_login(state); stage++) {
    g_autofree char *name = g_strconcat("stage.", state_stage_name(state, stage), NULL);
    for (guint i = 0; i < run->n; i++) {
      const BootSeat *seat = &run->seats[i];
      gint64 end = stage_end_t(state, seat, stage);
      add_span(&values, seat->stage_t[stage] >= 0 && end >= 0 ? end - seat->stage_t[stage] : -1);
    }
    say_values(state, run, name, &values);
  }
  figure_one(state, run->label, "ok", "", run->n_ok, run->n);
  figure_one(state, run->label, "failed", "", run->n_failed, run->n);
}

/* ---- Seats --------------------------------------------------------------------------------- */

static void
end_seat(CoreState *state, Boot *boot, BootSeat *seat, SeatOutcome outcome, Stage stage)
{
  BootRun *run = &boot->seen;
  seat->outcome = outcome;
  seat->end_t = state->now;
  if (outcome == SEAT_OK)
    run->n_ok++;
  else
    run->n_failed++;
  seat->failed_stage = outcome == SEAT_OK ? STAGE_NONE : stage;
  if (state->nodes[seat->node].boot == boot->serial)
    state->nodes[seat->node].boot = 0;
  once_take_back(state, seat->node);
  core_touch(state);
  if (run->n_ok + run->n_failed < run->n)
    return;
  run->end_t = state->now;
  if (*run->label)
    say_figures(state, run);
}

/* The seat of a node that is booting in some run; NULL. */
static BootSeat *
running_seat(const CoreState *state, NodeId id, Boot **boot)
{
  guint serial = state->nodes[id].boot;
  if (!serial)
    return NULL;
  *boot = boot_of_serial(state, serial);
  g_assert(*boot);
  return &(*boot)->seen.seats[state->nodes[id].boot_seat];
}

static void
forget_times(BootSeat *seat)
{
  seat->power_t = -1;
  for (int stage = 0; stage < LAYOUT_MAX_STAGES; stage++)
    seat->stage_t[stage] = -1;
}

static void
keep_few(CoreState *state)
{
  if (state->boots->len < RUNS_MAX)
    return;
  for (guint i = 0; i < state->boots->len; i++) {
    if (((const Boot *)state->boots->pdata[i])->seen.end_t >= 0) {
      g_ptr_array_remove_index(state->boots, i);
      return;
    }
  }
}

/* A seat boots in one run: what an earlier one still waited for there will not come. Its file is
 * written over if this one has one too. */
static void
leave_earlier(CoreState *state, NodeId id, gboolean once)
{
  Boot *earlier;
  BootSeat *seat = running_seat(state, id, &earlier);
  gboolean had = state->nodes[id].once;
  if (once)
    state->nodes[id].once = FALSE;
  if (seat)
    end_seat(state, earlier, seat, SEAT_FAILED, state->nodes[id].seen.stage);
  if (once)
    state->nodes[id].once = had;
}

guint
boot_begin(CoreState *state, const Command *command, const PowerTask *power)
{
  keep_few(state);
  const char *label = command->label ? command->label : "";
  const BootRun *before = *label ? boot_find(state, label, 0) : NULL;
  Boot *boot = g_rc_box_new0(Boot);
  BootRun *run = &boot->seen;
  boot->serial = ++state->last_serial;
  run->label = g_strdup(label);
  run->via = g_strdup(power->via);
  run->entry = g_strdup(power->entry ? power->entry : "");
  run->run = before ? before->run + 1 : 1;
  run->start_t = state->now;
  run->end_t = -1;
  run->n = power->n;
  run->seats = g_new0(BootSeat, run->n);
  for (guint i = 0; i < run->n; i++) {
    run->seats[i].node = power->seats[i].node;
    run->seats[i].end_t = -1;
    forget_times(&run->seats[i]);
    leave_earlier(state, run->seats[i].node, power->once);
  }
  g_ptr_array_add(state->boots, boot);
  return boot->serial;
}

void
boot_seat_sent(CoreState *state, guint serial, NodeId id)
{
  Boot *boot = boot_of_serial(state, serial);
  BootSeat *seat = seat_of(boot, id);
  if (!seat || seat->outcome != SEAT_WAITING)
    return;
  seat->outcome = SEAT_RUNNING;
  state->nodes[id].boot = serial;
  state->nodes[id].boot_seat = (guint)(seat - boot->seen.seats);
  node_expect_stage(state, id);
}

void
boot_seat_refused(CoreState *state, guint serial, NodeId id)
{
  Boot *boot = boot_of_serial(state, serial);
  BootSeat *seat = seat_of(boot, id);
  if (!seat || seat->outcome == SEAT_OK || seat->outcome == SEAT_FAILED)
    return;
  node_expect_nothing(state, id);
  end_seat(state, boot, seat, SEAT_FAILED, STAGE_NONE);
}

void
boot_seat_again(CoreState *state, NodeId id)
{
  Boot *boot;
  BootSeat *seat = running_seat(state, id, &boot);
  if (seat)
    forget_times(seat);
}

void
boot_seat_on(CoreState *state, NodeId id)
{
  Boot *boot;
  BootSeat *seat = running_seat(state, id, &boot);
  if (seat && seat->power_t < 0)
    seat->power_t = state->now;
}

void
boot_seat_stage(CoreState *state, NodeId id, Stage stage)
{
  Boot *boot;
  BootSeat *seat = running_seat(state, id, &boot);
  if (!seat)
    return;
  seat->stage_t[stage] = state->now;
  if (stage == state_login(state))
    end_seat(state, boot, seat, SEAT_OK, STAGE_NONE);
}

void
boot_seat_failed(CoreState *state, NodeId id, Stage stage)
{
  Boot *boot;
  BootSeat *seat = running_seat(state, id, &boot);
  if (seat)
    end_seat(state, boot, seat, SEAT_FAILED, stage);
}
