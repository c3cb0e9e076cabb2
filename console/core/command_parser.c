#include "core/command_parser.h"

#include <string.h>

#define WORD_MAX 4096
#define OPTIONS_MAX 16

const char *const parser_reserved[] = {
    "soft",     "hard",    "stagger", "including", "via",    "entry", "cold", "warm",  "as",
    "at-least", "timeout", "for",     "during",    "window", "on",    "off",  "until", NULL};

gboolean
parser_fail(Parser *parser, guint column, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *message = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  *parser->error_column = column;
  g_set_error_literal(parser->error, COMMAND_ERROR, 0, message);
  return FALSE;
}

const Word *
parser_peek(const Parser *parser)
{
  return parser->at < parser->words->len ? words_at(parser->words, parser->at) : NULL;
}

guint
parser_column(const Parser *parser)
{
  const Word *word = parser_peek(parser);
  return word != NULL ? word->column : parser->end_column;
}

gboolean
parser_pass(Parser *parser, const char *text)
{
  const Word *word = parser_peek(parser);
  if (word == NULL || !word_is(word, text))
    return FALSE;
  parser->at++;
  return TRUE;
}

/* Says that WORD is none of WORDS: the nearest, or else what there is. */
static gboolean
fail_unknown(Parser *parser, const Word *word, const char *what, const char *const *words)
{
  g_autofree char *shown = words_shown(word->text);
  const char *nearest = units_nearest_word(word->text, words);
  if (nearest != NULL)
    return parser_fail(parser, word->column, "unknown %s %s; did you mean \"%s\"?", what, shown,
                       nearest);
  g_autofree char *list = g_strjoinv(", ", (char **)words);
  return parser_fail(parser, word->column, "unknown %s %s: one of %s is due", what, shown, list);
}

static gboolean
fail_unexpected(Parser *parser, const ParserOption *options)
{
  const Word *word = parser_peek(parser);
  g_autofree char *shown = words_shown(word->text);
  const char *words[OPTIONS_MAX + 1] = {NULL};
  for (guint i = 0; options != NULL && options[i].word != NULL; i++)
    words[i] = options[i].word;
  const char *nearest = word->quoted ? NULL : units_nearest_word(word->text, words);
  if (nearest != NULL)
    return parser_fail(parser, word->column, "unexpected %s; did you mean \"%s\"?", shown, nearest);
  return parser_fail(parser, word->column, "unexpected %s", shown);
}

gboolean
parser_end(Parser *parser)
{
  return parser_peek(parser) == NULL || fail_unexpected(parser, NULL);
}

static const ParserOption *
find_option(const Word *word, const ParserOption *options)
{
  for (; options->word != NULL; options++)
    if (word_is(word, options->word))
      return options;
  return NULL;
}

static gboolean
check_option(Parser *parser, const ParserOption *option, const ParserOption *options, guint given)
{
  guint column = parser_column(parser);
  for (guint i = 0; options[i].word != NULL; i++) {
    if ((given & (1u << i)) == 0)
      continue;
    if (&options[i] == option)
      return parser_fail(parser, column, "\"%s\" is given twice", option->word);
    if (option->group != 0 && options[i].group == option->group)
      return parser_fail(parser, column, "\"%s\" contradicts \"%s\"", option->word,
                         options[i].word);
  }
  return TRUE;
}

gboolean
parser_options(Parser *parser, Command *command, const ParserOption *options, ParserTake otherwise)
{
  guint given = 0;
  for (;;) {
    const Word *word = parser_peek(parser);
    if (word == NULL)
      return TRUE;
    const ParserOption *option = find_option(word, options);
    if (option == NULL) {
      if (otherwise != NULL && otherwise(parser, command))
        continue;
      return *parser->error_column == 0 && fail_unexpected(parser, options);
    }
    if (!check_option(parser, option, options, given))
      return FALSE;
    g_assert(option - options < OPTIONS_MAX);
    given |= 1u << (option - options);
    parser->at++;
    if (!option->take(parser, command))
      return FALSE;
  }
}

