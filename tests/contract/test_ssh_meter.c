/* Counters of real hosts, held against what the kernel says and what was sent.
 *
 * All of it happens in a network name space of the test's own, so that nobody else's traffic is
 * counted: `lo` is what the hosts are metered on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef HAVE_SSH

#include "backends/proc/proc_net.h"
#include "core/meter.h"
#include "tests/contract/sshd_lab.h"

#include <gio/gio.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define SERVER                                                                                     \
  "servers:\n  s1: {switch: sw1, cores: 2, nfsd: 8, ip: 10.21.0.254, ports: {lo: {speed: 40 "      \
  "Gbit/s}}}\n"

static SshdLab *lab;
static Meters *meters;
static guint n_samples, n_columns;

/* ---- The name space ----------------------------------------------------------------------------
 */

static gboolean
run(const char *line)
{
  int status;
  g_autofree char *path = g_strconcat("PATH=/usr/sbin:/sbin:/usr/bin:/bin; ", line, NULL);
  const char *words[] = {"/bin/sh", "-c", path, NULL};
  return g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status,
                      NULL) &&
         g_spawn_check_wait_status(status, NULL);
}

static int
set_up(void **state)
{
  (void)state;
  if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
    print_message("a network name space cannot be had here\n");
    return 0;
  }
  if (!run("ip link set lo up && ip addr add 10.21.0.254/24 dev lo && "
           "ip addr add 10.21.0.1/24 dev lo && ip addr add 10.21.0.2/24 dev lo")) {
    print_message("ip is not installed (iproute2)\n");
    return 0;
  }
  lab = sshd_lab_new(2);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  sshd_lab_free(lab);
  return 0;
}

/* ---- Watching ----------------------------------------------------------------------------------
 */

static void
on_samples(SshdLab *of, const SamplesEvent *samples)
{
  g_autoptr(GError) error = NULL;
  n_samples++;
  n_columns += samples->columns != NULL;
  if (!meters_fold(meters, backend_check_now(of->check), samples, &error))
    print_message("%s\n", error->message);
}

/* `lo` is all that there is. */
static void
open_lab(const char *settings, const char *nodes, const char *rest)
{
  if (lab == NULL)
    skip();
  lab->samples = NULL;
  g_autofree char *all = g_strconcat("    interface: lo\n    retry: 1 s\n", settings, NULL);
  sshd_lab_open(lab, all, nodes, rest);
  g_clear_pointer(&meters, meters_free);
  meters = meters_new(lab->layout);
  n_samples = n_columns = 0;
  lab->samples = on_samples;
}

static void
close_lab(void)
{
  lab->samples = NULL;
  sshd_lab_close(lab);
  g_clear_pointer(&meters, meters_free);
}

static guint32
watch(const char *const *names, const char *interval_ms)
{
  NodeId nodes[8];
  guint n = 0;
  g_autofree char *interval = g_strconcat(interval_ms, "000000", NULL);
  const char *arguments[] = {"interval_ns", interval, NULL};
  for (; names[n] != NULL; n++)
    nodes[n] = sshd_lab_node(lab, names[n]);
  return backend_check_submit(lab->check, OP_WATCH, nodes, n, TIME_NEVER, arguments);
}

static gboolean
has_meter(SshdLab *of, gconstpointer name)
{
  (void)of;
  const Meter *meter = meters_find(meters, name);
  return meter != NULL && meter->gap > 0;
}

static gboolean
has_line(SshdLab *of, gconstpointer text)
{
  return strstr(of->lines->str, text) != NULL;
}

static gboolean
has_link(SshdLab *of, gconstpointer text)
{
  return strstr(of->links->str, text) != NULL;
}

static void
until(gboolean (*done)(SshdLab *lab, gconstpointer data), const char *what)
{
  if (!sshd_lab_until(lab, done, what, 60))
    fail_msg("not within 60 s: %s; links:\n%slines:\n%s", what, lab->links->str, lab->lines->str);
}

static gint64
total(const char *name)
{
  const Meter *meter = meters_find(meters, name);
  if (meter == NULL)
    fail_msg("%s is no meter", name);
  return meter->total;
}

static void
near(double value, double expected, double share, const char *what)
{
  if (!(fabs(value - expected) <= share * expected))
    fail_msg("%s: %.0f instead of %.0f, %.2f %% off", what, value, expected,
             100 * (value / expected - 1));
}

