#include "model/layout_private.h"

#include <string.h>

#define MAX_STARTS 1000 /* a second */
#define MAX_ENTRY 64
#define MAX_PATH 1024
#define HOUR 3600.0

/* The published parameters; each stands as the formula and the figure it follows from. */

/* Goodput of one Gigabit port, B/s: 1448 B of payload in a frame that takes 1538 B of wire. */
#define GE (125e6 * 1448 / 1538)
#define NBD_REQUEST 131072.0

void
layout_boot_defaults(Layout *layout)
{
  layout->boot_profile = g_strdup("pxe");
  layout->boot_menu = g_strdup("pxelinux.cfg/default");
  layout->boot_server = NODE_NONE;
  layout->boot = (BootModel){
      /* assumed, not fitted: */
      .reads = 20,
      .firmware = 5,
      .dhcp = 1,
      .start_delay = 1,
      .tftp_bytes = 14e6,
      .tftp_cap = 1408 / 0.25e-3, /* a block of 1408 B answered every 0.25 ms */
      .initramfs = 2,
      .nfs_service = 0.5e-3,
      .nfs_rsize = 32768,
      .nbd_ratio = 2.0 / 5, /* SquashFS : NFS tree in space */
      .nbd_request = NBD_REQUEST,
      .tick = 0.1,
      /* fixed by the single-room test: */
      .bytes = 271.5e6,                                       /* 16 NBD boots in 24 s */
      .cpu = 6.97,                                            /* one NBD boot in 18 s */
      .nfs_cap = 24.62e6,                                     /* one NFS boot in 18 s */
      .nbd_t0 = NBD_REQUEST / (175e6 / 8) - NBD_REQUEST / GE, /* one reader gets 175 Mbit/s */
      .nbd_rate = 1.75e9 / 8 / NBD_REQUEST,                   /* all readers 1.75 Gbit/s */
  };
  static const gint64 seconds[DEADLINE_N] = {
      [DEADLINE_STATUS] = 5, [DEADLINE_ON] = 30,        [DEADLINE_OFF] = 30,
      [DEADLINE_RESET] = 30, [DEADLINE_SOFT_OFF] = 120, [DEADLINE_CONNECT] = 10,
      [DEADLINE_WAIT] = 600, [DEADLINE_PAUSE] = 5,
  };
  for (guint i = 0; i < DEADLINE_N; i++)
    layout->deadline[i] = seconds[i] * TIME_SECOND;
  layout_stages_default(layout);
}

#define FIELD(name) offsetof(BootModel, name)

/* In base units of the dimension; SCALE makes BootModel's unit of it. */
static const struct {
  const char *key;
  gsize offset;
  Dimension dimension;
  double min, max, scale;
} parameters[] = {
    {"firmware", FIELD(firmware), DIMENSION_TIME, 0, HOUR, 1},
    {"dhcp", FIELD(dhcp), DIMENSION_TIME, 0, HOUR, 1},
    {"start-delay", FIELD(start_delay), DIMENSION_TIME, 0, HOUR, 1},
    {"tftp-bytes", FIELD(tftp_bytes), DIMENSION_SIZE, 0, 1e12, 1},
    {"tftp-cap", FIELD(tftp_cap), DIMENSION_RATE, 8, 1e12, 1.0 / 8},
    {"initramfs", FIELD(initramfs), DIMENSION_TIME, 0, HOUR, 1},
    {"bytes", FIELD(bytes), DIMENSION_SIZE, 0, 1e15, 1},
    {"cpu", FIELD(cpu), DIMENSION_TIME, 0, HOUR, 1},
    {"nfs-cap", FIELD(nfs_cap), DIMENSION_RATE, 8, 1e12, 1.0 / 8},
    {"nfs-service", FIELD(nfs_service), DIMENSION_TIME, 0, HOUR, 1},
    {"nfs-rsize", FIELD(nfs_rsize), DIMENSION_SIZE, 512, 1e9, 1},
    {"nbd-ratio", FIELD(nbd_ratio), DIMENSION_PERCENT, 0.01, 1, 1},
    {"nbd-request", FIELD(nbd_request), DIMENSION_SIZE, 512, 1e9, 1},
    {"nbd-t0", FIELD(nbd_t0), DIMENSION_TIME, 0, HOUR, 1},
    {"nbd-rate", FIELD(nbd_rate), DIMENSION_COUNT, 1, 1e9, 1},
    {"tick", FIELD(tick), DIMENSION_TIME, 0.001, 60, 1},
};

