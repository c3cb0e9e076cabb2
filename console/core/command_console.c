/* `console SET [off]`. */
#include "core/command_parser.h"

static gboolean
take_off(Parser *parser, Command *command)
{
  (void)parser;
  command->console_off = TRUE;
  return TRUE;
}

gboolean
parser_console(Parser *parser, Command *command)
{
  static const ParserOption options[] = {{"off", 0, take_off}, {NULL, 0, NULL}};

  return parser_set(parser, &command->set) && parser_options(parser, command, options, NULL);
}
