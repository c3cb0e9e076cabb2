#include "core/command_words.h"

void
command_free(Command *command)
{
  if (command == NULL)
    return;
  g_free(command->set);
  g_free(command->label);
  g_free(command->via);
  g_free(command->entry);
  g_free(command->target);
  g_free(command->stage);
  g_free(command->job);
  g_strfreev(command->press);
  g_strfreev(command->keys);
  g_strfreev(command->values);
  g_strfreev(command->sources);
  g_free(command->figure);
  g_free(command->value_text);
  g_free(command->clock);
  g_free(command->path);
  g_free(command->text);
  g_free(command->setting);
  g_free(command);
}

gboolean
command_disturbs(const Command *command)
{
  switch (command->verb) {
  case VERB_POWER:
    return command->power != POWER_STATUS;
  case VERB_BOOT:
  case VERB_SET:
  case VERB_KEYS:
  case VERB_TYPE:
    return TRUE;
  case VERB_LOAD:
    return !command->load_stop && command->cache == CACHE_COLD;
  case VERB_PXE:
    return command->menu != MENU_SHOW;
  default:
    return FALSE;
  }
}

/* ERROR's message with its place before it. */
static void
prefix_column(GError **error, guint column)
{
  g_prefix_error(error, "column %u: ", column);
}

Command *
command_parse(const char *text, GError **error)
{
  guint column;
  Command *command = command_parse_at(text, &column, error);
  if (command == NULL)
    prefix_column(error, column);
  return command;
}

/* Called for each command of a line with its bytes; FALSE ends with *COLUMN in the line. */
typedef gboolean (*LineVisit)(const char *command, guint before, guint *column, gpointer data,
                              GError **error);

static gboolean
visit_line(const char *line, LineVisit visit, gpointer data, GError **error)
{
  guint column;
  g_autoptr(GArray) words = words_read(line, COMMAND_LINE_MAX, &column, error);
  if (words == NULL) {
    prefix_column(error, column);
    return FALSE;
  }
  for (guint i = 0; i < words->len; i++) {
    if (words_at(words, i)->separator)
      continue;
    const Word *first = words_at(words, i);
    while (i + 1 < words->len && !words_at(words, i + 1)->separator)
      i++;
    g_autofree char *command =
        g_strndup(line + first->start, words_at(words, i)->end - first->start);
    if (!visit(command, first->column - 1, &column, data, error)) {
      prefix_column(error, column);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
keep_command(const char *command, guint before, guint *column, gpointer data, GError **error)
{
  (void)before, (void)column, (void)error;
  g_ptr_array_add(data, g_strdup(command));
  return TRUE;
}

char **
command_split(const char *line, GError **error)
{
  g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
  if (!visit_line(line, keep_command, commands, error))
    return NULL;
  g_ptr_array_add(commands, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&commands), FALSE);
}

static gboolean
check_command(const char *command, guint before, guint *column, gpointer data, GError **error)
{
  (void)data;
  g_autoptr(Command) parsed = command_parse_at(command, column, error);
  *column += before;
  return parsed != NULL;
}

gboolean
command_check_line(const char *line, GError **error)
{
  return visit_line(line, check_command, NULL, error);
}