static void
read_simulate(LayoutParser *parser, const YamlNode *map)
{
  const char *known[G_N_ELEMENTS(parameters) + 2] = {"reads"};
  BootModel *boot = &parser->layout->boot;
  const YamlNode *reads = yaml_get_scalar(map, "reads", parser->errors);

  for (guint i = 0; i < G_N_ELEMENTS(parameters); i++)
    known[i + 1] = parameters[i].key;
  yaml_check_keys(map, known, parser->errors);
  if (reads != NULL)
    yaml_read_count(reads, 1, 1000, &boot->reads, parser->errors);
  for (guint i = 0; i < G_N_ELEMENTS(parameters); i++) {
    const YamlNode *value = yaml_get_scalar(map, parameters[i].key, parser->errors);
    double number;
    if (value != NULL && yaml_read_quantity(value, parameters[i].dimension, parameters[i].min,
                                            parameters[i].max, &number, parser->errors))
      G_STRUCT_MEMBER(double, boot, parameters[i].offset) = number * parameters[i].scale;
  }
}

/* What is left of Tcpu when the TFTP time at its cap and the initramfs are taken out is spread over
 * the reads; it cannot be negative. */
static void
check_cpu(LayoutParser *parser, const YamlNode *map)
{
  const BootModel *boot = &parser->layout->boot;
  double least = boot->tftp_bytes / boot->tftp_cap + boot->initramfs;

  if (boot->cpu >= least)
    return;
  g_autofree char *cpu = units_fixed(boot->cpu, 2), *low = units_fixed(least, 2);
  yaml_errors_add(parser->errors, map,
                  "cpu (%s s) includes TFTP at its cap and the initramfs: at least %s s", cpu, low);
}

static gboolean
is_menu_entry(const char *text)
{
  const char *protocol = strstr(text, "::");

  if (!g_ascii_isalnum(*text) || strlen(text) > MAX_ENTRY)
    return FALSE;
  for (const char *p = text; *p != '\0'; p++) {
    if (!g_ascii_isalnum(*p) && strchr("._-:", *p) == NULL)
      return FALSE;
  }
  return protocol == NULL || strcmp(protocol, "::nfs") == 0 || strcmp(protocol, "::nbd") == 0;
}

/* A way out of the root would be one for what is written there. */
static void
read_below_root(LayoutParser *parser, const YamlNode *path, char **place)
{
  if (path == NULL)
    return;
  if (*path->text == '/' || strstr(path->text, "..") != NULL)
    yaml_errors_add(parser->errors, path, "\"%s\" is no path below root", path->text);
  else
    yaml_read_line(path, MAX_PATH, place, parser->errors);
}

static void
read_once(LayoutParser *parser, const YamlNode *boot)
{
  static const char *const known[] = {"pxelinux", "ipxe", "chain", NULL};
  LayoutBootOnce *once = &parser->layout->boot_once;
  const YamlNode *map = yaml_get_map(boot, "once", parser->errors);

  if (map == NULL)
    return;
  yaml_check_keys(map, known, parser->errors);
  const YamlNode *pxelinux = yaml_get_scalar(map, "pxelinux", parser->errors);
  const YamlNode *ipxe = yaml_get_scalar(map, "ipxe", parser->errors);
  const YamlNode *chain = yaml_get_scalar(map, "chain", parser->errors);
  read_below_root(parser, pxelinux, &once->pxelinux);
  if (ipxe != NULL && *ipxe->text == '/')
    yaml_read_line(ipxe, MAX_PATH, &once->ipxe, parser->errors);
  else
    read_below_root(parser, ipxe, &once->ipxe);
  once->chain = g_strdup("../{entry}.ipxe");
  if (chain != NULL && (strstr(chain->text, "{entry}") == NULL || strchr(chain->text, ' ') != NULL))
    yaml_errors_add(parser->errors, chain, "\"%s\" is no URI with {entry} in it", chain->text);
  else if (chain != NULL)
    yaml_read_line(chain, MAX_PATH, &once->chain, parser->errors);
  if (parser->layout->boot_root == NULL)
    yaml_errors_add(parser->errors, map, "once wants root: what the boot server has for machines");
  else if (pxelinux == NULL && ipxe == NULL)
    yaml_errors_add(parser->errors, map, "once wants a folder for pxelinux or ipxe");
}

static void
read_menu(LayoutParser *parser, const YamlNode *map)
{
  Layout *layout = parser->layout;
  const YamlNode *server = yaml_get_scalar(map, "server", parser->errors);
  const YamlNode *root = yaml_get_scalar(map, "root", parser->errors);
  const YamlNode *menu = yaml_get_scalar(map, "menu", parser->errors);

  layout->boot_server =
      server != NULL ? layout_find_kind(parser, server, NODE_SERVER) : parser->default_server;
  if (root != NULL && *root->text != '/')
    yaml_errors_add(parser->errors, root, "\"%s\" is no absolute path", root->text);
  else if (root != NULL)
    yaml_read_line(root, MAX_PATH, &layout->boot_root, parser->errors);
  read_below_root(parser, menu, &layout->boot_menu);
  read_once(parser, map);
}

