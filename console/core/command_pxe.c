/* `pxe show`. */
#include "core/command_parser.h"

gboolean
parser_pxe(Parser *parser, Command *command)
{
  static const char *const actions[] = {"show", NULL};
  int action;
  (void)command;
  return parser_choice(parser, "a pxe action", actions, &action) && parser_end(parser);
}