gboolean
parser_text(Parser *parser, const char *what, char **out)
{
  const Word *word = parser_peek(parser);
  if (word == NULL)
    return parser_fail(parser, parser->end_column, "%s is missing", what);
  if (*word->text == 0)
    return parser_fail(parser, word->column, "%s is empty", what);
  if (strlen(word->text) > WORD_MAX)
    return parser_fail(parser, word->column, "%s is longer than %d bytes", what, WORD_MAX);
  parser->at++;
  *out = g_strdup(word->text);
  return TRUE;
}

/* An option's word where an argument is due is no argument: `boot via pxe` lacks its set. */
static gboolean
check_reserved(Parser *parser, const char *what)
{
  const Word *word = parser_peek(parser);
  if (word == NULL || word->quoted || !g_strv_contains(parser_reserved, word->text))
    return TRUE;
  return parser_fail(parser, word->column, "%s is missing before \"%s\"", what, word->text);
}

gboolean
parser_argument(Parser *parser, const char *what, char **out)
{
  return check_reserved(parser, what) && parser_text(parser, what, out);
}

/* The first character of TEXT that no set has, or the first bracket without its partner; NULL when
 * there is none. What a set means is for nodeset_parse(); this catches a set that fell apart. */
static const char *
find_set_fault(const char *text, const char **message)
{
  const char *open[16];
  guint n_open = 0;
  *message = "cannot stand in a node set";
  for (; *text != 0; text++) {
    if (!g_ascii_isalnum(*text) && strchr("._-@,!&^[]()/:*?%+~ \t", *text) == NULL)
      return text;
    if (*text == '[' || *text == '(') {
      *message = "nests too deep";
      if (n_open == G_N_ELEMENTS(open))
        return text;
      open[n_open++] = text;
      *message = "cannot stand in a node set";
    } else if (*text == ']' || *text == ')') {
      *message = "closes nothing";
      if (n_open == 0 || (*open[--n_open] == '[') != (*text == ']'))
        return text;
      *message = "cannot stand in a node set";
    }
  }
  *message = "is not closed; a set with blanks in it stands in quotes";
  return n_open > 0 ? open[n_open - 1] : NULL;
}

gboolean
parser_set(Parser *parser, char **out)
{
  const char *const what = "a node set";
  const Word *word = parser_peek(parser);
  if (word == NULL || *word->text == 0 || !check_reserved(parser, what))
    return *parser->error_column == 0 && parser_text(parser, what, out);
  const char *message;
  const char *fault = find_set_fault(word->text, &message);
  if (fault != NULL) {
    g_autofree char *character = g_strndup(fault, (gsize)(g_utf8_next_char(fault) - fault));
    g_autofree char *shown = words_shown(character);
    g_autofree char *before = g_strndup(word->text, (gsize)(fault - word->text));
    /* In quotes a backslash may stand before the fault, so only the word itself is sure. */
    guint column = word->column + (word->quoted ? 0 : words_columns(before));
    return parser_fail(parser, column, "%s %s", shown, message);
  }
  parser->at++;
  *out = g_strdup(word->text);
  return TRUE;
}

gboolean
parser_label(Parser *parser, char **out)
{
  guint column = parser_column(parser);
  g_autofree char *label = NULL;
  if (!parser_argument(parser, "a label", &label))
    return FALSE;
  if (!words_is_label(label, 0)) {
    g_autofree char *shown = words_shown(label);
    return parser_fail(parser, column,
                       "%s is no label: a letter, then letters, digits and _, at most %d", shown,
                       WORDS_LABEL_MAX);
  }
  *out = g_steal_pointer(&label);
  return TRUE;
}

/* A name of a node, port or property begins so and goes on with any of these; its end. */
static const char *
skip_name(const char *p)
{
  if (g_ascii_isalnum(*p))
    while (g_ascii_isalnum(*p) || (*p != 0 && strchr("._-", *p) != NULL))
      p++;
  return p;
}

