/* A machine's serial line, which its BMC carries over the network (SOL).
 *
 * libipmiconsole speaks to the BMC on threads of its own, which stay out of sight: what they have
 * received is read here from a socket, on the main loop. */
#include "backends/ipmi/ipmi_private.h"

#include <errno.h>
#include <glib-unix.h>
#include <ipmiconsole.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "backends/console_lines.h"

#define ENGINE_THREADS 2

struct IpmiConsole {
  LedgerItem *item;
  const IpmiBmc *bmc;
  GCancellable *resolving;
  ipmiconsole_ctx_t context;
  int fd;         /* -1: none */
  guint incoming; /* source */
  gboolean established;
  ConsoleLines lines;
};

static guint n_engines;

gboolean
ipmi_console_engine_up(void)
{
  if (n_engines == 0 && ipmiconsole_engine_init(ENGINE_THREADS, 0) != 0)
    return FALSE;
  n_engines++;
  return TRUE;
}

void
ipmi_console_engine_down(void)
{
  g_assert(n_engines > 0);
  /* Waits until the BMCs know that it is over. */
  if (--n_engines == 0)
    ipmiconsole_engine_teardown(1);
}

/* ---- What goes wrong ----------------------------------------------------------------------- */

static char *
say_trouble(const IpmiBmc *bmc, int code)
{
  switch (code) {
  case IPMICONSOLE_ERR_HOSTNAME_INVALID:
    return ipmi_say(bmc, "is at no address that libipmiconsole takes; it knows IPv4 alone");
  case IPMICONSOLE_ERR_IPMI_2_0_UNAVAILABLE:
    return ipmi_say(bmc, "does not speak IPMI 2.0, without which there is no serial console");
  case IPMICONSOLE_ERR_CIPHER_SUITE_ID_UNAVAILABLE:
    return ipmi_say_trouble(
        bmc, TROUBLE_REFUSED,
        RMCPPLUS_STATUS_NO_CIPHER_SUITE_MATCH_WITH_PROPOSED_SECURITY_ALGORITHMS);
  case IPMICONSOLE_ERR_USERNAME_INVALID:
    return ipmi_say_trouble(bmc, TROUBLE_REFUSED, RMCPPLUS_STATUS_UNAUTHORIZED_NAME);
  case IPMICONSOLE_ERR_PASSWORD_INVALID:
    return ipmi_say_trouble(bmc, TROUBLE_PASSWORD, 0);
  case IPMICONSOLE_ERR_K_G_INVALID:
    return ipmi_say_trouble(bmc, TROUBLE_KG, 0);
  case IPMICONSOLE_ERR_PRIVILEGE_LEVEL_INSUFFICIENT:
    return ipmi_say_code(bmc, "the console", IPMI_COMP_CODE_INSUFFICIENT_PRIVILEGE_LEVEL);
  case IPMICONSOLE_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED:
    return ipmi_say_trouble(bmc, TROUBLE_LEVEL, 0);
  case IPMICONSOLE_ERR_SOL_UNAVAILABLE:
    return ipmi_say(bmc, "offers no serial console; enable serial over LAN on it");
  case IPMICONSOLE_ERR_SOL_INUSE:
    return ipmi_say(bmc, "has given the serial console to somebody else, or has not seen yet that "
                         "they left; `console` takes it from them");
  case IPMICONSOLE_ERR_SOL_STOLEN:
    return ipmi_say(bmc, "gave the serial console to somebody else");
  case IPMICONSOLE_ERR_SOL_REQUIRES_ENCRYPTION:
    return ipmi_say(bmc, "gives the serial console encrypted only; set `cipher: 3`");
  case IPMICONSOLE_ERR_SOL_REQUIRES_NO_ENCRYPTION:
    return ipmi_say(bmc, "gives the serial console unencrypted only; set `cipher: 2`");
  case IPMICONSOLE_ERR_CONNECTION_TIMEOUT:
    return ipmi_say_trouble(bmc, TROUBLE_SILENT, 0);
  case IPMICONSOLE_ERR_SESSION_TIMEOUT:
  case IPMICONSOLE_ERR_EXCESS_RETRANSMISSIONS_SENT:
  case IPMICONSOLE_ERR_EXCESS_ERRORS_RECEIVED:
    return ipmi_say_trouble(bmc, TROUBLE_LOST, 0);
  default:
    return ipmi_say(bmc, "ended the serial console (%s)", ipmiconsole_ctx_strerror(code));
  }
}

