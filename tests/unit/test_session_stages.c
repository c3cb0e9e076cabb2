/* Lines of logs and consoles as a backend posts them, and what the session makes of them. */
#include "session_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/state.h"
#include "session/data.h"

typedef struct {
  GPtrArray *sources;
  SessionLab *lab;
} Room;

static Room
room_new(gboolean with_sources)
{
  Room room = {g_ptr_array_new_with_free_func((GDestroyNotify)stage_source_free), NULL};
  static const char *const names[] = {"dnsmasq", "linux", "systemd", "getty"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    StageSource *source = data_stage_source(names[i], NULL);
    assert_non_null(source);
    g_ptr_array_add(room.sources, source);
  }
  SessionOptions options = {.core = {.seed = 1, .consent = CONSENT_YES},
                            .stages = with_sources ? room.sources : NULL};
  room.lab = session_lab_new(&options, &session_lab_real);
  return room;
}

static void
room_free(Room *room)
{
  session_lab_free(room->lab);
  g_ptr_array_unref(room->sources);
}

static void
post(const Room *room, NodeId node, const char *stream, const char *text)
{
  Event event = {.kind = EVENT_LINE, .line = {0, node, stream, text}};
  session_post(&event, room->lab->session);
}

static const NodeState *
seat(const Room *room, const char *name)
{
  return state_node(session_state(room->lab->session), layout_find(room->lab->layout, name));
}

static const char *
stage_of(const Room *room, const char *name)
{
  return state_stage_name(session_state(room->lab->session), seat(room, name)->stage);
}

/* The last line of the log: whose it is, and where it came from. */
static const LogEntry *
last_entry(const Room *room)
{
  const CoreState *state = session_state(room->lab->session);
  return state_log(state, state_log_end(state) - 1);
}

static void
test_two_kinds_of_source(void **state)
{
  (void)state;
  Room room = room_new(TRUE);
  NodeId s1 = layout_find(room.lab->layout, "s1"), a02 = layout_find(room.lab->layout, "a02");
  post(&room, s1, "log",
       "Dec  2 16:51:24 s1 dnsmasq-dhcp[9]: DHCPDISCOVER(br0) 52:54:00:0a:00:01 ");
  assert_string_equal(stage_of(&room, "a02"), "dhcp");
  assert_string_equal(stage_of(&room, "a01"), "");
  Stage dhcp = seat(&room, "a02")->stage;
  assert_int_equal(seat(&room, "a02")->stage_certainty[dhcp], CERTAINTY_LIKELY);
  assert_string_equal(seat(&room, "a02")->stage_source[dhcp], "dnsmasq");
  /* It stands in the log as of the seat that it tells of. */
  assert_int_equal(last_entry(&room)->node, a02);
  assert_string_equal(last_entry(&room)->source, "log");
  post(&room, a02, "console", "[    0.000000] Linux version 6.1.0 (gcc)");
  assert_string_equal(stage_of(&room, "a02"), "kernel");
  post(&room, a02, "console", "a02 login: ");
  assert_string_equal(stage_of(&room, "a02"), "login");
  room_free(&room);
}

/* An address that a lease gives is known from then on. */
static void
test_lines_teach(void **state)
{
  (void)state;
  Room room = room_new(TRUE);
  NodeId s1 = layout_find(room.lab->layout, "s1");
  post(&room, s1, "log", "dnsmasq-dhcp[9]: DHCPOFFER(br0) 10.99.0.7 52:54:00:0a:00:00 ");
  assert_string_equal(stage_of(&room, "a01"), "");
  post(&room, s1, "log", "dnsmasq-tftp[9]: sent /srv/tftp/pxelinux.0 to 10.99.0.7");
  assert_string_equal(stage_of(&room, "a01"), "tftp");
  room_free(&room);
}

static void
test_others_business(void **state)
{
  (void)state;
  Room room = room_new(TRUE);
  NodeId s1 = layout_find(room.lab->layout, "s1"), a01 = layout_find(room.lab->layout, "a01");
  guint before = room.lab->events->len;
  post(&room, s1, "log", "dnsmasq-dhcp[9]: DHCPDISCOVER(br0) 00:11:22:33:44:55 "); /* a stranger */
  post(&room, s1, "log", "sshd[9]: Accepted publickey for root");
  /* A console's words in a log tell of nobody's console. */
  post(&room, s1, "log", "a01 login: ");
  assert_int_equal(room.lab->events->len, before);
  /* What a machine's console shows is shown whatever it tells; a job's output is not looked at. */
  post(&room, a01, "console", "dnsmasq-dhcp[9]: DHCPDISCOVER(br0) 52:54:00:0a:00:01 ");
  post(&room, a01, "out", "a01 login: ");
  assert_int_equal(room.lab->events->len, before + 2);
  assert_string_equal(stage_of(&room, "a01"), "");
  assert_string_equal(stage_of(&room, "a02"), "");
  room_free(&room);
}

