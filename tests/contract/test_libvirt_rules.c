#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LIBVIRT

#include <gio/gio.h>
#include <libvirt/libvirt.h>

#include "backends/libvirt/libvirt.h"
#include "tests/contract/backend_ask.h"
#include "tests/contract/domain_lab.h"

/* Beside the room: a seat without a domain, one of a libvirt that is not there, and one of a
 * libvirt that takes the connection and then says nothing. */
typedef struct {
  DomainLab *lab;
  GSocket *silent;
  GString *room; /* names of the seats */
} Rules;

static const char clients_text[] =
    "  \"a[01-34],stranger,nohost,hung\": {switch: sw1, speed: 1 Gbit/s}\n"
    "  \"shared,defined\": {switch: sw1, speed: 1 Gbit/s}\n";
static const char settings_text[] = "    retry: 1 s\n"
                                    "    nodes:\n"
                                    "      a01: {interface: tap1}\n"
                                    "      shared: {uri: \"test:///default\", domain: test}\n"
                                    "      defined: {uri: \"test:///default\", domain: vm-a01}\n"
                                    "      nohost: {uri: \"test:///nowhere/room.xml\"}\n"
                                    "      hung: {uri: \"test+tcp://127.0.0.1:%u/default\"}\n";

static guint16
listen_silently(Rules *rules)
{
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);

  rules->silent =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  assert_non_null(rules->silent);
  assert_true(g_socket_bind(rules->silent, any, FALSE, NULL));
  assert_true(g_socket_listen(rules->silent, NULL));
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(rules->silent, NULL);
  return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

static int
set_up(void **state)
{
  Rules *rules = g_new0(Rules, 1);
  g_autofree char *settings = g_strdup_printf(settings_text, listen_silently(rules));

  rules->room = g_string_new("a01");
  for (guint i = 2; i <= 34; i++)
    g_string_append_printf(rules->room, " a%02u", i);
  rules->lab = domain_lab_new(34);
  domain_lab_open(rules->lab, clients_text, settings);
  *state = rules;
  return 0;
}

/* With the socket closed, whoever hung there is let go, and its thread ends. */
static int
tear_down(void **state)
{
  Rules *rules = *state;

  g_socket_close(rules->silent, NULL);
  g_object_unref(rules->silent);
  domain_lab_free(rules->lab);
  g_string_free(rules->room, TRUE);
  g_free(rules);
  return 0;
}

static const char *const hard[] = {"how", "hard", NULL}, *const soft[] = {"how", "soft", NULL};
static const char *const down[] = {"keys", "Down", NULL};
static const char *const pxe[] = {"device", "pxe", NULL}, *const disk[] = {"device", "disk", NULL};

static void
expect_all(const Rules *rules, guint32 request, Verdict verdict, const char *said)
{
  g_auto(GStrv) names = g_strsplit(rules->room->str, " ", -1);

  for (guint i = 0; names[i] != NULL; i++)
    backend_ask_expect(rules->lab->check, request, names[i], verdict, said);
}

/* ---- Cases --------------------------------------------------------------------------------- */

/* Operations of 34 domains, and what is seen of them afterwards. */
static void
test_room(void **state)
{
  const Rules *rules = *state;
  const DomainLab *lab = rules->lab;
  static const struct {
    Operation operation;
    const char *const *arguments;
    Verdict verdict;
    const char *said, *seen;
  } steps[] = {
      {OP_STATUS, NULL, VERDICT_OK, "", "power off"},
      {OP_RESET, NULL, VERDICT_FAILED, "it is off", "power off"},
      {OP_BOOT_DEVICE, pxe, VERDICT_OK, "", "power off"},
      {OP_ON, NULL, VERDICT_OK, "", "power on"},
      {OP_ON, NULL, VERDICT_OK, "", "power on"},
      {OP_RESET, NULL, VERDICT_OK, "", "power on"},
      {OP_OFF, soft, VERDICT_OK, "", "power off"},
      {OP_ON, NULL, VERDICT_OK, "", "power on"},
      {OP_BOOT_DEVICE, disk, VERDICT_OK, "", "power on"},
      {OP_OFF, hard, VERDICT_OK, "", "power off"},
      {OP_OFF, hard, VERDICT_OK, "", "power off"},
      {OP_STATUS, NULL, VERDICT_OK, "", "power off"},
  };

  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_autofree char *first = g_strconcat("a01: ", steps[i].seen, "\n", NULL);
    g_autofree char *last = g_strconcat("a34: ", steps[i].seen, "\n", NULL);
    g_string_truncate(lab->seen, 0);
    guint32 request = backend_ask(lab->check, steps[i].operation, rules->room->str,
                                  30 * TIME_SECOND, steps[i].arguments);
    backend_ask_finish(lab->check, request);
    expect_all(rules, request, steps[i].verdict, steps[i].said);
    domain_lab_see(lab, first);
    domain_lab_see(lab, last);
  }
}

