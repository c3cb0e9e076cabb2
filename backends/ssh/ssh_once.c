#include "backends/ssh/ssh_once.h"

#include <stdlib.h>
#include <string.h>

#include "backends/pxe/pxe_once.h"
#include "backends/ssh/ssh_menu_read.h"
#include "backends/ssh/ssh_once_keeper.h"
#include "backends/ssh/ssh_private.h"

#define SHOWN_MAX 300

struct SshOnce {
  SshBackend *ssh;
  SshCommand *keeper; /* NULL: none runs */
  guint last;         /* number of the last order */
  GHashTable *orders; /* number → SshTarget that waits for its answer */
};

/* Of a target; 0: its order has not been given. */
#define ORDER(target) GPOINTER_TO_UINT((target)->data)

/* Of a request. */
typedef struct {
  PxeEdit *edit; /* the menu, whose labels are asked for; NULL: nothing is read */
  SshMenuRead *read;
} Look;

static const char *
entry_of(const SshRequest *request)
{
  return ssh_request_argument(request, "once");
}

static gboolean
takes_back(const SshRequest *request)
{
  return *entry_of(request) == '\0';
}

/* ---- The keeper --------------------------------------------------------------------------------
 */

static void
tell(const SshOnce *once, const char *format, const char *what)
{
  const Layout *layout = once->ssh->layout;
  g_autofree char *said = g_strdup_printf(format, what);
  g_autofree char *text = g_strconcat(layout->nodes[layout->boot_server].name, ": ", said, NULL);
  Event event = {.kind = EVENT_LINE, .line = {.node = NODE_NONE, .stream = "out", .text = text}};
  ssh_post(once->ssh, &event);
}

/* `N ok` or `N failed WHY`. */
static void
take_answer(SshOnce *once, const char *line)
{
  char *end;
  guint order = (guint)strtoul(line, &end, 10);
  SshTarget *target = g_hash_table_lookup(once->orders, GUINT_TO_POINTER(order));
  if (target == NULL)
    return; /* nobody waits for it any more */
  if (strcmp(end, " ok") == 0)
    ssh_target_result(target, VERDICT_OK, NULL);
  else
    ssh_target_result(target, VERDICT_FAILED,
                      takes_back(target->request) ? "its boot-once file is not taken back: %s"
                                                  : "no boot-once file: %s",
                      g_str_has_prefix(end, " failed ") ? end + strlen(" failed ") : line);
}

static void
on_line(SshCommand *command, gboolean is_error, const char *text, gsize length, gpointer data)
{
  SshOnce *once = data;
  g_autofree char *shown = ssh_printable(text, length, SHOWN_MAX);
  (void)command;
  if (is_error)
    tell(once, "boot-once files: %s", shown);
  else if (g_str_has_prefix(shown, "stale "))
    tell(once, "%s, a boot-once file that an earlier session could not take back, is gone",
         shown + strlen("stale "));
  else if (strcmp(shown, "ready") != 0)
    take_answer(once, shown);
}

/* In the order they were given: the table's own is none. */
static gint
compare_orders(gconstpointer a, gconstpointer b)
{
  guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);
  return x < y ? -1 : x > y;
}

static void
on_ended(SshCommand *command, const SshEnd *end, gpointer data)
{
  SshOnce *once = data;
  g_autoptr(GList) orders = g_list_sort(g_hash_table_get_keys(once->orders), compare_orders);
  (void)command;
  once->keeper = NULL;
  if (end->kind == SSH_LOST)
    tell(once, "%s; what there was of boot-once files the host takes back", end->text);
  for (GList *item = orders; item != NULL; item = item->next) {
    SshTarget *target = g_hash_table_lookup(once->orders, item->data);
    if (target != NULL)
      ssh_target_result(target, end->kind == SSH_LOST ? VERDICT_UNKNOWN : VERDICT_FAILED,
                        "its boot-once file: %s", end->text);
  }
}

/* Below the root, unless it is absolute. */
static char *
folder(const Layout *layout, const char *path)
{
  return path == NULL   ? NULL
         : *path == '/' ? g_strdup(path)
                        : g_build_filename(layout->boot_root, path, NULL);
}

static void
start_keeper(SshOnce *once, SshLink *link)
{
  static const SshCommandCalls calls = {.line = on_line, .ended = on_ended};
  const Layout *layout = once->ssh->layout;
  g_autofree char *pxelinux = folder(layout, layout->boot_once.pxelinux);
  g_autofree char *ipxe = folder(layout, layout->boot_once.ipxe);
  g_autofree char *line = ssh_once_keeper_line(ssh_link_shell(link), pxelinux, ipxe);
  SshCommandSpec spec = {.line = line, .reads = TRUE};
  once->keeper = ssh_command_start(link, &spec, &calls, once);
}

