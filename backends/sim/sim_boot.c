#include <math.h>
#include <string.h>

#include "backends/sim/sim_private.h"

/* facts, "A boot": firmware, DHCP, start delay, TFTP, initramfs, then K times a read and its share
 * of the CPU time, in the proportions of one trace that all seats follow. */

/* The kernel has the screen for this part of the initramfs time. */
#define KERNEL_PART 4

static const LayoutNode *
layout_of(const Sim *sim, NodeId node)
{
  return &sim->layout->nodes[node];
}

/* Parts of one, in proportion to 0.5 + U(0, 1). */
static double *
draw_shares(const Sim *sim, const char *purpose)
{
  guint n = sim->layout->boot.reads;
  double *share = g_new(double, n), sum = 0;
  for (guint k = 0; k < n; k++)
    sum += share[k] = 0.5 + draw_uniform(sim->seed, purpose, "", k);
  for (guint k = 0; k < n; k++)
    share[k] /= sum;
  return share;
}

void
sim_boot_init(Sim *sim)
{
  const BootModel *model = &sim->layout->boot;
  sim->read_share = draw_shares(sim, "trace.a");
  sim->cpu_share = draw_shares(sim, "trace.b");
  sim->tftp = (Job){.moves_data = TRUE, .cap = model->tftp_cap};
  sim->nfs = (Job){.protocol = PROTOCOL_NFS, .moves_data = TRUE, .cap = model->nfs_cap};
  sim->nbd = (Job){
      .protocol = PROTOCOL_NBD,
      .moves_data = TRUE,
      .cap = INFINITY,
      .request = model->nbd_ratio * model->nbd_request,
      .request_time = model->nbd_t0,
  };
  for (NodeId i = 0; i < sim->layout->n_nodes; i++)
    sim->nodes[i].boot.transfer.client = i;
}

static void
enter(Sim *sim, NodeId node, Phase phase, gint64 duration)
{
  sim->nodes[node].boot.phase = phase;
  sim_agenda_boot(sim, node, duration == TIME_NEVER ? TIME_NEVER : sim->now + duration);
}

static void
say_stage(Sim *sim, NodeId node, const char *stage)
{
  sim_observe(sim, node, "stage", stage);
}

void
sim_boot_begin(Sim *sim, NodeId node, gboolean together)
{
  SimNode *client = &sim->nodes[node];
  client->boot.step = 0;
  client->boot.n++;
  client->boot.together = together;
  client->boot.disk = client->next_disk;
  client->boot.protocol = client->next_protocol;
  client->boot.menu = client->boot.second = FALSE;
  sim->n_booting++;
  if (sim_power_is_seen(sim, node))
    say_stage(sim, node, "firmware");
  enter(sim, node, PHASE_FIRMWARE, sim_duration(sim->layout->boot.firmware));
}

void
sim_boot_stop(Sim *sim, NodeId node)
{
  SimNode *client = &sim->nodes[node];
  client->up = FALSE;
  if (client->boot.phase == PHASE_NONE)
    return;
  sim->n_booting--;
  sim_world_stop(sim, &client->boot.transfer);
  enter(sim, node, PHASE_NONE, TIME_NEVER);
}

static void
begin_kernel(Sim *sim, NodeId node)
{
  say_stage(sim, node, "kernel");
  enter(sim, node, PHASE_KERNEL, sim_duration(sim->layout->boot.initramfs / KERNEL_PART));
}

static void
begin_initramfs(Sim *sim, NodeId node)
{
  gint64 whole = sim_duration(sim->layout->boot.initramfs);
  say_stage(sim, node, "initramfs");
  enter(sim, node, PHASE_INITRAMFS,
        whole - sim_duration(sim->layout->boot.initramfs / KERNEL_PART));
}

static void
begin_dhcp(Sim *sim, NodeId node)
{
  say_stage(sim, node, "dhcp");
  enter(sim, node, PHASE_DHCP, sim_duration(sim->layout->boot.dhcp));
}

static void
begin_tftp(Sim *sim, NodeId node)
{
  say_stage(sim, node, "tftp");
  enter(sim, node, PHASE_TFTP, TIME_NEVER);
  sim_world_start(sim, &sim->nodes[node].boot.transfer, &sim->tftp, sim->layout->boot.tftp_bytes);
}

/* It has an address, if its server can be reached at all, and comes to the menu. */
static void
leave_dhcp(Sim *sim, NodeId node)
{
  Boot *boot = &sim->nodes[node].boot;
  if (!sim_world_reaches(sim, node)) {
    enter(sim, node, PHASE_NO_ANSWER, TIME_NEVER);
    return;
  }
  if (boot->menu) {
    enter(sim, node, PHASE_MENU, SIM_MENU);
    return;
  }
  double delay = 0;
  if (boot->together || sim->n_booting > 1)
    delay = sim->layout->boot.start_delay *
            draw_uniform(sim->seed, "start-delay", layout_of(sim, node)->name, boot->n - 1);
  enter(sim, node, PHASE_MENU, sim_duration(delay));
}

