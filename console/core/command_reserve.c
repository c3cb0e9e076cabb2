/* `reserve SET until TIME "why"` and `release SET`. */
#include "core/command_parser.h"

#include <string.h>

/* The number of so many digits that TEXT begins with; what follows it, or NULL. */
static const char *
take_digits(const char *text, guint digits, guint *value)
{
  *value = 0;
  for (guint i = 0; i < digits; i++) {
    if (!g_ascii_isdigit(text[i]))
      return NULL;
    *value = *value * 10 + (guint)(text[i] - '0');
  }
  return text + digits;
}

/* What follows SEPARATOR at TEXT; NULL when it does not stand there. */
static const char *
take_number(const char *text, char separator, guint digits, guint *value)
{
  return text != NULL && *text == separator ? take_digits(text + 1, digits, value) : NULL;
}

gboolean
command_clock_parse(const char *text, ClockTime *time)
{
  *time = (ClockTime){0};
  const char *at = text;
  if (strlen(text) > 5) {
    at = take_digits(text, 4, &time->year);
    at = take_number(at, '-', 2, &time->month);
    at = take_number(at, '-', 2, &time->day);
    if (at == NULL || *at++ != 'T' || time->year == 0 || time->month < 1 || time->month > 12 ||
        !g_date_valid_dmy((GDateDay)time->day, (GDateMonth)time->month, (GDateYear)time->year))
      return FALSE;
  }
  at = take_digits(at, 2, &time->hour);
  at = take_number(at, ':', 2, &time->minute);
  if (at != NULL && *at == ':' && time->year != 0)
    at = take_number(at, ':', 2, &time->second);
  return at != NULL && *at == 0 && time->hour < 24 && time->minute < 60 && time->second < 60;
}

static gboolean
take_until(Parser *parser, Command *command)
{
  if (!parser_pass(parser, "until"))
    return parser_fail(parser, parser_column(parser), "\"until\" and a time are due");
  const Word *word = parser_peek(parser);
  if (word == NULL || strpbrk(word->text, ":T") == NULL) {
    guint column = parser_column(parser);
    if (!parser_duration(parser, FALSE, &command->duration))
      return FALSE;
    return command->duration <= RESERVE_MAX ||
           parser_fail(parser, column, "a reservation lasts 366 days at most");
  }
  ClockTime time;
  if (!command_clock_parse(word->text, &time)) {
    g_autofree char *shown = words_shown(word->text);
    return parser_fail(parser, word->column,
                       "%s is no time: 18:00, 2026-12-02T18:00 or a duration is due", shown);
  }
  return parser_text(parser, "a time", &command->clock);
}

gboolean
parser_reserve(Parser *parser, Command *command)
{
  if (!parser_set(parser, &command->set) || !take_until(parser, command))
    return FALSE;
  guint column = parser_column(parser);
  if (!parser_text(parser, "the reason, \"why\",", &command->text))
    return FALSE;
  if (strlen(command->text) > RESERVE_WHY_MAX)
    return parser_fail(parser, column, "a reason has %d bytes at most", RESERVE_WHY_MAX);
  return parser_peek(parser) == NULL ||
         parser_fail(parser, parser_column(parser), "a reason of several words stands in quotes");
}

gboolean
parser_release(Parser *parser, Command *command)
{
  return parser_set(parser, &command->set) && parser_end(parser);
}