/* ---- Traffic -----------------------------------------------------------------------------------
 */

typedef struct {
  GSocket *from, *to;
  gint64 bytes, per_second;
  GThread *writer, *reader;
  gint done;
} Stream;

static gpointer
write_stream(gpointer data)
{
  Stream *stream = data;
  static char block[65536];
  gint64 begin = g_get_monotonic_time();
  for (gint64 sent = 0; sent < stream->bytes;) {
    gint64 due = begin + sent * G_USEC_PER_SEC / stream->per_second;
    gint64 early = due - g_get_monotonic_time();
    if (early > 0)
      g_usleep((gulong)early);
    gssize n = g_socket_send(stream->from, block,
                             (gsize)MIN((gint64)sizeof block, stream->bytes - sent), NULL, NULL);
    if (n <= 0)
      break;
    sent += n;
  }
  g_atomic_int_set(&stream->done, 1);
  return NULL;
}

static gpointer
read_stream(gpointer data)
{
  Stream *stream = data;
  static char block[262144];
  while (g_socket_receive(stream->to, block, sizeof block, NULL, NULL) > 0)
    ;
  return NULL;
}

static GSocket *
socket_at(const char *ip)
{
  GSocket *socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr(GSocketAddress) address = g_inet_socket_address_new_from_string(ip, 0);
  assert_true(g_socket_bind(socket, address, FALSE, NULL));
  return socket;
}

/* A connection of CLIENT's to SERVER's address, by which the server sends. */
static Stream *
stream_new(const char *server, const char *client, gint64 bytes, gint64 per_second)
{
  Stream *stream = g_new0(Stream, 1);
  g_autoptr(GSocket) listener = socket_at(server);
  assert_true(g_socket_listen(listener, NULL));
  g_autoptr(GSocketAddress) address = g_socket_get_local_address(listener, NULL);
  stream->to = socket_at(client);
  assert_true(g_socket_connect(stream->to, address, NULL, NULL));
  stream->from = g_socket_accept(listener, NULL, NULL);
  assert_non_null(stream->from);
  stream->bytes = bytes;
  stream->per_second = per_second;
  return stream;
}

static void
stream_begin(Stream *stream)
{
  stream->reader = g_thread_new("reader", read_stream, stream);
  stream->writer = g_thread_new("writer", write_stream, stream);
}

static void
stream_free(Stream *stream)
{
  g_socket_shutdown(stream->from, TRUE, TRUE, NULL);
  if (stream->writer) {
    g_thread_join(stream->writer);
    g_thread_join(stream->reader);
  }
  g_object_unref(stream->from);
  g_object_unref(stream->to);
  g_free(stream);
}

static gboolean
is_sent(SshdLab *of, gconstpointer stream)
{
  (void)of;
  return g_atomic_int_get(&((Stream *)stream)->done) != 0;
}

