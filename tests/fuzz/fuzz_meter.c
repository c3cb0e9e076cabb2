/* Whatever a metered host answers is refused, or makes samples that core takes. */
#include "fuzz.h"

#include <math.h>

#include "backends/proc/proc_bond.h"
#include "backends/proc/proc_meter.h"
#include "core/meter.h"

static const char lab[] =
    "lab: One server\n"
    "defaults: {power: sim, exec: sim, console: sim, server: s1}\n"
    "switches: {sw1: {}}\n"
    "servers:\n"
    "  s1:\n"
    "    switch: sw1\n"
    "    bonds:\n"
    "      bond0: {ports: [eth0, eth1], speed: 1 Gbit/s, mode: balance-xor, "
    "policy: layer3+4, mac: 52:54:00:21:00:10, ip: 10.0.0.9}\n"
    "clients:\n"
    "  a[01-02]: {switch: sw1, speed: 1 Gbit/s, mac: 52:54:00:0a:00:00 step 1, ip: 10.0.0.1 step "
    "1}\n";

typedef struct {
  const Layout *layout;
  Meters *meters;
  gint64 now; /* µs */
} World;

static void
on_samples(const SamplesEvent *samples, gpointer data)
{
  World *world = data;
  g_autoptr(GError) error = NULL;
  /* Of what it says alone a rate may be wrong. */
  if (!meters_fold(world->meters, world->now * 1000, samples, &error) &&
      !g_str_has_suffix(error->message, "such are not counted"))
    g_error("%s", error->message);
}

static void
on_observe(NodeId node, const char *fact, const char *value, gpointer data)
{
  const World *world = data;
  g_assert_true(node < world->layout->n_nodes && *fact && strlen(value) <= 256);
}

static void
on_note(const char *text, gpointer data)
{
  (void)data;
  g_assert_true(*text != '\0');
}

/* Lines, with a question before each that may be one's answer. */
static void
play(const char *node, const char *text, World *world)
{
  static const ProcMeterCalls calls = {on_samples, on_observe, on_note};
  NodeId id = layout_find(world->layout, node);
  g_autoptr(ProcMeter) meter = proc_meter_new(world->layout, id, node, "eth0", TRUE, &calls, world);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) ask = g_string_new(NULL);

  for (guint i = 0; lines[i]; i++) {
    g_autoptr(GError) error = NULL;
    world->now += G_USEC_PER_SEC / 4;
    proc_meter_ask(meter, world->now, ask);
    if (!proc_meter_line(meter, world->now, lines[i], &error)) {
      g_assert_nonnull(error);
      return;
    }
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(Layout) layout = layout_parse("lab", lab, strlen(lab), &error);
  g_assert_no_error(error);
  g_autoptr(Meters) meters = meters_new(layout);
  World world = {layout, meters, 0};
  ProcBond bond;

  if (proc_bond_parse(text, &bond))
    for (guint i = 0; i < bond.n_ports; i++)
      g_assert_true(bond.ports[i].up || !proc_bond_port_sends(&bond, i));
  play("s1", text, &world);
  play("a01", text, &world);
  for (guint i = 0; i < meters_count(meters); i++)
    g_assert_true(isfinite(meters_at(meters, i)->rate));
  return 0;
}