/* One verdict a node, its own, whatever the others do in the same request. */
static void
test_each(void **state)
{
  const DomainLab *lab = ((Rules *)*state)->lab;
  guint32 on = backend_ask(lab->check, OP_ON, "a01 stranger nohost hung", 2 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "a01", VERDICT_OK, "");
  backend_ask_expect(lab->check, on, "stranger", VERDICT_FAILED, "knows no domain `vm-stranger`");
  backend_ask_expect(lab->check, on, "nohost", VERDICT_FAILED,
                     "nohost: libvirt at test:///nowhere/room.xml: no connection");
  backend_ask_expect(lab->check, on, "hung", VERDICT_TIMEOUT, "hung: ");
  domain_lab_see(lab, "link down: test:///nowhere/room.xml: no connection");
  guint32 status = backend_ask(lab->check, OP_STATUS, "stranger hung", TIME_SECOND, NULL);
  backend_ask_finish(lab->check, status);
  backend_ask_expect(lab->check, status, "stranger", VERDICT_FAILED, "knows no domain");
  backend_ask_expect(lab->check, status, "hung", VERDICT_TIMEOUT, "hung: ");
  guint32 bad = backend_ask(lab->check, OP_ROUTE, "a01", TIME_SECOND, NULL);
  backend_ask_finish(lab->check, bad);
  backend_ask_expect(lab->check, bad, "a01", VERDICT_UNSUPPORTED, "");
}

/* Its driver takes the keys of domains that run, and presses none. */
static void
test_keys(void **state)
{
  const DomainLab *lab = ((Rules *)*state)->lab;
  static const char *const menu[] = {"keys", "Down Ctrl-Alt-Delete", NULL},
                           *const bad[] = {"keys", "Donw", NULL},
                           *const german[] = {"text", "y/z\n", "keyboard", "de", NULL};
  const struct {
    Operation operation;
    const char *const *arguments;
    Verdict verdict;
    const char *said;
  } steps[] = {{OP_OFF, hard, VERDICT_OK, ""},
               {OP_KEYS, menu, VERDICT_FAILED, "did not do keys: "},
               {OP_ON, NULL, VERDICT_OK, ""},
               {OP_KEYS, menu, VERDICT_OK, ""},
               {OP_TYPE, german, VERDICT_OK, ""},
               {OP_KEYS, bad, VERDICT_FAILED, "a01: there is no key \"Donw\"; did you mean "}};
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    guint32 request =
        backend_ask(lab->check, steps[i].operation, "a01", 30 * TIME_SECOND, steps[i].arguments);
    backend_ask_finish(lab->check, request);
    backend_ask_expect(lab->check, request, "a01", steps[i].verdict, steps[i].said);
  }
}

/* The others are done while it hangs; of what was never sent nothing has happened. */
static void
test_hung_delays_nobody(void **state)
{
  const Rules *rules = *state;
  const DomainLab *lab = rules->lab;
  guint32 hung = backend_ask(lab->check, OP_ON, "hung", 120 * TIME_SECOND, NULL);
  guint32 others = backend_ask(lab->check, OP_ON, rules->room->str, 120 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, others);
  expect_all(rules, others, VERDICT_OK, "");
  backend_ask_expect_open(lab->check, hung, "hung");
  backend_check_cancel(lab->check, hung);
  backend_ask_finish(lab->check, hung);
  backend_ask_expect(lab->check, hung, "hung", VERDICT_CANCELLED, "hung: ");
  assert_null(strstr(lab->seen->str, "hung: power"));
}

