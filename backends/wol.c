#include "backends/wol.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/ledger.h"

#define ETHERTYPE_WAKE 0x0842
#define MAGIC_BYTES (6 + 16 * 6)
#define PASSWORD_BYTES 6

typedef struct {
  Backend backend;
  const Layout *layout;
  const LayoutBackend *settings;
  Ledger *ledger;
  char **passwords; /* by node; NULL: none */
} Wol;

/* An item's packets. */
typedef struct {
  LedgerItem *item;
  int fd;
  gboolean ethernet;
  union {
    struct sockaddr any;
    struct sockaddr_in udp;
    struct sockaddr_ll ethernet;
  } to;
  guint8 packet[MAGIC_BYTES + PASSWORD_BYTES];
  gsize length;
  guint left;
  guint timer;
} Wake;

static char *
setting(const Wol *wol, NodeId node, const char *key)
{
  return layout_setting_text(wol->layout, wol->settings, node, key);
}

/* ---- Packets ------------------------------------------------------------------------------- */

static void
fill_packet(Wake *wake, const MacAddress *mac, const char *password)
{
  MacAddress secure;

  memset(wake->packet, 0xff, 6);
  for (guint i = 0; i < 16; i++)
    memcpy(wake->packet + 6 + (gsize)i * 6, mac->byte, 6);
  wake->length = MAGIC_BYTES;
  if (password == NULL || !mac_parse(password, &secure))
    return;
  memcpy(wake->packet + MAGIC_BYTES, secure.byte, PASSWORD_BYTES);
  wake->length += PASSWORD_BYTES;
  explicit_bzero(&secure, sizeof secure);
}

static gboolean
open_ethernet(Wake *wake, const char *interface, const MacAddress *mac)
{
  guint index = if_nametoindex(interface);

  if (index == 0)
    return FALSE;
  wake->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETHERTYPE_WAKE));
  wake->ethernet = TRUE;
  wake->to.ethernet = (struct sockaddr_ll){.sll_family = AF_PACKET,
                                           .sll_protocol = htons(ETHERTYPE_WAKE),
                                           .sll_ifindex = (int)index,
                                           .sll_halen = ETH_ALEN};
  memcpy(wake->to.ethernet.sll_addr, mac->byte, ETH_ALEN);
  return wake->fd >= 0;
}

static gboolean
open_udp(Wake *wake, const char *interface, const char *address, guint port)
{
  int yes = 1;
  guint32 ip;

  if (!ip_parse(address, &ip))
    g_assert_not_reached();
  wake->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  wake->to.udp = (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((guint16)port), .sin_addr.s_addr = htonl(ip)};
  return wake->fd >= 0 && setsockopt(wake->fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes) == 0 &&
         (interface == NULL || setsockopt(wake->fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
                                          (socklen_t)strlen(interface) + 1) == 0);
}

static gboolean
open_socket(const Wol *wol, Wake *wake, const MacAddress *mac)
{
  NodeId node = wake->item->node;
  g_autofree char *interface = setting(wol, node, "interface");
  g_autofree char *frame = setting(wol, node, "frame");
  g_autofree char *address = setting(wol, node, "address");

  if (strcmp(frame, "ethernet") == 0)
    return open_ethernet(wake, interface, mac);
  return open_udp(wake, interface, address,
                  layout_setting_count(wol->layout, wol->settings, node, "port"));
}

static gboolean
send_one(Wake *wake)
{
  socklen_t size = wake->ethernet ? sizeof wake->to.ethernet : sizeof wake->to.udp;

  return sendto(wake->fd, wake->packet, wake->length, 0, &wake->to.any, size) ==
         (gssize)wake->length;
}

/* ---- Items --------------------------------------------------------------------------------- */

static void
say_error(LedgerItem *item, const char *what)
{
  const char *cause = g_strerror(errno);

  ledger_answer(item, item->sent ? VERDICT_UNKNOWN : VERDICT_FAILED, "%s: %s", what, cause);
}

static gboolean
send_next(gpointer data)
{
  Wake *wake = data;
  LedgerItem *item = wake->item;

  if (!send_one(wake)) {
    wake->timer = 0;
    say_error(item, "cannot send a magic packet");
    return G_SOURCE_REMOVE;
  }
  item->sent = TRUE;
  if (--wake->left > 0)
    return G_SOURCE_CONTINUE;
  wake->timer = 0;
  ledger_answer(item, VERDICT_OK, NULL);
  return G_SOURCE_REMOVE;
}

static void
begin(LedgerItem *item, gpointer data)
{
  const Wol *wol = data;
  const LayoutNode *node = &wol->layout->nodes[item->node];

  if (!node->has_mac) {
    ledger_answer(item, VERDICT_FAILED, "the layout gives no `mac` to wake it by");
    return;
  }
  Wake *wake = g_new0(Wake, 1);
  wake->item = item;
  wake->fd = -1;
  item->work = wake;
  fill_packet(wake, &node->mac, wol->passwords[item->node]);
  wake->left = layout_setting_count(wol->layout, wol->settings, item->node, "repeats");
  if (!open_socket(wol, wake, &node->mac)) {
    say_error(item, "no way to send a magic packet");
    return;
  }
  gint64 gap = layout_setting_time(wol->layout, wol->settings, item->node, "gap");
  if (send_next(wake))
    wake->timer = g_timeout_add((guint)(gap / TIME_MS), send_next, wake);
}

