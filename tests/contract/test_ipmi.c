/* The ipmi backend before real BMC simulators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_IPMI

#include <dlfcn.h>
#include <ipmiconsole.h>
#include <poll.h>

#include "tests/contract/bmc_lab.h"

#define S TIME_SECOND

static BmcLab *lab;

static int
set_up(void **state)
{
  (void)state;
  lab = bmc_lab_new(6);
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  g_clear_pointer(&lab, bmc_lab_free);
  return 0;
}

static void
begin(const char *settings, const char *overrides, gboolean on)
{
  if (lab == NULL)
    skip();
  bmc_lab_begin(lab, settings, overrides, on);
}

static gboolean
was_seen(const char *what)
{
  return strstr(lab->seen->str, what) != NULL;
}

static void
test_power(void **state)
{
  (void)state;
  begin(NULL, NULL, FALSE);
  guint on = bmc_lab_count(lab, 1, "set power 1"), reset = bmc_lab_count(lab, 1, "set reset 1");
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_STATUS, "all", 5 * S, NULL), "a6", VERDICT_OK, NULL);
  assert_true(was_seen("a1 power off by bmc\n") && was_seen("a6 power off by bmc\n"));
  assert_false(was_seen("on by"));
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_RESET, "a1", 30 * S, NULL), "a1", VERDICT_FAILED,
                 "it is off, and a reset does not switch it on; `power on a1` does");
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_ON, "a1", 30 * S, NULL), "a1", VERDICT_OK, NULL);
  assert_true(was_seen("a1 power on by bmc\n"));
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_ON, "a1", 30 * S, NULL), "a1", VERDICT_OK, NULL);
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_RESET, "a1", 30 * S, NULL), "a1", VERDICT_OK, NULL);
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_OFF, "a1", 120 * S, BMC_WITH("how", "soft")), "a1",
                 VERDICT_OK, NULL);
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_OFF, "a1", 30 * S, BMC_WITH("how", "gently")), "a1",
                 VERDICT_FAILED, "soft or hard");
  assert_int_equal(bmc_lab_count(lab, 1, "set power 1"), on + 1);
  assert_int_equal(bmc_lab_count(lab, 1, "set reset 1"), reset + 1);
}

static void
test_boot_device(void **state)
{
  (void)state;
  begin("    firmware: efi\n    persistent: true\n", NULL, FALSE);
  guint32 pxe = bmc_lab_do(lab, OP_BOOT_DEVICE, "a1", 30 * S, BMC_WITH("device", "pxe"));
  bmc_lab_expect(lab, pxe, "a1", VERDICT_OK, NULL);
  guint32 disk = bmc_lab_do(lab, OP_BOOT_DEVICE, "a2", 30 * S, BMC_WITH("device", "disk"));
  bmc_lab_expect(lab, disk, "a2", VERDICT_OK, NULL);
  guint32 keys = bmc_lab_do(lab, OP_BOOT_DEVICE, "a3", 30 * S, BMC_WITH("device", "keys"));
  bmc_lab_expect(lab, keys, "a3", VERDICT_FAILED, "boots from pxe or disk");
  assert_int_equal(bmc_lab_count(lab, 1, "set boot pxe"), 1);
  assert_int_equal(bmc_lab_count(lab, 2, "set boot default"), 1); /* as ipmi_sim calls it */
}

static const struct {
  const char *override; /* of the node's settings */
  Operation operation;
  Verdict verdict;
  const char *words;
} errors[] = {
    {"user: nobody", OP_STATUS, VERDICT_FAILED, "knows no user `nobody`"},
    {"password: env:PULT_TEST_WRONG", OP_STATUS, VERDICT_FAILED, "correct `password`"},
    {"kg: env:PULT_TEST_WRONG", OP_STATUS, VERDICT_FAILED, "another K_g; correct `kg`"},
    {"privilege: user", OP_RESET, VERDICT_FAILED,
     "wants a higher privilege level than `user` for reset; set `privilege: operator`"},
    {"privilege: user", OP_STATUS, VERDICT_OK, NULL},
    {"cipher: 17", OP_STATUS, VERDICT_FAILED, "refuses cipher suite 17; set `cipher: 3`"},
    {"cipher: 17, cipher-fallback: [16, 3]", OP_STATUS, VERDICT_OK, NULL},
    {"cipher: 2", OP_STATUS, VERDICT_OK, NULL},
    {"cipher: 1", OP_STATUS, VERDICT_OK, NULL},
    {"address: no-such-host.invalid", OP_STATUS, VERDICT_FAILED, "no BMC at no-such-host.invalid"},
    {"address: \"127.0.0.1:1\"", OP_STATUS, VERDICT_FAILED, "nothing answers IPMI on it"},
};

