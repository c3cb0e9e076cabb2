/* pxe show, set and undo. */
#include "core/command_parser.h"
#include "model/event.h"

#include <string.h>

/* As menus count. */
#define TENTH (TIME_SECOND / 10)

static gboolean
take_time(Parser *parser, Command *command)
{
  guint column = parser_column(parser);
  if (!parser_duration(parser, TRUE, &command->duration))
    return FALSE;
  return command->duration % TENTH == 0 ||
         parser_fail(parser, column, "menus count tenths of a second, and no parts of them");
}

/* What is typed stands in transcripts and histories, so the word itself must not be. */
static gboolean
take_password(Parser *parser, Command *command)
{
  guint column = parser_column(parser);
  g_autofree char *text = NULL;
  if (!parser_argument(parser, "file:PATH or env:NAME", &text))
    return FALSE;
  const char *colon = strchr(text, ':');
  if (colon == NULL || colon[1] == '\0' ||
      (!g_str_has_prefix(text, "file:") && !g_str_has_prefix(text, "env:")))
    return parser_fail(parser, column,
                       "a password is not typed here, where others come to read it: write it into "
                       "a file of your own (chmod 600) and say file:PATH, or env:NAME");
  command->text = g_steal_pointer(&text);
  return TRUE;
}

static gboolean
take_value(Parser *parser, Command *command)
{
  if (command_setting_is_time(command->setting))
    return take_time(parser, command);
  if (g_str_equal(command->setting, "password"))
    return take_password(parser, command);
  g_autofree char *what = g_strconcat("a ", command->setting, NULL);
  return parser_text(parser, what, &command->text);
}

gboolean
parser_pxe(Parser *parser, Command *command)
{
  static const char *const actions[] = {
      [MENU_SHOW] = "show", [MENU_SET] = "set", [MENU_UNDO] = "undo", NULL};
  static const char *const settings[] = {
      "default-entry", "timeout", "total-timeout", "title", "password", "theme", NULL};
  int action, setting;
  if (!parser_choice(parser, "a pxe action", actions, &action))
    return FALSE;
  command->menu = (MenuAction)action;
  if (command->menu != MENU_SET)
    return parser_end(parser);
  if (!parser_choice(parser, "a setting", settings, &setting))
    return FALSE;
  command->setting = g_strdup(settings[setting]);
  if (!take_value(parser, command))
    return FALSE;
  if (command->text != NULL && parser_peek(parser) != NULL)
    return parser_fail(parser, parser_column(parser), "a value of several words stands in quotes");
  return parser_end(parser);
}

gboolean
command_setting_is_time(const char *setting)
{
  return g_str_has_suffix(setting, "timeout");
}

char *
command_setting_value(const Command *command)
{
  if (command_setting_is_time(command->setting))
    return g_strdup_printf("%" G_GINT64_FORMAT, command->duration / TENTH);
  return g_strdup(command->text);
}