static double
cpu_time(const Sim *sim)
{
  const BootModel *model = &sim->layout->boot;
  return MAX(model->cpu - model->initramfs - model->tftp_bytes / model->tftp_cap, 0);
}

static void
begin_read(Sim *sim, NodeId node)
{
  Boot *boot = &sim->nodes[node].boot;
  gboolean nbd = boot->protocol == PROTOCOL_NBD;
  double bytes = sim->layout->boot.bytes * (nbd ? sim->layout->boot.nbd_ratio : 1);
  enter(sim, node, PHASE_READ, TIME_NEVER);
  sim_world_start(sim, &boot->transfer, nbd ? &sim->nbd : &sim->nfs,
                  bytes * sim->read_share[boot->step]);
}

/* From disk the whole CPU time is one step, and the reads are its own affair. */
static void
begin_root(Sim *sim, NodeId node)
{
  say_stage(sim, node, "root");
  if (!sim->nodes[node].boot.disk) {
    begin_read(sim, node);
    return;
  }
  sim->nodes[node].boot.step = sim->layout->boot.reads - 1;
  enter(sim, node, PHASE_CPU, sim_duration(cpu_time(sim)));
}

static void
next_read(Sim *sim, NodeId node)
{
  SimNode *client = &sim->nodes[node];
  if (++client->boot.step < sim->layout->boot.reads) {
    begin_read(sim, node);
    return;
  }
  sim->n_booting--;
  client->up = TRUE;
  enter(sim, node, PHASE_NONE, TIME_NEVER);
  say_stage(sim, node, "login");
}

void
sim_boot_step(Sim *sim, NodeId node)
{
  Boot *boot = &sim->nodes[node].boot;
  switch (boot->phase) {
  case PHASE_FIRMWARE:
    if (boot->disk)
      begin_kernel(sim, node);
    else
      begin_dhcp(sim, node);
    return;
  case PHASE_DHCP:
    leave_dhcp(sim, node);
    return;
  case PHASE_MENU:
    begin_tftp(sim, node);
    return;
  case PHASE_KERNEL:
    begin_initramfs(sim, node);
    return;
  case PHASE_INITRAMFS:
    begin_root(sim, node);
    return;
  case PHASE_CPU:
    next_read(sim, node);
    return;
  default:
    g_assert_not_reached();
  }
}

void
sim_boot_moved(Sim *sim, NodeId node)
{
  Boot *boot = &sim->nodes[node].boot;
  if (boot->phase == PHASE_TFTP)
    begin_kernel(sim, node);
  else
    enter(sim, node, PHASE_CPU, sim_duration(cpu_time(sim) * sim->cpu_share[boot->step]));
}

/* The line of the menu that it boots, which is called as an entry is: it ends in the protocol. */
static void
say_entry(Sim *sim, NodeId node)
{
  const char *entry = sim_default_entry(sim->layout), *suffix = strstr(entry, "::");
  g_autofree char *line =
      g_strdup_printf("%.*s::%s", (int)(suffix ? suffix - entry : (ptrdiff_t)strlen(entry)), entry,
                      sim->nodes[node].boot.protocol == PROTOCOL_NBD ? "nbd" : "nfs");
  sim_observe(sim, node, "entry", line);
}

static void
press_in_menu(Sim *sim, NodeId node, const char *key)
{
  Boot *boot = &sim->nodes[node].boot;
  if (g_str_equal(key, "Down") || g_str_equal(key, "Up")) {
    boot->second = g_str_equal(key, "Down");
  } else if (g_str_equal(key, "Enter")) {
    if (boot->second)
      boot->protocol = boot->protocol == PROTOCOL_NBD ? PROTOCOL_NFS : PROTOCOL_NBD;
    say_entry(sim, node);
    begin_tftp(sim, node);
  }
}

void
sim_boot_press(Sim *sim, NodeId node, const char *key)
{
  SimNode *client = &sim->nodes[node];
  Boot *boot = &client->boot;
  if (!client->on || client->layout->kind != NODE_CLIENT)
    return;
  if (g_str_equal(key, "Ctrl-Alt-Delete")) {
    sim_power_reboot(sim, node);
  } else if (boot->phase == PHASE_FIRMWARE && g_str_equal(key, "F12")) {
    boot->disk = FALSE;
    boot->menu = TRUE;
  } else if (boot->phase == PHASE_MENU && boot->menu) {
    press_in_menu(sim, node, key);
  }
}

/* A client that had no answer asks again, and so takes the DHCP time once more. */
void
sim_boot_retry(Sim *sim)
{
  for (NodeId i = 0; i < sim->layout->n_nodes; i++)
    if (sim->nodes[i].boot.phase == PHASE_NO_ANSWER && sim_world_reaches(sim, i))
      enter(sim, i, PHASE_DHCP, sim_duration(sim->layout->boot.dhcp));
}