/* What a seat's own system logs is read like its console, and never leads back. */
static void
test_own_log(void **state)
{
  (void)state;
  Room room = room_new(TRUE);
  NodeId s1 = layout_find(room.lab->layout, "s1"), a01 = layout_find(room.lab->layout, "a01");
  post(&room, a01, "log", "[    0.000000] Linux version 6.1.0 (gcc)"); /* netconsole */
  assert_string_equal(stage_of(&room, "a01"), "kernel");
  assert_int_equal(seat(&room, "a01")->stage_certainty[seat(&room, "a01")->stage],
                   CERTAINTY_LIKELY);
  post(&room, a01, "log", "<30>Dec  2 16:50:43 a01 systemd[1]: Running in initramfs.");
  assert_string_equal(stage_of(&room, "a01"), "initramfs");
  post(&room, a01, "log", "<30>1 2026-12-02T16:50:43Z a01 systemd 1 - - Switching root.");
  assert_string_equal(stage_of(&room, "a01"), "root");
  post(&room, a01, "log", "<6>Dec  2 16:50:44 a01 kernel: [    0.000000] Linux version 6.1.0");
  assert_string_equal(stage_of(&room, "a01"), "root");
  post(&room, s1, "log", "<30>Dec  2 16:50:43 s1 systemd[1]: Switching root.");
  post(&room, s1, "log", "<30>Dec  2 16:50:43 a02 systemd[1]: Switching root.");
  assert_string_equal(stage_of(&room, "a02"), "");
  room_free(&room);
}

static void
test_without_sources(void **state)
{
  (void)state;
  Room room = room_new(FALSE);
  NodeId a01 = layout_find(room.lab->layout, "a01");
  guint before = room.lab->events->len;
  post(&room, a01, "console", "a01 login: ");
  assert_int_equal(room.lab->events->len, before + 1);
  assert_string_equal(stage_of(&room, "a01"), "");
  room_free(&room);
}

/* What is shipped is read when a line has come that it may tell something of. */
static void
test_shipped(void **state)
{
  (void)state;
  SessionOptions options = {.core = {.seed = 1, .consent = CONSENT_YES}, .shipped_stages = TRUE};
  Room room = {NULL, session_lab_new(&options, &session_lab_real)};
  NodeId s1 = layout_find(room.lab->layout, "s1"), a01 = layout_find(room.lab->layout, "a01");
  post(&room, a01, "out", "a01 login: ");
  assert_string_equal(stage_of(&room, "a01"), "");
  post(&room, s1, "log", "dnsmasq-dhcp[9]: DHCPDISCOVER(br0) 52:54:00:0a:00:01 ");
  assert_string_equal(stage_of(&room, "a02"), "dhcp");
  post(&room, a01, "console", "a01 login: ");
  assert_string_equal(stage_of(&room, "a01"), "login");
  assert_int_equal(room.lab->complaints->len, 0);
  session_lab_free(room.lab);
}

/* A layout's own that cannot be read is told once, and lines go on as if there were none. */
static void
test_unreadable(void **state)
{
  (void)state;
  SessionOptions options = {.core = {.seed = 1, .consent = CONSENT_YES}, .shipped_stages = TRUE};
  Room room = {NULL, session_lab_new(&options, &session_lab_real)};
  NodeId a01 = layout_find(room.lab->layout, "a01");
  char *names[] = {"no-such-stages", NULL};
  char **before = room.lab->layout->stage_sources;
  room.lab->layout->stage_sources = names;
  post(&room, a01, "console", "a01 login: ");
  post(&room, a01, "console", "a01 login: ");
  room.lab->layout->stage_sources = before;
  assert_string_equal(stage_of(&room, "a01"), "");
  assert_string_equal(last_entry(&room)->text, "a01 login: ");
  assert_int_equal(room.lab->complaints->len, 1);
  assert_non_null(strstr(room.lab->complaints->pdata[0], "no-such-stages"));
  session_lab_free(room.lab);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_kinds_of_source), cmocka_unit_test(test_lines_teach),
      cmocka_unit_test(test_others_business),     cmocka_unit_test(test_own_log),
      cmocka_unit_test(test_without_sources),     cmocka_unit_test(test_shipped),
      cmocka_unit_test(test_unreadable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