static void
end(LedgerItem *item, gpointer data)
{
  Wake *wake = item->work;
  (void)data;

  if (wake == NULL)
    return;
  if (wake->timer > 0)
    g_source_remove(wake->timer);
  if (wake->fd >= 0)
    close(wake->fd);
  explicit_bzero(wake, sizeof *wake);
  g_free(wake);
}

/* ---- The backend --------------------------------------------------------------------------- */

static void
wol_start(Backend *backend, gint64 now)
{
  (void)now;
  ledger_link(((Wol *)backend)->ledger, TRUE, "");
}

static void
wol_submit(Backend *backend, gint64 now, const RequestEvent *request)
{
  ledger_submit(((Wol *)backend)->ledger, now, request);
}

static void
wol_cancel(Backend *backend, gint64 now, guint32 request)
{
  (void)now;
  ledger_cancel(((Wol *)backend)->ledger, request);
}

static void
wol_free(Backend *backend)
{
  Wol *wol = (Wol *)backend;

  ledger_free(wol->ledger);
  for (NodeId id = 0; id < wol->layout->n_nodes; id++)
    secret_free(wol->passwords[id]);
  g_free(wol->passwords);
  g_free(wol);
}

static const BackendClass wol_class = {
    .name = "wol",
    .operations = 1u << OP_ON,
    .start = wol_start,
    .submit = wol_submit,
    .cancel = wol_cancel,
    .free = wol_free,
};

static gboolean
check_way(const Wol *wol, const BackendSetup *setup, NodeId id, GError **error)
{
  g_autofree char *frame = setting(wol, id, "frame");
  g_autofree char *interface = setting(wol, id, "interface");
  g_autofree char *address = setting(wol, id, "address");
  g_autofree char *via = setting(wol, id, "via");
  const char *name = setup->layout->nodes[id].name;
  NodeId helper = via != NULL ? layout_find(setup->layout, via) : NODE_NONE;
  guint32 ip;

  if (strcmp(frame, "ethernet") == 0 && interface == NULL)
    g_set_error(error, BACKEND_ERROR, 0, "%s: %s: a frame of its own wants an `interface`",
                setup->name, name);
  else if (!ip_parse(address, &ip))
    g_set_error(error, BACKEND_ERROR, 0, "%s: %s: %s is no IPv4 address", setup->name, name,
                address);
  else if (via != NULL && helper == NODE_NONE)
    g_set_error(error, BACKEND_ERROR, 0, "%s: %s: there is no node %s to wake it via", setup->name,
                name, via);
  else if (via != NULL && setup->layout->nodes[helper].backend[ROLE_EXEC] == NULL)
    g_set_error(error, BACKEND_ERROR, 0, "%s: %s: %s has no exec backend to wake it by",
                setup->name, name, via);
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_password(Wol *wol, const BackendSetup *setup, NodeId id, GError **error)
{
  g_autofree char *via = setting(wol, id, "via");
  GError *problem = NULL;
  MacAddress ignored;

  wol->passwords[id] = setup_secret(setup, id, "password", &problem);
  if (problem != NULL) {
    g_propagate_error(error, problem);
    return FALSE;
  }
  if (wol->passwords[id] == NULL)
    return TRUE;
  if (via != NULL)
    g_set_error(error, BACKEND_ERROR, 0,
                "%s: %s is woken by %s, whose command line would show the password", setup->name,
                setup->layout->nodes[id].name, via);
  else if (!mac_parse(wol->passwords[id], &ignored))
    g_set_error(error, BACKEND_ERROR, 0,
                "%s: the password of %s is not six pairs of hex digits with colons between",
                setup->name, setup->layout->nodes[id].name);
  else
    return TRUE;
  return FALSE;
}

Backend *
wol_new(const BackendSetup *setup, GError **error)
{
  static const LedgerClass ledger = {.begin = begin, .end = end, .one_each_node = TRUE};
  Wol *wol = g_new0(Wol, 1);

  wol->backend = (Backend){&wol_class, setup->name, setup->post, setup->post_data};
  wol->layout = setup->layout;
  wol->settings = setup->settings;
  wol->passwords = g_new0(char *, setup->layout->n_nodes);
  wol->ledger = ledger_new(&wol->backend, setup->layout, &ledger, wol);
  for (NodeId id = 0; id < setup->layout->n_nodes; id++) {
    const LayoutNode *node = &setup->layout->nodes[id];
    gboolean mine = g_strcmp0(node->backend[ROLE_WAKE], setup->name) == 0 ||
                    g_strcmp0(node->backend[ROLE_POWER], setup->name) == 0;
    if (!mine || (check_way(wol, setup, id, error) && read_password(wol, setup, id, error)))
      continue;
    backend_free(&wol->backend);
    return NULL;
  }
  return &wol->backend;
}