static SshOnce *
once_of(SshBackend *ssh)
{
  if (ssh->once == NULL) {
    ssh->once = g_new0(SshOnce, 1);
    ssh->once->ssh = ssh;
    ssh->once->orders = g_hash_table_new(NULL, NULL);
  }
  return ssh->once;
}

void
ssh_once_free(SshOnce *once)
{
  if (once == NULL)
    return;
  ssh_command_forget(once->keeper);
  g_hash_table_unref(once->orders);
  g_free(once);
}

/* ---- Orders ------------------------------------------------------------------------------------
 */

static char *
encoded(char *text)
{
  if (text == NULL)
    return g_strdup("-");
  char *base64 = g_base64_encode((const guchar *)text, strlen(text));
  g_free(text);
  return base64;
}

static char *
order_line(const SshTarget *target, guint order)
{
  const Layout *layout = target->request->ssh->layout;
  const LayoutBootOnce *once = &layout->boot_once;
  const char *entry = entry_of(target->request);
  g_autofree char *mac = pxe_once_mac(&layout->nodes[target->node].mac);
  if (takes_back(target->request))
    return g_strdup_printf("back %u %s\n", order, mac);
  g_autofree char *pxelinux =
      encoded(once->pxelinux ? pxe_once_pxelinux(layout->boot_menu, entry) : NULL);
  g_autofree char *ipxe = encoded(once->ipxe ? pxe_once_ipxe(once->chain, entry) : NULL);
  return g_strdup_printf("put %u %s %s %s\n", order, mac, pxelinux, ipxe);
}

static void
give_order(SshTarget *target)
{
  SshOnce *once = once_of(target->request->ssh);
  if (!target->request->ssh->layout->nodes[target->node].has_mac) {
    ssh_target_result(target, VERDICT_FAILED, "no boot-once file: the layout has no mac of it");
    return;
  }
  if (once->keeper == NULL)
    start_keeper(once, target->link);
  g_autofree char *line = order_line(target, once->last + 1);
  if (!ssh_command_write(once->keeper, line, strlen(line))) {
    ssh_target_result(target, VERDICT_FAILED,
                      "no boot-once file: the boot server does not keep up");
    return;
  }
  target->data = GUINT_TO_POINTER(++once->last);
  g_hash_table_insert(once->orders, target->data, target);
}

/* With its last result the request is gone. */
static void
give_orders(SshRequest *request)
{
  guint left = request->n_open;
  for (guint i = 0; left > 0; i++)
    if (request->targets[i].open) {
      left--;
      give_order(&request->targets[i]);
    }
}

static void
refuse_all(SshRequest *request, const char *why)
{
  guint left = request->n_open;
  for (guint i = 0; left > 0; i++)
    if (request->targets[i].open) {
      left--;
      ssh_target_result(&request->targets[i], VERDICT_FAILED, "no boot-once file: %s", why);
    }
}

static void
on_menu(const char *failure, gpointer data)
{
  SshRequest *request = data;
  const Look *look = request->data;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) entries = failure == NULL ? pxe_edit_entries(look->edit) : NULL;
  if (failure != NULL)
    refuse_all(request, failure);
  else if (!pxe_once_check(entries, entry_of(request), &error))
    refuse_all(request, error->message);
  else
    give_orders(request);
}

static void
begin(SshRequest *request)
{
  const Layout *layout = request->ssh->layout;
  if (layout->boot_root == NULL || !layout_boots_once(layout))
    refuse_all(request, "the layout does not say where: boot: {root: DIR, once: ...}");
  else if (takes_back(request))
    give_orders(request);
  else if (!pxe_once_is_name(entry_of(request)))
    refuse_all(request, "its entry is no word");
  else if (layout->boot_once.pxelinux == NULL)
    give_orders(request);
  else {
    Look *look = request->data = g_new0(Look, 1);
    look->edit = pxe_edit_new_show(layout->boot_menu);
    look->read = ssh_menu_read_new(request->targets[0].link, layout->boot_root, look->edit, on_menu,
                                   request);
  }
}

static void
stop(SshTarget *target, Verdict why)
{
  if (ORDER(target) != 0)
    ssh_target_result(target, VERDICT_UNKNOWN, "its boot-once file was being %s",
                      takes_back(target->request) ? "taken back" : "written");
  else
    ssh_target_result(target, why, "no boot-once file yet: %s",
                      why == VERDICT_CANCELLED ? "cancelled" : ssh_link_trouble(target->link));
}

static void
free_target(SshTarget *target)
{
  if (ORDER(target) != 0)
    g_hash_table_remove(target->request->ssh->once->orders, target->data);
  target->data = NULL;
}

static void
free_look(gpointer data)
{
  Look *look = data;
  if (look == NULL)
    return;
  ssh_menu_read_free(look->read);
  pxe_edit_free(look->edit);
  g_free(look);
}

const SshOperation ssh_once_operation = {.begin = begin,
                                         .stop = stop,
                                         .at_boot_server = TRUE,
                                         .free_target = free_target,
                                         .free_data = free_look};