/* The driver's default machine is one for the whole process: what somebody else does with it is
 * told by libvirt, and nobody asks for it. */
static void
test_behind_our_back(void **state)
{
  const DomainLab *lab = ((Rules *)*state)->lab;
  guint32 status = backend_ask(lab->check, OP_STATUS, "shared", 30 * TIME_SECOND, NULL);

  backend_ask_finish(lab->check, status);
  backend_ask_expect(lab->check, status, "shared", VERDICT_OK, "");
  domain_lab_see(lab, "shared: power on\n");
  virConnectPtr other = virConnectOpen("test:///default");
  assert_non_null(other);
  virDomainPtr domain = virDomainLookupByName(other, "test");
  assert_non_null(domain);
  g_string_truncate(lab->seen, 0);
  assert_int_equal(virDomainDestroy(domain), 0);
  domain_lab_see(lab, "shared: power off\n");
  g_string_truncate(lab->seen, 0);
  assert_int_equal(virDomainCreate(domain), 0);
  domain_lab_see(lab, "shared: power on\n");
  virDomainFree(domain);
  virConnectClose(other);
}

static char *
definition(virConnectPtr connection)
{
  virDomainPtr domain = virDomainLookupByName(connection, "vm-a01");

  assert_non_null(domain);
  char *xml = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE);
  virDomainFree(domain);
  return xml;
}

/* FIRST stands before SECOND, in the definition. */
static void
expect_order(virConnectPtr connection, const char *first, const char *second)
{
  char *xml = definition(connection);
  const char *at = strstr(xml, first);

  if (at == NULL || strstr(at, second) == NULL || strstr(xml, second) < at)
    fail_msg("%s is not before %s in\n%s", first, second, xml);
  free(xml);
}

static void
choose(const DomainLab *lab, const char *const *device, Verdict verdict, const char *said)
{
  guint32 request = backend_ask(lab->check, OP_BOOT_DEVICE, "defined", 30 * TIME_SECOND, device);

  backend_ask_finish(lab->check, request);
  backend_ask_expect(lab->check, request, "defined", verdict, said);
}

/* As libvirt has it afterwards: by the list in <os>, and by numbers at the devices. */
static void
test_boot_device(void **state)
{
  const DomainLab *lab = ((Rules *)*state)->lab;
  virConnectPtr other = virConnectOpen("test:///default");
  g_autofree char *xml = domain_lab_xml(1);
  g_autofree char *uuid = g_strdup("<uuid>52540000-0000-4000-8000-000000000001</uuid><memory");
  g_auto(GStrv) parts = g_strsplit(xml, "<memory", 2);
  g_autofree char *listed = g_strjoinv(uuid, parts);
  g_auto(GStrv) halves = g_strsplit(listed, "<boot dev='hd'/>", 2);
  g_autofree char *bare = g_strjoinv("", halves);
  g_auto(GStrv) ends = g_strsplit(bare, "<target dev='vda'/>", 2);
  g_autofree char *numbered = g_strjoinv("<target dev='vda'/><boot order='1'/>", ends);

  virDomainFree(virDomainDefineXML(other, listed));
  choose(lab, pxe, VERDICT_OK, "");
  expect_order(other, "<boot dev='network'/>", "<boot dev='hd'/>");
  choose(lab, disk, VERDICT_OK, "");
  expect_order(other, "<boot dev='hd'/>", "<boot dev='network'/>");
  virDomainFree(virDomainDefineXML(other, numbered));
  choose(lab, pxe, VERDICT_OK, "");
  expect_order(other, "<boot order='2'/>", "<boot order='1'/>");
  choose(lab, disk, VERDICT_OK, "");
  expect_order(other, "<boot order='1'/>", "<boot order='2'/>");
  virDomainPtr domain = virDomainLookupByName(other, "vm-a01");
  assert_int_equal(virDomainUndefine(domain), 0);
  virDomainFree(domain);
  choose(lab, pxe, VERDICT_FAILED, "knows no domain `vm-a01`");
  virConnectClose(other);
}