static void
fail(IpmiConsole *console, char *text)
{
  g_autofree char *what = text;

  ledger_answer(console->item, VERDICT_FAILED, "%s", what);
}

static gboolean
on_incoming(gint fd, GIOCondition condition, gpointer data)
{
  IpmiConsole *console = data;
  char bytes[4096];

  (void)condition;
  gssize n = read(fd, bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (n > 0) {
    /* The library says by a NUL of its own that the line stands. */
    if (!console->established)
      ledger_line(console->item, "console", "-- the console is open --");
    console->established = TRUE;
    console_lines_take(&console->lines, bytes, (gsize)n);
    return G_SOURCE_CONTINUE;
  }
  console->incoming = 0;
  console_lines_end(&console->lines);
  fail(console, say_trouble(console->bmc, ipmiconsole_ctx_errnum(console->context)));
  return G_SOURCE_REMOVE;
}

/* ---- To the BMC ---------------------------------------------------------------------------- */

static int
console_level(const IpmiBmc *bmc)
{
  return bmc->account.privilege == IPMI_PRIVILEGE_LEVEL_ADMIN      ? IPMICONSOLE_PRIVILEGE_ADMIN
         : bmc->account.privilege == IPMI_PRIVILEGE_LEVEL_OPERATOR ? IPMICONSOLE_PRIVILEGE_OPERATOR
                                                                   : IPMICONSOLE_PRIVILEGE_USER;
}

static ipmiconsole_ctx_t
create(const IpmiBmc *bmc, const char *place, gboolean from_anyone)
{
  IpmiAccount account = bmc->account; /* the library takes no const, and copies */
  int patience = (int)(bmc->patience / TIME_MS), retransmit = (int)(bmc->retransmit / TIME_MS);
  struct ipmiconsole_ipmi_config ipmi = {
      .username = account.user,
      .password = account.password,
      .k_g = account.has_kg ? account.kg : NULL,
      .k_g_len = account.has_kg ? sizeof account.kg : 0,
      .privilege_level = console_level(bmc),
      .cipher_suite_id = (int)bmc->suites[bmc->suite],
      .workaround_flags = account.workarounds,
  };
  struct ipmiconsole_protocol_config protocol = {
      .session_timeout_len = 4 * patience, /* what it needs is a keep-alive's time and more */
      .retransmission_timeout_len = retransmit,
      .retransmission_backoff_count = 2,
      .keepalive_timeout_len = patience,
      .retransmission_keepalive_timeout_len = retransmit,
      .acceptable_packet_errors_count = 16,
      .maximum_retransmission_count = 16,
  };
  struct ipmiconsole_engine_config engine = {
      .engine_flags = IPMICONSOLE_ENGINE_OUTPUT_ON_SOL_ESTABLISHED,
      .behavior_flags = from_anyone ? 0 : IPMICONSOLE_BEHAVIOR_ERROR_ON_SOL_INUSE,
  };
  ipmiconsole_ctx_t context = ipmiconsole_ctx_create(place, &ipmi, &protocol, &engine);
  explicit_bzero(&account, sizeof account);
  return context;
}

/* As its last step, ipmiconsole_engine_submit() (1.6.10) notes that the context is the engine's.
 * When the engine was quicker, and has given the context up before that (a BMC that refuses at
 * once, and a busy machine), that note undoes its own, and the context is never freed. So the
 * engine's thread has to wait for that step, in the callback that comes once before it gives a
 * context up. */
typedef struct {
  pthread_mutex_t submitting;
} Gate; /* counted: the engine's, and ours while we submit */

static void
clear_gate(gpointer gate)
{
  pthread_mutex_destroy(&((Gate *)gate)->submitting);
}

static void
leave_gate(Gate *gate)
{
  g_atomic_rc_box_release_full(gate, clear_gate);
}

/* Of the engine's thread. */
static void
on_settled(void *data)
{
  Gate *gate = data;

  pthread_mutex_lock(&gate->submitting);
  pthread_mutex_unlock(&gate->submitting);
  leave_gate(gate);
}

static gboolean
submit(ipmiconsole_ctx_t context)
{
  Gate *gate = g_atomic_rc_box_new0(Gate);

  pthread_mutex_init(&gate->submitting, NULL);
  pthread_mutex_lock(&gate->submitting);
  g_atomic_rc_box_acquire(gate);
  gboolean submitted = ipmiconsole_engine_submit(context, on_settled, gate) == 0;
  pthread_mutex_unlock(&gate->submitting);
  if (!submitted) /* then it is not called back */
    leave_gate(gate);
  leave_gate(gate);
  return submitted;
}

static void
connect_to(IpmiConsole *console, GInetSocketAddress *address)
{
  g_autofree char *host = g_inet_address_to_string(g_inet_socket_address_get_address(address));
  g_autofree char *place = g_strdup_printf("%s:%u", host, g_inet_socket_address_get_port(address));

  gboolean from_anyone = g_strcmp0(ledger_argument(console->item, "from"), "anyone") == 0;

  console->context = create(console->bmc, place, from_anyone);
  if (console->context == NULL) {
    fail(console, ipmi_say(console->bmc, "cannot be asked for its console: %s", g_strerror(errno)));
    return;
  }
  if (!submit(console->context) || (console->fd = ipmiconsole_ctx_fd(console->context)) < 0) {
    fail(console, say_trouble(console->bmc, ipmiconsole_ctx_errnum(console->context)));
    return;
  }
  g_unix_set_fd_nonblocking(console->fd, TRUE, NULL);
  console->incoming =
      g_unix_fd_add(console->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_incoming, console);
}

static void
on_resolved(GObject *source, GAsyncResult *result, gpointer data)
{
  IpmiConsole *console = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocketAddress) address =
      g_socket_address_enumerator_next_finish(G_SOCKET_ADDRESS_ENUMERATOR(source), result, &error);

  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the console may be gone */
  g_clear_object(&console->resolving);
  if (address == NULL)
    fail(console, ipmi_say_unresolved(console->bmc, error));
  else
    connect_to(console, G_INET_SOCKET_ADDRESS(address));
}

IpmiConsole *
ipmi_console_open(LedgerItem *item, const IpmiBmc *bmc)
{
  g_autoptr(GSocketAddressEnumerator) places = g_socket_connectable_enumerate(bmc->place);
  IpmiConsole *console = g_new0(IpmiConsole, 1);

  console->item = item;
  console->bmc = bmc;
  console->fd = -1;
  console_lines_init(&console->lines, item);
  console->resolving = g_cancellable_new();
  g_socket_address_enumerator_next_async(places, console->resolving, on_resolved, console);
  return console;
}

void
ipmi_console_free(IpmiConsole *console)
{
  if (console->resolving != NULL)
    g_cancellable_cancel(console->resolving);
  g_clear_object(&console->resolving);
  if (console->incoming != 0)
    g_source_remove(console->incoming);
  /* Its end of the socket closed, the library ends the session. */
  if (console->fd >= 0)
    close(console->fd);
  if (console->context != NULL)
    ipmiconsole_ctx_destroy(console->context);
  console_lines_clear(&console->lines);
  g_free(console);
}
