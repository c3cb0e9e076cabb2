#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/layout_backend.h"

static const char text[] =
    "lab: t\n"
    "defaults: {power: bmc, exec: ssh, server: slx1, wake: wol}\n"
    "switches: {sw1: {meter: wire}}\n"
    "servers: {slx1: {switch: sw1, power: none, wake: none, ports: {eth0: {speed: 1 Gbit/s, mac: "
    "52:54:00:00:00:fe}}, ip: 10.21.0.254}}\n"
    "clients:\n"
    "  a[01-12]: {switch: sw1, speed: 1 Gbit/s, mac: 52:54:00:0a:00:00 step 1, ip: 10.21.0.1 step "
    "1}\n"
    "  a02: {exec: none}\n"
    "  a03: {meter: wire}\n"
    "backends:\n"
    "  bmc:\n"
    "    type: ipmi\n"
    "    user: admin\n"
    "    password: file:secret\n"
    "    workaround: [opensesspriv, endianseq]\n"
    "    deadline: {status: 3 s}\n"
    "    nodes:\n"
    "      \"a[12,03,01]\": {address: 10.9.0.250 step 3}\n"
    "      a03: {address: \"{node}-{number}.{{x}.{ip}.{mac}\", cipher: 17}\n"
    "    persistent: true\n"
    "control:\n"
    "  slx1: {nfsd: {get: cat threads, set: \"echo {value} >threads\"}}\n"
    "  \"a[01-12]\": {off: \"poweroff # {node}\"}\n"
    "  a04: {off: halt}\n";

static Layout *
lab(void)
{
  GError *error = NULL;
  Layout *layout = layout_parse("t", text, strlen(text), &error);

  if (layout == NULL)
    fail_msg("%s", error->message);
  return layout;
}

static void
expect_text(const Layout *layout, const char *backend, const char *node, const char *key,
            const char *expected)
{
  NodeId id = node != NULL ? layout_find(layout, node) : NODE_NONE;
  g_autofree char *found = layout_setting_text(layout, layout_backend(layout, backend), id, key);

  if (g_strcmp0(found, expected) != 0)
    fail_msg("%s of %s is %s, not %s", key, node, found, expected);
}

static void
test_settings(void **state)
{
  g_autoptr(Layout) layout = lab();
  const LayoutBackend *bmc = layout_backend(layout, "bmc");
  NodeId a03 = layout_find(layout, "a03"), a04 = layout_find(layout, "a04");
  (void)state;

  assert_string_equal(layout_backend_type(bmc), "ipmi");
  expect_text(layout, "bmc", "a04", "user", "admin");
  expect_text(layout, "bmc", NULL, "password", "file:secret");
  expect_text(layout, "bmc", "a04", "kg", NULL);
  expect_text(layout, "bmc", "a04", "privilege", "operator");
  assert_int_equal(layout_setting_count(layout, bmc, a03, "cipher"), 17);
  assert_int_equal(layout_setting_count(layout, bmc, a04, "cipher"), 3);
  assert_true(layout_setting_flag(layout, bmc, a04, "persistent"));
  assert_int_equal(layout_setting_time(layout, bmc, a04, "deadline.status"), 3 * TIME_SECOND);
  assert_int_equal(layout_setting_time(layout, bmc, a04, "deadline.on"), 0);
  assert_int_equal(layout_setting_time(layout, bmc, a04, "retransmit"), TIME_SECOND);
  g_auto(GStrv) words = layout_setting_words(layout, bmc, a04, "workaround");
  assert_int_equal(g_strv_length(words), 2);
  assert_string_equal(words[1], "endianseq");
  assert_null(layout_setting_words(layout, bmc, a04, "cipher-fallback"));
}

/* The step counts in the order nodes are written, as addresses of clients do. */
static void
test_addresses(void **state)
{
  g_autoptr(Layout) layout = lab();
  (void)state;

  expect_text(layout, "bmc", "a12", "address", "10.9.1.0");
  expect_text(layout, "bmc", "a01", "address", "10.9.0.250");
  expect_text(layout, "bmc", "a03", "address", "a03-3.{x}.10.21.0.3.52:54:00:0a:00:02");
  expect_text(layout, "bmc", "a04", "address", "a04-bmc");
  expect_text(layout, "ssh", "a04", "address", "a04");
}

static void
test_roles(void **state)
{
  g_autoptr(Layout) layout = lab();
  const struct {
    const char *node;
    const char *backend[ROLE_N];
  } cases[] = {
      {"a01", {"bmc", NULL, "ssh", NULL, "wol", "ssh"}},
      {"a02", {"bmc", NULL, NULL, NULL, "wol", NULL}},
      {"a03", {"bmc", NULL, "ssh", NULL, "wol", "wire"}},
      {"slx1", {NULL, NULL, "ssh", NULL, NULL, "ssh"}},
      {"sw1", {NULL, NULL, "ssh", NULL, NULL, "wire"}},
  };
  (void)state;

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint role = 0; role < ROLE_N; role++) {
      const char *found = layout->nodes[layout_find(layout, cases[i].node)].backend[role];
      if (g_strcmp0(found, cases[i].backend[role]) != 0)
        fail_msg("%s of %s is %s", layout_role_name(role), cases[i].node, found);
    }
  assert_non_null(layout_backend(layout, "wol"));
  assert_null(layout_backend(layout, "powerman"));
}

static void
expect_control(const Layout *layout, const char *node, const char *name, const char *action,
               const char *value, const char *expected)
{
  g_autofree char *found = layout_control(layout, layout_find(layout, node), name, action, value);

  if (g_strcmp0(found, expected) != 0)
    fail_msg("%s %s of %s is %s, not %s", action, name, node, found, expected);
}

static void
test_control(void **state)
{
  g_autoptr(Layout) layout = lab();
  (void)state;

  expect_control(layout, "slx1", "nfsd", "get", NULL, "cat threads");
  expect_control(layout, "slx1", "nfsd", "set", "8; rm -rf '/'",
                 "echo '8; rm -rf '\\''/'\\''' >threads");
  expect_control(layout, "slx1", "nfsd", "run", NULL, NULL);
  expect_control(layout, "slx1", "off", "run", NULL, NULL);
  expect_control(layout, "a03", "off", "run", NULL, "poweroff # a03");
  expect_control(layout, "a04", "off", "run", NULL, "halt");
}

/* The table is the program's own: what it says must make sense to those who look things up. */
static void
test_table(void **state)
{
  guint n;
  const SettingKey *keys = layout_setting_keys(&n);
  (void)state;

  for (guint i = 0; i < n; i++) {
    const SettingKey *key = &keys[i];
    g_autofree char *yaml = NULL;
    if (strcmp(key->type, "*") == 0 || key->fallback == NULL || strchr(key->key, '.') != NULL)
      continue;
    yaml = g_strdup_printf("lab: t\nbackends: {b: {type: %s, %s: \"%s\"}}\n", key->type, key->key,
                           key->fallback);
    g_autoptr(GError) error = NULL;
    g_autoptr(Layout) layout = layout_parse("t", yaml, strlen(yaml), &error);
    if (layout == NULL)
      fail_msg("%s.%s: %s", key->type, key->key, error->message);
  }
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_settings), cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_roles),    cmocka_unit_test(test_control),
      cmocka_unit_test(test_table),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