void
layout_read_boot(LayoutParser *parser)
{
  static const char *const known[] = {"default", "profile",  "keys",     "stages",
                                      "sources", "consoles", "simulate", "server",
                                      "root",    "menu",     "once",     NULL};
  Layout *layout = parser->layout;
  const YamlNode *map = yaml_get_map(parser->root, "boot", parser->errors);

  if (map == NULL)
    return;
  yaml_check_keys(map, known, parser->errors);
  const YamlNode *entry = yaml_get_scalar(map, "default", parser->errors);
  const YamlNode *profile = yaml_get_scalar(map, "profile", parser->errors);
  const YamlNode *simulate = yaml_get_map(map, "simulate", parser->errors);
  if (entry != NULL && is_menu_entry(entry->text))
    yaml_read_line(entry, MAX_ENTRY, &layout->boot_entry, parser->errors);
  else if (entry != NULL)
    yaml_errors_add(parser->errors, entry, "\"%s\" is no menu entry: NAME, NAME::nfs or NAME::nbd",
                    entry->text);
  if (profile != NULL && layout_check_name(parser, profile, profile->text))
    yaml_read_line(profile, LAYOUT_MAX_NAME, &layout->boot_profile, parser->errors);
  layout_read_boot_keys(parser, map);
  read_menu(parser, map);
  layout_read_stages(parser, map);
  if (simulate != NULL) {
    read_simulate(parser, simulate);
    check_cpu(parser, simulate);
  }
}

/* The key's time, if it is there and can be one. */
static void
read_deadline(LayoutParser *parser, const YamlNode *map, const char *key, gboolean may_be_none,
              gint64 *deadline)
{
  const YamlNode *value = yaml_get_scalar(map, key, parser->errors);
  g_autoptr(GError) error = NULL;
  gint64 duration;

  if (value == NULL)
    return;
  if (!units_parse_duration(value->text, &duration, &error))
    yaml_errors_add(parser->errors, value, "%s", error->message);
  else if ((duration == 0 && !may_be_none) || duration > 24 * 3600 * TIME_SECOND)
    yaml_errors_add(parser->errors, value, "a deadline of %s: more than 0 s, at most 24 h",
                    value->text);
  else
    *deadline = duration;
}

/* Behind `boot`, which may name stages of its own. */
void
layout_read_deadlines(LayoutParser *parser)
{
  static const char *const keys[DEADLINE_N] = {
      [DEADLINE_STATUS] = "status",     [DEADLINE_ON] = "on",
      [DEADLINE_OFF] = "off",           [DEADLINE_RESET] = "reset",
      [DEADLINE_SOFT_OFF] = "soft-off", [DEADLINE_CONNECT] = "connect",
      [DEADLINE_WAIT] = "wait",         [DEADLINE_PAUSE] = "pause",
  };
  Layout *layout = parser->layout;
  const YamlNode *map = yaml_get_map(parser->root, "deadlines", parser->errors);
  const char *known[DEADLINE_N + LAYOUT_MAX_STAGES + 1] = {NULL};
  guint n_known = 0;

  if (map == NULL)
    return;
  for (guint i = 0; i < DEADLINE_N; i++)
    known[n_known++] = keys[i];
  for (guint i = 1; i + 1 < layout->n_stages; i++)
    known[n_known++] = layout->stages[i].name;
  yaml_check_keys(map, known, parser->errors);
  for (guint i = 0; i < DEADLINE_N; i++)
    read_deadline(parser, map, keys[i], i == DEADLINE_PAUSE, &layout->deadline[i]);
  for (guint i = 1; i + 1 < layout->n_stages; i++)
    read_deadline(parser, map, layout->stages[i].name, FALSE, &layout->stages[i].deadline);
  layout->stages[0].deadline = layout->stages[1].deadline;
}

void
layout_read_limits(LayoutParser *parser)
{
  static const char *const known[] = {"starts", NULL};
  const YamlNode *map = yaml_get_map(parser->root, "limits", parser->errors);

  if (map == NULL)
    return;
  yaml_check_keys(map, known, parser->errors);
  const YamlNode *starts = yaml_get_scalar(map, "starts", parser->errors);
  if (starts != NULL)
    yaml_read_count(starts, 1, MAX_STARTS, &parser->layout->starts, parser->errors);
}