/* Payload that passed `lo` so far, by the kernel's own counters. */
static gint64
kernel_payload(void)
{
  g_autofree char *text = NULL;
  assert_true(g_file_get_contents("/proc/thread-self/net/dev", &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  char name[PROC_NAME_BYTES];
  ProcCounters counters;
  for (guint i = 0; lines[i] != NULL; i++)
    if (proc_net_parse(lines[i], name, &counters) && strcmp(name, "lo") == 0)
      return (gint64)counters.rx_bytes - (gint64)counters.rx_packets * 66;
  fail_msg("no lo");
  return 0;
}

/* ---- Tests -------------------------------------------------------------------------------------
 */

/* A sample, and the kernel's own counters as they stood when it came: at most its round trip later
 * than they were read for it. */
typedef struct {
  gint64 t, metered, kernel;
  double echo; /* s */
} Reading;

static Reading
next_reading(void)
{
  guint before = n_samples;
  while (n_samples == before)
    backend_check_step(lab->check, TIME_NEVER);
  return (Reading){backend_check_now(lab->check), total("h1.rx"), kernel_payload(),
                   meters_find(meters, "h1.echo")->rate / 1000};
}

/* While it goes on, to 2 % and what the round trips leave open. */
static void
check_rate(void)
{
  Reading first, last;
  next_reading();
  first = next_reading();
  backend_check_run(lab->check, first.t + TIME_SECOND);
  last = next_reading();
  double seconds = (double)(last.t - first.t) / (double)TIME_SECOND;
  near((double)(last.metered - first.metered), (double)(last.kernel - first.kernel),
       0.02 + (first.echo + last.echo + 0.01) / seconds, "while it goes on");
}

/* What was sent, what the kernel counted, what the meter counted; and the rate while it went on. */
static void
check_client(void)
{
  open_lab("", "", "");
  guint32 request = watch((const char *const[]){"h1", NULL}, "100");
  until(has_meter, "h1.rx");
  gint64 before = kernel_payload(), metered = total("h1.rx");
  Stream *stream = stream_new("127.0.0.1", "127.0.0.2", 40000000, 20000000);
  stream_begin(stream);
  check_rate();
  if (!sshd_lab_until(lab, is_sent, stream, 60))
    fail_msg("not sent");
  for (guint i = 0; i < 3; i++)
    next_reading();
  near((double)(total("h1.rx") - metered), 40e6, 0.02, "received");
  near((double)(total("h1.tx") - metered), 40e6, 0.02, "sent");
  near((double)(total("h1.rx") - metered), (double)(kernel_payload() - before), 0.02, "kernel's");
  stream_free(stream);
  backend_check_cancel(lab->check, request);
  sshd_lab_expect(lab, request, "h1", VERDICT_CANCELLED);
  close_lab();
}

/* /sys is of another name space here, so /proc tells; then it is its own. */
static void
test_client(void **state)
{
  (void)state;
  check_client();
}

static void
test_client_by_sys(void **state)
{
  (void)state;
  if (lab == NULL || mount("none", "/sys", "sysfs", 0, NULL) != 0)
    skip();
  sshd_lab_free(lab);
  lab = sshd_lab_new(2); /* whose sshds see it */
  check_client();
}

static gboolean
is_served(SshdLab *of, gconstpointer bytes)
{
  (void)of;
  const Meter *meter = meters_find(meters, "h1.served");
  return meter != NULL && meter->total >= *(const gint64 *)bytes;
}

static void
test_server(void **state)
{
  (void)state;
  g_autofree char *node =
      g_strdup_printf("      s1: {port: %u}\n", lab != NULL ? lab->hosts[1].port : 1);
  open_lab("", node, SERVER);
  guint32 request = watch((const char *const[]){"s1", NULL}, "100");
  until(has_meter, "h1.served");
  assert_null(meters_find(meters, "s1.nfsd")); /* no meter, and not 0 */
  assert_true(meters_find(meters, "s1.load")->rate >= 0);
  assert_true(meters_find(meters, "s1/lo.tx")->kind == METER_BYTES);
  assert_true(meters_find(meters, "h1.rtt")->value < 0); /* no connection yet */
  const gint64 bytes = 20000000, nearly = bytes * 98 / 100;
  Stream *stream = stream_new("10.21.0.254", "10.21.0.1", bytes, 10000000);
  stream_begin(stream);
  until(is_served, (const char *)&nearly);
  assert_true(total("h1.served") <= bytes + 1 && total("h2.served") == 0);
  near((double)meters_find(meters, "h1.served")->rate, 80e6, 1, "rate");
  assert_true(meters_find(meters, "h1.rtt")->value >= 0);
  assert_true(meters_find(meters, "h1.cwnd")->value > 0);
  g_autoptr(GSocketAddress) near_end = g_socket_get_local_address(stream->from, NULL);
  g_autoptr(GSocketAddress) far_end = g_socket_get_local_address(stream->to, NULL);
  g_autofree char *flow =
      g_strdup_printf("10.21.0.254:%u 10.21.0.1:%u",
                      g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(near_end)),
                      g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(far_end)));
  assert_string_equal(g_hash_table_lookup(lab->facts, "h1 flow"), flow);
  stream_free(stream);
  (void)request;
  close_lab();
}

static gboolean
has_no_rx(SshdLab *of, gconstpointer name)
{
  (void)of;
  return meters_find(meters, name) == NULL;
}

static void
test_vanish(void **state)
{
  (void)state;
  if (lab == NULL || !run("ip link add pult7 type veth peer name pult8")) {
    print_message("no veth can be had\n");
    skip();
  }
  open_lab("", "      h[2]: {interface: pult7}\n", "");
  watch((const char *const[]){"h2", NULL}, "50");
  until(has_meter, "h2.rx");
  assert_true(run("ip link del pult7"));
  until(has_no_rx, "h2.rx");
  until(has_line, "h2 err h2 has no interface pult7 to meter");
  assert_non_null(meters_find(meters, "h2.echo"));
  assert_true(run("ip link add pult7 type veth peer name pult8"));
  until(has_meter, "h2.rx");
  assert_true(run("ip link del pult7"));
  close_lab();
}