static void
test_errors(void **state)
{
  (void)state;
  begin(NULL, NULL, TRUE);
  g_setenv("PULT_TEST_WRONG", "hush", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS(errors); i++) {
    g_autofree char *override = g_strdup_printf("      a2: {%s}\n", errors[i].override);
    bmc_lab_open(lab, NULL, override);
    guint32 request = bmc_lab_do(lab, errors[i].operation, "a1,a2", 12 * S, NULL);
    bmc_lab_expect(lab, request, "a1", VERDICT_OK, NULL);
    bmc_lab_expect(lab, request, "a2", errors[i].verdict, errors[i].words);
    const char *text = backend_check_text(lab->check, request, layout_find(lab->layout, "a2"));
    assert_null(strstr(text, "hush"));
  }
}

static const struct {
  const char *override, *words;
} settings[] = {
    {"workaround: [opensesprif]", "there is no work-around opensesprif; is opensesspriv meant?"},
    {"cipher: 4", "cipher suite 4 is none that can be spoken"},
    {"cipher-fallback: [x]", "cipher-fallback: x is no cipher suite"},
    {"user: seventeen-letters", "at most 16 bytes"},
    {"password: env:PULT_TEST_LONG", "at most 20 bytes"},
    {"kg: env:PULT_TEST_LONG", "A K_g is 1 to 20 bytes"},
    {"address: \"bmc:99999\"", "is no HOST or HOST:PORT"},
    {"retransmit: 0 s", "must be more than nothing"},
};

static void
test_settings(void **state)
{
  (void)state;
  g_autoptr(BmcLab) nowhere = bmc_lab_new_at("127.0.0", 1, "/nowhere/password");
  g_setenv("PULT_TEST_LONG", "0xsecret-and-much-too-long-for-that", TRUE);
  g_setenv("PULT_TEST_VIEW", "short", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    gboolean secret = strstr(settings[i].override, "password") != NULL;
    g_autofree char *override = g_strdup_printf("      a1: {%s%s}\n", settings[i].override,
                                                secret ? "" : ", password: env:PULT_TEST_VIEW");
    g_autofree char *error = bmc_lab_open_error(nowhere, NULL, override);
    if (strcasestr(error, settings[i].words) == NULL)
      fail_msg("`%s` is not in: %s", settings[i].words, error);
    assert_null(strstr(error, "0xsecret"));
  }
}

#define SOL "workaround: [opensesspriv, solpayloadsize, solport, solstatus, solchannelsupport]"

/* Until WHAT was seen; FALSE when END came before. */
static gboolean
see_until(const char *what, gint64 end)
{
  while (!was_seen(what))
    if (!backend_check_step(lab->check, end))
      return was_seen(what);
  return TRUE;
}

static void
test_console(void **state)
{
  (void)state;
  begin(NULL, "      \"a[1-2]\": {" SOL "}\n      a3: {user: nobody}\n", FALSE);
  guint32 watch = bmc_lab_ask(lab, OP_WATCH, "a1", TIME_NEVER, BMC_WITH("what", "console"));
  guint32 wrong = bmc_lab_do(lab, OP_WATCH, "a3", 20 * S, BMC_WITH("what", "console"));
  bmc_lab_expect(lab, wrong, "a3", VERDICT_FAILED, "a3: its BMC (");
  guint32 other = bmc_lab_do(lab, OP_WATCH, "a2", 5 * S, BMC_WITH("interval_ns", "1000000000"));
  bmc_lab_expect(lab, other, "a2", VERDICT_FAILED, "lets its console be watched");
  gint64 now = backend_check_now(lab->check);
  assert_true(see_until("a1 console -- the console is open --\n", now + 20 * S));
  bmc_lab_expect(lab, bmc_lab_do(lab, OP_ON, "a1", 30 * S, NULL), "a1", VERDICT_OK, NULL);
  /* A prompt has no end of line. */
  assert_true(see_until("a1 console a01 login: \n", backend_check_now(lab->check) + 30 * S));
  assert_true(was_seen("a1 console [    0.000000] Linux version"));
  assert_false(was_seen("a2 console"));
  backend_check_cancel(lab->check, watch);
  assert_true(backend_check_finish(lab->check, watch, backend_check_now(lab->check) + S));
  bmc_lab_expect(lab, watch, "a1", VERDICT_CANCELLED, NULL);
}

