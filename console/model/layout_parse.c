#include "model/layout_private.h"
#include "model/layout_setting_private.h"

#include <string.h>

#define MAX_LAB 100
#define MAX_NOTE 4096

static const char *const sections[] = {"lab",      "note",  "defaults",  "subnets", "routers",
                                       "switches", "links", "servers",   "clients", "rooms",
                                       "blocks",   "boot",  "deadlines", "limits",  "backends",
                                       "control",  "jobs",  NULL};

static void
read_head(LayoutParser *parser)
{
  const YamlNode *lab = yaml_get_scalar(parser->root, "lab", parser->errors);
  const YamlNode *note = yaml_get_scalar(parser->root, "note", parser->errors);

  yaml_require(parser->root, parser->root, "layout", "lab", parser->errors);
  if (lab != NULL)
    yaml_read_line(lab, MAX_LAB, &parser->layout->lab, parser->errors);
  if (note == NULL)
    return;
  if (strlen(note->text) > MAX_NOTE) {
    yaml_errors_add(parser->errors, note, "a note of %zu bytes: at most %d", strlen(note->text),
                    MAX_NOTE);
    return;
  }
  g_free(parser->layout->note);
  parser->layout->note = g_strdup(note->text);
}

/* Its `server` is read when servers are known. */
static const YamlNode *
read_defaults(LayoutParser *parser)
{
  static const char *const known[] = {"power", "keys",  "exec",   "console",
                                      "wake",  "meter", "server", NULL};
  const YamlNode *map = yaml_get_map(parser->root, "defaults", parser->errors);

  if (map == NULL)
    return NULL;
  yaml_check_keys(map, known, parser->errors);
  layout_read_backends(parser, map, parser->default_backend);
  return yaml_get_scalar(map, "server", parser->errors);
}

static void
read_sections(LayoutParser *parser)
{
  if (parser->root->kind != YAML_MAP) {
    layout_seal_nodes(parser);
    yaml_errors_add(parser->errors, parser->root, "a layout is a map that begins with lab: NAME");
    return;
  }
  yaml_check_keys(parser->root, sections, parser->errors);
  read_head(parser);
  const YamlNode *server = read_defaults(parser);
  layout_read_subnets(parser);
  layout_read_switches(parser);
  layout_read_routers(parser);
  layout_read_servers(parser);
  layout_read_links(parser);
  if (server != NULL)
    parser->default_server = layout_find_kind(parser, server, NODE_SERVER);
  layout_read_clients(parser);
  layout_seal_nodes(parser);
  layout_check_addresses(parser);
  layout_check_exports(parser);
  layout_check_reach(parser);
  layout_read_rooms(parser);
  layout_read_blocks(parser);
  layout_read_boot(parser);
  layout_read_deadlines(parser);
  layout_read_limits(parser);
  layout_read_backend_settings(parser);
  layout_read_control(parser);
  layout_read_jobs(parser);
}

static Layout *
layout_new(const char *file_name, const char *text, gsize length)
{
  Layout *layout = g_new0(Layout, 1);

  layout->file = g_strdup(file_name);
  layout->text = g_strndup(text, length);
  layout->sha256 = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
  layout->note = g_strdup("");
  layout->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  layout->backends = g_ptr_array_new_with_free_func(layout_backend_free);
  layout->controls = g_ptr_array_new_with_free_func(layout_control_free);
  layout->jobs = g_ptr_array_new_with_free_func(layout_job_word_free);
  layout_boot_defaults(layout);
  return layout;
}

Layout *
layout_parse(const char *file_name, const char *text, gsize length, GError **error)
{
  g_autoptr(YamlFile) file = yaml_parse(file_name, text, length, error);

  if (file == NULL)
    return NULL;
  g_autoptr(YamlErrors) errors = yaml_errors_new(file_name);
  g_autoptr(Layout) layout = layout_new(file_name, text, length);
  g_autoptr(GArray) origins = g_array_new(FALSE, FALSE, sizeof(LayoutOrigin));
  g_autoptr(GArray) macs = g_array_new(FALSE, FALSE, sizeof(LayoutAddress));
  g_autoptr(GArray) ips = g_array_new(FALSE, FALSE, sizeof(LayoutAddress));
  LayoutParser parser = {.root = yaml_root(file),
                         .errors = errors,
                         .layout = layout,
                         .nodes = g_array_new(FALSE, FALSE, sizeof(LayoutNode)),
                         .origins = origins,
                         .macs = macs,
                         .ips = ips,
                         .default_server = NODE_NONE};

  read_sections(&parser);
  g_free(parser.all);
  if (yaml_errors_count(errors) == 0)
    return g_steal_pointer(&layout);
  g_autofree char *message = yaml_errors_text(errors);
  g_set_error_literal(error, LAYOUT_ERROR, 0, message);
  return NULL;
}