/* sshd is killed with all it serves, stays away, and comes again: so does the meter. */
static void
test_return(void **state)
{
  (void)state;
  open_lab("", "", "");
  guint32 request = watch((const char *const[]){"h1", "h2", NULL}, "50");
  until(has_meter, "h1.rx");
  until(has_meter, "h2.rx");
  sshd_lab_end(lab, 1, TRUE);
  until(has_link, "down ssh:h1: ");
  meters_forget(meters, "ssh:h1"); /* as core does */
  guint before = n_samples;
  while (n_samples < before + 10) /* the other is metered on */
    backend_check_step(lab->check, TIME_NEVER);
  assert_null(meters_find(meters, "h1.rx"));
  sshd_lab_run(lab, 1);
  until(has_meter, "h1.rx");
  assert_int_equal(backend_check_n_open(lab->check), 2);
  backend_check_cancel(lab->check, request);
  sshd_lab_expect(lab, request, "h1", VERDICT_CANCELLED);
  sshd_lab_expect(lab, request, "h2", VERDICT_CANCELLED);
  close_lab();
}

/* A host that is off when the watch begins holds nothing up, and is metered when it comes. */
static void
test_late_host(void **state)
{
  (void)state;
  if (lab != NULL)
    sshd_lab_end(lab, 2, TRUE);
  open_lab("", "", "");
  guint32 request = watch((const char *const[]){"h1", "h2", NULL}, "50");
  until(has_meter, "h1.rx");
  assert_null(meters_find(meters, "h2.rx"));
  sshd_lab_run(lab, 2);
  until(has_meter, "h2.rx");
  assert_int_equal(backend_check_verdict(lab->check, request, sshd_lab_node(lab, "h2")), -1);
  close_lab();
}

/* Nothing of a watch stays on the host: not when it is cancelled, nor when the console goes. */
static void
test_nothing_stays(void **state)
{
  (void)state;
  g_autofree char *mark = g_strdup_printf("pult-%d", (int)getpid());
  g_autofree char *settings = g_strdup_printf("      h[1]: {interface: %s}\n", mark);
  for (guint round = 0; round < 2; round++) {
    open_lab("", settings, "");
    guint32 request = watch((const char *const[]){"h1", NULL}, "50");
    until(has_line, "has no interface pult-");
    assert_true(sshd_lab_count(mark) >= 1);
    if (round == 0) {
      gint64 then = g_get_monotonic_time();
      backend_check_cancel(lab->check, request);
      sshd_lab_expect(lab, request, "h1", VERDICT_CANCELLED);
      /* Not by KILL and what comes when that has not helped. */
      assert_true(g_get_monotonic_time() - then < 6 * G_USEC_PER_SEC);
    }
    close_lab();
    for (guint i = 0; sshd_lab_count(mark) > 0; i++) {
      assert_true(i < 400);
      g_usleep(50000);
    }
  }
}

/* A shell that is none, and a strange interval. */
static void
test_nonsense(void **state)
{
  (void)state;
  open_lab("", "      h[1]: {shell: /bin/false}\n", "");
  watch((const char *const[]){"h1", "h2", NULL}, "100");
  until(has_line, "h1 err h1: the loop that gives counters ended: ");
  until(has_meter, "h2.rx");
  const NodeId node = sshd_lab_node(lab, "h2");
  const char *arguments[] = {"interval_ns", "7", NULL};
  guint32 odd = backend_check_submit(lab->check, OP_WATCH, &node, 1, TIME_NEVER, arguments);
  sshd_lab_expect(lab, odd, "h2", VERDICT_FAILED);
  close_lab();
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_client),    cmocka_unit_test(test_server),
      cmocka_unit_test(test_vanish),    cmocka_unit_test(test_return),
      cmocka_unit_test(test_late_host), cmocka_unit_test(test_nothing_stays),

      cmocka_unit_test(test_nonsense),  cmocka_unit_test(test_client_by_sys),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libssh");
  return 77;
}

#endif
