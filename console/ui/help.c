/* Help: made from the bindings and the verbs that are really there. */
#include "ui/view.h"

#include "core/command.h"

#define KEYS_COLUMNS 12

static void
add_head(GPtrArray *lines, const char *text)
{
  if (lines->len > 0)
    g_ptr_array_add(lines, g_strdup(""));
  g_ptr_array_add(lines, g_strdup(text));
}

/* `  KEYS      what they do`, the rest of what they do below. */
static void
add_entry(GPtrArray *lines, int columns, const char *keys, const char *text)
{
  g_autoptr(GPtrArray) wrapped = text_wrap(text, columns - KEYS_COLUMNS - 2);
  for (guint i = 0; i < wrapped->len; i++)
    g_ptr_array_add(lines, g_strdup_printf("  %-*s%s", KEYS_COLUMNS, i ? "" : keys,
                                           (const char *)wrapped->pdata[i]));
}

static void
add_keys(GPtrArray *lines, int columns)
{
  for (guint i = 0; i < bindings_count(); i++) {
    const char *keys;
    g_autofree char *help = bindings_describe(i, &keys);
    add_entry(lines, columns, keys, help);
  }
}

/* LINE broken to COLUMNS, every line behind INDENT and a rest two further. */
static void
add_wrapped(GPtrArray *lines, int columns, int indent, const char *line)
{
  g_autoptr(GPtrArray) wrapped = text_wrap(line, columns - indent - 2);
  for (guint i = 0; i < wrapped->len; i++)
    g_ptr_array_add(
        lines, g_strdup_printf("%*s%s", indent + (i ? 2 : 0), "", (const char *)wrapped->pdata[i]));
}

static void
add_commands(GPtrArray *lines, int columns)
{
  for (const VerbInfo *verb = command_verbs; verb->name; verb++) {
    add_wrapped(lines, columns, 2, verb->synopsis);
    add_wrapped(lines, columns, 6, verb->summary);
  }
}

static GPtrArray *
help_lines(const Canvas *canvas, int columns)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  add_head(lines, "Keys");
  add_keys(lines, columns);
  add_head(lines, "Beside a seat's number");
  add_entry(lines, columns, "-  ?  !  ~", "off, unknown, error, stale samples");
  add_entry(lines, columns, "f d t k i r",
            "booting: firmware, dhcp, tftp, kernel, initramfs, root file system");
  add_entry(lines, columns, "a bar", "what it receives, or sends when that is more");
  add_entry(lines, columns, "a dot, u", "up and idle, up and in use");
  add_entry(lines, columns, "L", "off, or up and idle, and reserved (its card tells why)");
  add_head(lines, "Behind a figure");
  add_entry(lines, columns, traffic_sign(canvas, TRUE),
            "it goes from the seats to their server: what they write");
  add_head(lines, "Views");
  for (ViewIndex i = 0; i < VIEW_N; i++)
    add_entry(lines, columns, ui_views[i]->name, ui_views[i]->about);
  add_head(lines, "Commands, after a colon; `pult help COMMAND` tells more");
  add_commands(lines, columns);
  return lines;
}

static void
help_draw(Ui *ui, Canvas *canvas, Area area)
{
  g_autoptr(GPtrArray) lines = help_lines(canvas, area.columns - 2);
  int *scroll = &ui->scroll[VIEW_HELP];
  *scroll = CLAMP(*scroll, 0, MAX(0, (int)lines->len - area.rows));
  for (int row = 0; row < area.rows && row + *scroll < (int)lines->len; row++) {
    const char *line = lines->pdata[row + *scroll];
    canvas_put(canvas, area.row + row, area.column + 1, area.columns - 2,
               line[0] && line[0] != ' ' ? STYLE_FOCUS : STYLE_NORMAL, line);
  }
}

static void
help_move(Ui *ui, Move move)
{
  ui_scroll(ui, move, FALSE);
}

const View view_help = {"help", "keys and commands", help_draw, help_move};