/* How a console's context was, while ipmiconsole_engine_submit() had not yet returned. */
static guint n_submitted, n_given_up;
static gboolean put_aside;

/* The library's, and then the main thread is put aside, for longer than a BMC takes to refuse. */
int
ipmiconsole_engine_submit(ipmiconsole_ctx_t context, Ipmiconsole_callback callback, void *data)
{
  int (*submit)(ipmiconsole_ctx_t, Ipmiconsole_callback, void *) = NULL;
  *(void **)&submit = dlsym(RTLD_NEXT, "ipmiconsole_engine_submit");
  int status = submit(context, callback, data);
  struct pollfd end = {.fd = ipmiconsole_ctx_fd(context), .events = POLLIN};

  n_submitted++;
  if (status == 0 && put_aside && poll(&end, 1, 1500) > 0 && (end.revents & POLLHUP) != 0)
    n_given_up++;
  return status;
}

/* The library's thread gives no context up before that returns: it would then never be freed. */
static void
test_refused_at_once(void **state)
{
  (void)state;
  begin(NULL, "      a3: {user: nobody}\n", FALSE);
  guint before = n_submitted;
  put_aside = TRUE;
  guint32 wrong = bmc_lab_do(lab, OP_WATCH, "a3", 20 * S, BMC_WITH("what", "console"));
  put_aside = FALSE;
  bmc_lab_expect(lab, wrong, "a3", VERDICT_FAILED, "a3: its BMC (");
  assert_int_equal(n_submitted, before + 1);
  assert_int_equal(n_given_up, 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_settings),    cmocka_unit_test(test_power),
      cmocka_unit_test(test_boot_device), cmocka_unit_test(test_errors),
      cmocka_unit_test(test_console),     cmocka_unit_test(test_refused_at_once),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

#include <stdio.h>

/* How a console's context was, while ipmiconsole_engine_submit() had not yet returned. */
static guint n_submitted, n_given_up;
static gboolean put_aside;

/* The library's, and then the main thread is put aside, for longer than a BMC takes to refuse. */
int
ipmiconsole_engine_submit(ipmiconsole_ctx_t context, Ipmiconsole_callback callback, void *data)
{
  int (*submit)(ipmiconsole_ctx_t, Ipmiconsole_callback, void *) = NULL;
  *(void **)&submit = dlsym(RTLD_NEXT, "ipmiconsole_engine_submit");
  int status = submit(context, callback, data);
  struct pollfd end = {.fd = ipmiconsole_ctx_fd(context), .events = POLLIN};

  n_submitted++;
  if (status == 0 && put_aside && poll(&end, 1, 1500) > 0 && (end.revents & POLLHUP) != 0)
    n_given_up++;
  return status;
}

/* The library's thread gives no context up before that returns: it would then never be freed. */
static void
test_refused_at_once(void **state)
{
  (void)state;
  begin(NULL, "      a3: {user: nobody}\n", FALSE);
  guint before = n_submitted;
  put_aside = TRUE;
  guint32 wrong = bmc_lab_do(lab, OP_WATCH, "a3", 20 * S, BMC_WITH("what", "console"));
  put_aside = FALSE;
  bmc_lab_expect(lab, wrong, "a3", VERDICT_FAILED, "a3: its BMC (");
  assert_int_equal(n_submitted, before + 1);
  assert_int_equal(n_given_up, 0);
}

int
main(void)
{
  puts("built without libfreeipmi");
  return 77;
}

#endif
