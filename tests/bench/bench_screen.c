/* CPU time of drawing a view, on the two-room lab in a boot's read phase and on 1,000 and
 * 10,000 seats in rooms of 25. Only drawing into the canvas is measured: copying it to a terminal
 * depends on that. */
#include "../screen/screen_lab.h"

#include <stdio.h>
#include <time.h>

static double
cpu_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static gboolean slow; /* some view took more than twice its aim */

static void
measure(ScreenLab *lab, const char *name, const char *view, double aim_ms)
{
  g_autoptr(Canvas) canvas = canvas_new(43, 132, FALSE);
  guint frames = 0;
  ui_set_view(lab->ui, view);
  ui_draw(lab->ui, canvas, &lab->status);
  double started = cpu_seconds(), took;
  do {
    ui_draw(lab->ui, canvas, &lab->status);
    frames++;
    took = cpu_seconds() - started;
  } while (took < 0.3);
  double ms = 1000 * took / frames;
  printf("frame %-5s 132x43, %-11s %7.3f ms   (aim %.0f ms)%s\n", view, name, ms, aim_ms,
         ms > aim_ms ? "  above the aim" : "");
  slow = slow || ms > 2 * aim_ms;
}

/* Rooms of 25, each behind a switch of its own. */
static char *
large_layout(int rooms)
{
  GString *text = g_string_new("lab: Large\n"
                               "defaults: {power: sim, exec: sim, console: sim, server: s1}\n"
                               "subnets: {p: {net: 10.0.0.0/8}}\n"
                               "switches: {core: {}");
  for (int r = 1; r <= rooms; r++)
    g_string_append_printf(text, ", sw%03d: {}", r);
  g_string_append(text, "}\nlinks:\n");
  for (int r = 1; r <= rooms; r++)
    g_string_append_printf(text, "  - {from: core, to: sw%03d, speed: 1 Gbit/s}\n", r);
  g_string_append(text,
                  "servers:\n"
                  "  s1: {switch: core, subnet: p, nfsd: 64, bonds: {bond0: {ports: [eth0, eth1,\n"
                  "      eth2, eth3], speed: 1 Gbit/s, mode: balance-xor, policy: layer2,\n"
                  "      era: 2.6.32, mac: 52:54:99:21:00:10, ip: 10.255.255.254}}}\n"
                  "clients:\n");
  for (int r = 1; r <= rooms; r++)
    g_string_append_printf(text,
                           "  r%03ds[01-25]: {switch: sw%03d, subnet: p, speed: 1 Gbit/s, mac: "
                           "52:54:00:%02x:%02x:00 step 1, ip: 10.%d.%d.1 step 1}\n",
                           r, r, (guint)r / 256, (guint)r % 256, r / 256, r % 256);
  g_string_append(text, "rooms:\n");
  for (int r = 1; r <= rooms; r++)
    g_string_append_printf(
        text, "  room%d: {title: Room %d, seats: \"r%03ds[01-25]\", columns: 5}\n", r, r, r);
  g_string_append(text, "boot: {default: \"u::nfs\", profile: pxe}\n");
  return g_string_free(text, FALSE);
}

static void
measure_all(ScreenLab *lab, const char *name, double aim_ms)
{
  const char *view;
  screen_lab_run(lab, 16);
  for (guint i = 0; (view = ui_view_name(i, NULL)) != NULL; i++)
    measure(lab, name, view, aim_ms);
}

static void
measure_large(int rooms, double aim_ms)
{
  static const HostOps none = {0};
  g_autofree char *text = large_layout(rooms), *name = g_strdup_printf("%d seats", 25 * rooms);
  g_autoptr(ScreenLab) lab = screen_lab_new("large.yaml", text, &none, NULL);
  screen_lab_say(lab, "boot @all", 25 * rooms);
  measure_all(lab, name, aim_ms);
}

int
main(void)
{
  static const HostOps none = {0};
  g_autoptr(ScreenLab) lab = screen_lab_new("layouts/openslx-two-rooms.yaml", NULL, &none, NULL);
  screen_lab_say(lab, "boot @all", 34);
  measure_all(lab, "34 seats", 1);
  measure_large(40, 5);
  measure_large(400, 30);
  return slow;
}