static void
test_watch(void **state)
{
  const DomainLab *lab = ((Rules *)*state)->lab;
  static const char *const console[] = {"what", "console", NULL};
  static const char *const often[] = {"interval_ns", "50000000", NULL};
  guint32 on = backend_ask(lab->check, OP_ON, "shared", 30 * TIME_SECOND, NULL);
  guint32 watch = backend_ask(lab->check, OP_WATCH, "shared", TIME_NEVER, console);

  backend_ask_finish(lab->check, on);
  backend_ask_finish(lab->check, watch);
  backend_ask_expect(lab->check, watch, "shared", VERDICT_FAILED,
                     "has a driver that cannot do console");
  on = backend_ask(lab->check, OP_ON, "a01", 30 * TIME_SECOND, NULL);
  guint32 meter = backend_ask(lab->check, OP_WATCH, "a01 hung", TIME_NEVER, often);
  guint32 again = backend_ask(lab->check, OP_WATCH, "a01", TIME_NEVER, often);
  backend_ask_finish(lab->check, again);
  backend_ask_expect(lab->check, again, "a01", VERDICT_FAILED, "watched already");
  backend_ask_finish(lab->check, on);
  domain_lab_see(lab, "samples of vm:a01\n");
  backend_check_cancel(lab->check, meter);
  backend_ask_finish(lab->check, meter);
  backend_ask_expect(lab->check, meter, "hung", VERDICT_CANCELLED, "hung: ");
}

static void
test_walk(void **state)
{
  const DomainLab *lab = ((Rules *)*state)->lab;
  static const char *const often[] = {"interval_ns", "50000000", NULL};
  static const CheckAsk asks[] = {
      {OP_STATUS, 6, NULL, NULL},      {OP_ON, 6, NULL, NULL},    {OP_OFF, 4, hard, NULL},
      {OP_OFF, 2, soft, NULL},         {OP_RESET, 2, NULL, NULL}, {OP_BOOT_DEVICE, 2, pxe, NULL},
      {OP_BOOT_DEVICE, 1, disk, NULL}, {OP_ROUTE, 1, NULL, NULL}, {OP_WATCH, 1, often, NULL},
      {OP_KEYS, 2, down, NULL},        {OP_STATUS, 0, NULL, NULL}};
  CheckWalk walk = {asks, lab->layout->clients, lab->layout->n_clients, 200, TIME_SECOND / 20};

  backend_check_walk(lab->check, &walk, 1);
  if (backend_check_violation(lab->check) != NULL)
    fail_msg("%s", backend_check_violation(lab->check));
  assert_true(backend_check_count(lab->check, VERDICT_OK) > 0);
  assert_true(backend_check_count(lab->check, VERDICT_UNSUPPORTED) > 0);
}

/* Hosts that have domains of the same names are told apart by their URI. */
static void
test_two_rooms(void **state)
{
  DomainLab *lab = domain_lab_new(2), *other = domain_lab_new(2);
  g_autofree char *settings = g_strdup_printf(
      "    nodes:\n      \"b[01-02]\": {uri: \"%s\", domain: \"vm-a0{number}\"}\n", other->room);
  (void)state;

  domain_lab_open(lab, "  \"a[01-02],b[01-02]\": {switch: sw1, speed: 1 Gbit/s}\n", settings);
  guint32 on = backend_ask(lab->check, OP_ON, "a01 b02", 30 * TIME_SECOND, NULL);
  backend_ask_finish(lab->check, on);
  backend_ask_expect(lab->check, on, "b02", VERDICT_OK, "");
  guint32 status = backend_ask(lab->check, OP_STATUS, "a01 a02 b01 b02", 30 * TIME_SECOND, NULL);
  backend_ask_finish(lab->check, status);
  domain_lab_see(lab, "a01: power on\n");
  domain_lab_see(lab, "a02: power off\n");
  domain_lab_see(lab, "b01: power off\n");
  domain_lab_see(lab, "b02: power on\n");
  domain_lab_free(other);
  domain_lab_free(lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_keys, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_hung_delays_nobody, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_behind_our_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_boot_device, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_watch, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_walk, set_up, tear_down),
      cmocka_unit_test(test_two_rooms),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include <stdio.h>

int
main(void)
{
  puts("built without libvirt");
  return 77;
}

#endif