/* node[/port].property or link:A-B.property; the property is what follows the last point. */
static gboolean
is_path(const char *text)
{
  gboolean link = g_str_has_prefix(text, "link:");
  const char *start = text + (link ? strlen("link:") : 0);
  const char *end = skip_name(start);
  if (!link && end > start && *end == '/') {
    start = end + 1;
    end = skip_name(start);
  }
  if (end == start || *end != 0)
    return FALSE;
  const char *point = strrchr(start, '.');
  const char *dash = strchr(start, '-');
  return point != NULL && point > start && g_ascii_isalpha(point[1]) &&
         (!link || (dash != NULL && dash > start && dash + 1 < point));
}

gboolean
parser_path(Parser *parser, char **out)
{
  guint column = parser_column(parser);
  g_autofree char *path = NULL;
  if (!parser_text(parser, "a path", &path))
    return FALSE;
  if (!is_path(path)) {
    g_autofree char *shown = words_shown(path);
    return parser_fail(parser, column,
                       "%s is no path: node.property, node/port.property or link:A-B.property",
                       shown);
  }
  *out = g_steal_pointer(&path);
  return TRUE;
}

gboolean
parser_choice(Parser *parser, const char *what, const char *const *words, int *index)
{
  const Word *word = parser_peek(parser);
  if (word == NULL) {
    g_autofree char *list = g_strjoinv(", ", (char **)words);
    return parser_fail(parser, parser->end_column, "%s is missing: %s", what, list);
  }
  for (int i = 0; words[i] != NULL; i++)
    if (word_is(word, words[i])) {
      parser->at++;
      *index = i;
      return TRUE;
    }
  const char *bare = strchr(what, ' ');
  return fail_unknown(parser, word, bare != NULL ? bare + 1 : what, words);
}

gboolean
parser_count(Parser *parser, guint max, gint *value)
{
  guint column = parser_column(parser);
  g_autofree char *text = NULL;
  if (!parser_argument(parser, "a number", &text))
    return FALSE;
  guint64 count;
  g_autoptr(GError) error = NULL;
  if (!units_parse_count(text, max, &count, &error))
    return parser_fail(parser, column, "%s", error->message);
  if (count == 0)
    return parser_fail(parser, column, "\"%s\": at least 1 is due", text);
  *value = (gint)count;
  return TRUE;
}

/* The length of the plain decimal number TEXT begins with. */
static gsize
number_length(const char *text)
{
  gsize n = strspn(text, "0123456789");
  if (n > 0 && text[n] == '.' && g_ascii_isdigit(text[n + 1]))
    n += 1 + strspn(text + n + 1, "0123456789");
  return n;
}

/* TRUE when WORD, behind a bare number, is its unit, a mistyped one included. */
static gboolean
may_be_unit(const Word *word)
{
  return word != NULL && !word->quoted && !g_strv_contains(parser_reserved, word->text) &&
         (g_ascii_isalpha(*word->text) || *word->text == '%') && strchr(word->text, '=') == NULL;
}

gboolean
parser_value(Parser *parser, const char *what, char **out, guint *column)
{
  *column = parser_column(parser);
  g_autofree char *text = NULL;
  if (!parser_argument(parser, what, &text))
    return FALSE;
  gsize n = number_length(text);
  if (n > 0 && text[n] == 0 && may_be_unit(parser_peek(parser))) {
    *out = g_strdup_printf("%s %s", text, parser_peek(parser)->text);
    parser->at++;
  } else if (n > 0 && (g_ascii_isalpha(text[n]) || text[n] == '%')) {
    *out = g_strdup_printf("%.*s %s", (int)n, text, text + n);
  } else {
    *out = g_steal_pointer(&text);
  }
  return TRUE;
}

gboolean
parser_duration(Parser *parser, gboolean zero_allowed, gint64 *nanoseconds)
{
  guint column;
  g_autofree char *text = NULL;
  if (!parser_value(parser, "a time", &text, &column))
    return FALSE;
  g_autoptr(GError) error = NULL;
  if (!units_parse_duration(text, nanoseconds, &error))
    return parser_fail(parser, column, "%s", error->message);
  if (*nanoseconds == 0 && !zero_allowed)
    return parser_fail(parser, column, "\"%s\": a time above 0 is due", text);
  return TRUE;
}
