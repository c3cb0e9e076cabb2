/* `keys SET KEY…`, `type SET "text"` and `route NODE|next|back`. */
#include "core/command_parser.h"

#include "model/keyboard.h"

#include <string.h>

static gboolean
take_including(Parser *parser, Command *command)
{
  if (!parser_pass(parser, "in-use"))
    return parser_fail(parser, parser_column(parser), "\"in-use\" is due after \"including\"");
  command->including_in_use = TRUE;
  return TRUE;
}

static const ParserOption options[] = {{"including", 0, take_including}, {NULL, 0, NULL}};

static gboolean
is_option(const Word *word)
{
  return word_is(word, options[0].word);
}

gboolean
parser_keys(Parser *parser, Command *command)
{
  g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
  if (!parser_set(parser, &command->set))
    return FALSE;
  for (const Word *word; (word = parser_peek(parser)) != NULL && !is_option(word); parser->at++) {
    g_autoptr(GError) error = NULL;
    char *key = keyboard_key(word->text, &error);
    if (key == NULL)
      return parser_fail(parser, word->column, "%s", error->message);
    g_ptr_array_add(keys, key);
    if (keys->len > COMMAND_KEYS_MAX)
      return parser_fail(parser, word->column, "more than %d keys", COMMAND_KEYS_MAX);
  }
  if (keys->len == 0)
    return parser_fail(parser, parser_column(parser),
                       "a key is missing, such as F12 or Ctrl-Alt-Delete");
  g_ptr_array_add(keys, NULL);
  command->press = (char **)g_ptr_array_steal(keys, NULL);
  return parser_options(parser, command, options, NULL);
}

/* Which characters a seat's keyboard has is known when it is typed. */
gboolean
parser_type(Parser *parser, Command *command)
{
  if (!parser_set(parser, &command->set))
    return FALSE;
  guint column = parser_column(parser);
  if (!parser_text(parser, "a text", &command->text))
    return FALSE;
  if (g_utf8_strlen(command->text, -1) > COMMAND_KEYS_MAX)
    return parser_fail(parser, column, "more than %d characters", COMMAND_KEYS_MAX);
  const Word *word = parser_peek(parser);
  if (word != NULL && !is_option(word))
    return parser_fail(parser, word->column, "a text of several words stands in quotes");
  return parser_options(parser, command, options, NULL);
}

/* A node of that name stands in quotes. */
gboolean
parser_route(Parser *parser, Command *command)
{
  command->route = parser_pass(parser, "back")   ? ROUTE_BACK
                   : parser_pass(parser, "next") ? ROUTE_NEXT
                                                 : ROUTE_NODE;
  if (command->route == ROUTE_BACK)
    return parser_end(parser);
  if (command->route == ROUTE_NODE && !parser_set(parser, &command->set))
    return FALSE;
  return parser_options(parser, command, options, NULL);
}

static void
print_route(GString *out, const Command *command)
{
  if (command->route != ROUTE_NODE)
    g_string_append(out, command->route == ROUTE_NEXT ? " next" : " back");
  else if (g_str_equal(command->set, "next") || g_str_equal(command->set, "back"))
    g_string_append_printf(out, " \"%s\"", command->set);
  else
    command_print_argument(out, command->set);
}

void
command_print_keys(GString *out, const Command *command)
{
  g_string_append(out, command->verb == VERB_ROUTE  ? "route"
                       : command->verb == VERB_TYPE ? "type"
                                                    : "keys");
  if (command->verb == VERB_ROUTE) {
    print_route(out, command);
  } else {
    command_print_argument(out, command->set);
    for (guint i = 0; command->press != NULL && command->press[i] != NULL; i++)
      g_string_append_printf(out, " %s", command->press[i]);
  }
  if (command->verb == VERB_TYPE) {
    g_string_append_c(out, ' ');
    words_print(out, command->text);
  }
  g_string_append(out, command->including_in_use ? " including in-use" : "");
}
