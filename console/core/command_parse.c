#include "core/command_parser.h"
#include "model/stage_source.h"

#include <string.h>

#define NAMES_MAX 32

static const char *const power_actions[] = {"status", "on", "off", "cycle", "reset", NULL};
static const char *const boot_ways[] = {"pxe", "disk", "keys", "kexec", NULL};
static const char *const comparisons[] = {"<", "<=", ">", ">=", "within", NULL};

/* Options, each behind its word. */

static gboolean
take_how(Parser *parser, Command *command)
{
  const Word *how = words_at(parser->words, parser->at - 1);
  if (command->power != POWER_TURN_OFF && command->power != POWER_CYCLE)
    return parser_fail(parser, how->column, "\"%s\" goes with off and cycle only", how->text);
  command->soft = word_is(how, "soft");
  return TRUE;
}

static gboolean
take_stagger(Parser *parser, Command *command)
{
  return parser_duration(parser, TRUE, &command->stagger);
}

static gboolean
take_including(Parser *parser, Command *command)
{
  if (!parser_pass(parser, "in-use"))
    return parser_fail(parser, parser_column(parser), "\"in-use\" is due after \"including\"");
  command->including_in_use = TRUE;
  return TRUE;
}

static gboolean
take_via(Parser *parser, Command *command)
{
  int i;
  if (!parser_choice(parser, "a way to boot", boot_ways, &i))
    return FALSE;
  command->via = g_strdup(boot_ways[i]);
  return TRUE;
}

static gboolean
take_entry(Parser *parser, Command *command)
{
  return parser_argument(parser, "a menu entry", &command->entry);
}

static gboolean
take_boot_cold(Parser *parser, Command *command)
{
  (void)parser;
  command->cold = TRUE;
  return TRUE;
}

static gboolean
take_boot_warm(Parser *parser, Command *command)
{
  (void)parser;
  command->warm = TRUE;
  return TRUE;
}

static gboolean
take_label(Parser *parser, Command *command)
{
  return parser_label(parser, &command->label);
}

static gboolean
take_at_least(Parser *parser, Command *command)
{
  return parser_count(parser, 65536, &command->at_least);
}

static gboolean
take_duration(Parser *parser, Command *command)
{
  return parser_duration(parser, FALSE, &command->duration);
}

static gboolean
take_cache_cold(Parser *parser, Command *command)
{
  (void)parser;
  command->cache = CACHE_COLD;
  return TRUE;
}

static gboolean
take_cache_warm(Parser *parser, Command *command)
{
  (void)parser;
  command->cache = CACHE_WARM;
  return TRUE;
}

static gboolean
take_during(Parser *parser, Command *command)
{
  return parser_label(parser, &command->target);
}

static gboolean
take_window(Parser *parser, Command *command)
{
  return parser_duration(parser, FALSE, &command->window);
}

static const ParserOption power_options[] = {
    {"soft", 1, take_how},
    {"hard", 1, take_how},
    {"stagger", 0, take_stagger},
    {"including", 0, take_including},
    {NULL, 0, NULL},
};
static const ParserOption boot_options[] = {
    {"via", 0, take_via},
    {"entry", 0, take_entry},
    {"cold", 1, take_boot_cold},
    {"warm", 1, take_boot_warm},
    {"stagger", 0, take_stagger},
    {"as", 0, take_label},
    {"including", 0, take_including},
    {NULL, 0, NULL},
};
static const ParserOption wait_options[] = {
    {"at-least", 0, take_at_least},
    {"timeout", 0, take_duration},
    {NULL, 0, NULL},
};
static const ParserOption load_options[] = {
    {"cold", 1, take_cache_cold},
    {"warm", 1, take_cache_warm},
    {"for", 0, take_duration},
    {"as", 0, take_label},
    {NULL, 0, NULL},
};
static const ParserOption measure_options[] = {
    {"for", 1, take_duration},
    {"during", 1, take_during},
    {"window", 0, take_window},
    {"as", 0, take_label},
    {NULL, 0, NULL},
};
static const ParserOption no_options[] = {{NULL, 0, NULL}};

static gboolean
parse_power(Parser *parser, Command *command)
{
  int action;
  if (!parser_choice(parser, "a power action", power_actions, &action))
    return FALSE;
  command->power = (PowerAction)action;
  return parser_set(parser, &command->set) && parser_options(parser, command, power_options, NULL);
}

static gboolean
parse_boot(Parser *parser, Command *command)
{
  return parser_set(parser, &command->set) && parser_options(parser, command, boot_options, NULL);
}

static gboolean
parse_wait_power(Parser *parser, Command *command)
{
  static const char *const states[] = {"on", "off", NULL};
  int state;
  if (!parser_set(parser, &command->target) ||
      !parser_choice(parser, "a power state", states, &state))
    return FALSE;
  command->power = state == 0 ? POWER_TURN_ON : POWER_TURN_OFF;
  return TRUE;
}

/* A layout may have stages of its own, which only core knows. */
static gboolean
take_stage(Parser *parser, Command *command)
{
  const char *const *usual = layout_usual_stages();
  const Word *word = parser_peek(parser);
  int stage;
  if (word != NULL && stage_is_name(word->text) && units_nearest_word(word->text, usual) == NULL)
    return parser_argument(parser, "a stage", &command->stage);
  if (!parser_choice(parser, "a stage", usual, &stage))
    return FALSE;
  command->stage = g_strdup(usual[stage]);
  return TRUE;
}

static gboolean
parse_wait(Parser *parser, Command *command)
{
  static const char *const kinds[] = {"boot", "load", "power", NULL};
  int kind;
  if (!parser_choice(parser, "a thing to wait for", kinds, &kind))
    return FALSE;
  command->wait = (WaitKind)kind;
  if (command->wait == WAIT_BOOT) {
    if (!parser_set(parser, &command->target) || !take_stage(parser, command))
      return FALSE;
  } else if (command->wait == WAIT_LOAD) {
    if (!parser_label(parser, &command->target))
      return FALSE;
  } else if (!parse_wait_power(parser, command)) {
    return FALSE;
  }
  return parser_options(parser, command, wait_options, NULL);
}

/* [A-Za-z][A-Za-z0-9_-]* before the =; NULL when TEXT does not begin so. */
static char *
key_of(const char *text)
{
  const char *p = text;
  if (g_ascii_isalpha(*p))
    while (g_ascii_isalnum(*p) || *p == '_' || *p == '-')
      p++;
  return *p == '=' && p > text ? g_strndup(text, (gsize)(p - text)) : NULL;
}

static char **
strv_append(char **list, const char *text)
{
  guint n = list == NULL ? 0 : g_strv_length(list);
  list = g_renew(char *, list, n + 2);
  list[n] = g_strdup(text);
  list[n + 1] = NULL;
  return list;
}

static gboolean
take_key(Parser *parser, Command *command)
{
  guint column = parser_column(parser);
  g_autofree char *key = key_of(parser_peek(parser)->text);
  g_autofree char *text = NULL;
  if (key == NULL || !parser_text(parser, "KEY=VALUE", &text))
    return FALSE;
  if (command->keys != NULL && g_strv_contains((const char *const *)command->keys, key)) {
    g_autofree char *shown = words_shown(key);
    return parser_fail(parser, column, "%s is given twice", shown);
  }
  command->keys = strv_append(command->keys, key);
  command->values = strv_append(command->values, text + strlen(key) + 1);
  return TRUE;
}

static gboolean
parse_load(Parser *parser, Command *command)
{
  static const char *const actions[] = {"start", "stop", "leave", NULL};
  int action;
  if (!parser_choice(parser, "a load action", actions, &action))
    return FALSE;
  command->load_leave = action == 2;
  if ((command->load_stop = action > 0))
    return parser_label(parser, &command->label) && parser_end(parser);
  if (!parser_argument(parser, "a job", &command->job))
    return FALSE;
  if (!parser_pass(parser, "on"))
    return parser_fail(parser, parser_column(parser), "\"on\" and a node set are due");
  return parser_set(parser, &command->set) &&
         parser_options(parser, command, load_options, take_key);
}

static gboolean
is_source(const char *text)
{
  static const char *const whole[] = {"bond", "seats", "server", NULL};
  static const char *const prefixes[] = {"bond:", "port:", "link:"};
  if (g_strv_contains(whole, text))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(prefixes); i++) {
    if (!g_str_has_prefix(text, prefixes[i]))
      continue;
    const char *name = text + strlen(prefixes[i]);
    const char *dash = strchr(name, '-');
    gboolean named = g_ascii_isalnum(*name) &&
                     name[strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._/-")] == 0;
    return named && (!g_str_equal(prefixes[i], "link:") || (dash != NULL && dash[1] != 0));
  }
  return FALSE;
}

static gboolean
fail_source(Parser *parser, const Word *word)
{
  static const char *const sources[] = {"bond", "seats", "server", "port:", "link:", NULL};
  g_autofree char *shown = words_shown(word->text);
  const char *nearest = units_nearest_word(word->text, sources);
  if (nearest != NULL && strchr(nearest, ':') == NULL)
    return parser_fail(parser, word->column, "unknown source %s; did you mean \"%s\"?", shown,
                       nearest);
  return parser_fail(
      parser, word->column,
      "unknown source %s: one of bond, bond:NAME, port:NAME, link:A-B, seats, server is due",
      shown);
}

static gboolean
take_sources(Parser *parser, Command *command)
{
  const Word *word = parser_peek(parser);
  while (word != NULL && (word->quoted || !g_strv_contains(parser_reserved, word->text))) {
    if (!is_source(word->text))
      return fail_source(parser, word);
    if (command->sources != NULL &&
        g_strv_contains((const char *const *)command->sources, word->text)) {
      g_autofree char *shown = words_shown(word->text);
      return parser_fail(parser, word->column, "%s is given twice", shown);
    }
    command->sources = strv_append(command->sources, word->text);
    parser->at++;
    word = parser_peek(parser);
  }
  return command->sources != NULL ||
         parser_fail(parser, parser_column(parser), "a source is missing, such as bond or seats");
}

static gboolean
parse_measure(Parser *parser, Command *command)
{
  command->window = 1000000000;
  if (!take_sources(parser, command) || !parser_options(parser, command, measure_options, NULL))
    return FALSE;
  if (command->duration < 0 && command->target == NULL)
    return parser_fail(parser, parser->end_column, "\"for DUR\" or \"during LABEL\" is missing");
  return command->label != NULL ||
         parser_fail(parser, parser->end_column, "\"as LABEL\" is missing");
}

/* What the figures of a measurement, a boot and a load are measured in. */
static const struct {
  const char *name;
  Dimension dimension;
} figures[] = {
    {"boot", DIMENSION_TIME},  {"menu", DIMENSION_TIME},        {"stage", DIMENSION_TIME},
    {"power", DIMENSION_TIME}, {"seconds", DIMENSION_TIME},     {"rate", DIMENSION_RATE},
    {"bytes", DIMENSION_SIZE}, {"disk", DIMENSION_SIZE},        {"files", DIMENSION_COUNT},
    {"ok", DIMENSION_COUNT},   {"failed", DIMENSION_COUNT},     {"load", DIMENSION_COUNT},
    {"nfsd", DIMENSION_COUNT}, {"unverified", DIMENSION_COUNT},
};

/* The dimension of LABEL.FIGURE; -1 where only core can know. */
static int
figure_dimension(const char *name, const char **nearest)
{
  *nearest = NULL;
  if (strstr(name, ".tx.") != NULL || strstr(name, ".rx.") != NULL)
    return DIMENSION_RATE;
  const char *figure = strchr(name, '.') + 1;
  g_autofree char *head = g_strndup(figure, strcspn(figure, "."));
  const char *heads[G_N_ELEMENTS(figures) + 1] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(figures); i++) {
    if (g_str_equal(head, figures[i].name))
      return figures[i].dimension;
    heads[i] = figures[i].name;
  }
  *nearest = units_nearest_word(head, heads);
  return -1;
}

static gboolean
is_figure(const char *text)
{
  if (!words_is_label(text, '.') || strchr(text, '.') == NULL)
    return FALSE;
  const char *figure = strchr(text, '.');
  return figure[strspn(figure, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-")] == 0 &&
         strstr(figure, "..") == NULL && !g_str_has_suffix(figure, ".");
}

static gboolean
take_figure(Parser *parser, Command *command, int *dimension)
{
  guint column = parser_column(parser);
  if (!parser_argument(parser, "a figure", &command->figure))
    return FALSE;
  g_autofree char *shown = words_shown(command->figure);
  if (!is_figure(command->figure))
    return parser_fail(parser, column, "%s is no figure: LABEL.FIGURE, such as b16.boot.mean",
                       shown);
  const char *nearest;
  *dimension = figure_dimension(command->figure, &nearest);
  if (nearest == NULL)
    return TRUE;
  const char *head = strchr(command->figure, '.') + 1;
  return parser_fail(parser, column, "%s is no figure; did you mean \"%.*s%s%s\"?", shown,
                     (int)(head - command->figure), command->figure, nearest,
                     head + strcspn(head, "."));
}

static gboolean
take_tolerance(Parser *parser, Command *command)
{
  const Word *word = parser_peek(parser);
  if (word == NULL || word->quoted || !g_str_has_prefix(word->text, "+-")) {
    if (command->comparison != COMPARE_WITHIN)
      return TRUE;
    return parser_fail(parser, parser_column(parser), "a tolerance is missing, such as +-8%%");
  }
  if (command->comparison != COMPARE_WITHIN)
    return parser_fail(parser, word->column, "a tolerance goes with \"within\" only");
  parser->at++;
  const Word *unit = parser_peek(parser);
  gboolean apart = !g_str_has_suffix(word->text, "%") && unit != NULL && word_is(unit, "%");
  g_autofree char *text = g_strconcat(word->text + strlen("+-"), apart ? "%" : "", NULL);
  parser->at += apart ? 1 : 0;
  double typed;
  g_autoptr(GError) error = NULL;
  if (!units_parse_as(text, DIMENSION_PERCENT, &typed, &error))
    return parser_fail(parser, word->column, "%s", error->message);
  /* Kept to what command_print() writes, or printing and parsing would drift. */
  g_autofree char *digits = units_fixed(typed * 100, 6);
  g_autofree char *percent = g_strconcat(digits, "%", NULL);
  if (typed > 1 || !units_parse_as(percent, DIMENSION_PERCENT, &command->tolerance, NULL) ||
      command->tolerance <= 0)
    return parser_fail(parser, word->column, "a tolerance is above 0 %% and at most 100 %%");
  return TRUE;
}

static gboolean
parse_expect(Parser *parser, Command *command)
{
  int dimension, comparison;
  guint column;
  if (!take_figure(parser, command, &dimension) ||
      !parser_choice(parser, "a comparison", comparisons, &comparison) ||
      !parser_value(parser, "a value", &command->value_text, &column))
    return FALSE;
  command->comparison = (Comparison)comparison;
  g_autoptr(GError) error = NULL;
  gboolean read = units_parse(command->value_text, &command->value, &error);
  if (read && dimension >= 0)
    read = units_parse_as(command->value_text, (Dimension)dimension, &command->value.value, &error);
  if (!read)
    return parser_fail(parser, column, "%s", error->message);
  return take_tolerance(parser, command) && parser_options(parser, command, no_options, NULL);
}

static gboolean
parse_set(Parser *parser, Command *command)
{
  g_autofree char *text = NULL;
  if (!parser_path(parser, &command->path) || !parser_text(parser, "a value", &text))
    return FALSE;
  const Word *unit = parser_peek(parser);
  if (unit != NULL && !unit->quoted && units_is_unit(unit->text)) {
    Quantity quantity;
    g_autofree char *both = g_strdup_printf("%s %s", text, unit->text);
    if (units_parse(both, &quantity, NULL)) {
      g_free(text);
      text = g_steal_pointer(&both);
      parser->at++;
    }
  }
  command->text = g_steal_pointer(&text);
  return parser_end(parser);
}

static gboolean
parse_get(Parser *parser, Command *command)
{
  return parser_path(parser, &command->path) && parser_end(parser);
}

static gboolean
parse_mark(Parser *parser, Command *command)
{
  if (!parser_text(parser, "a text", &command->text))
    return FALSE;
  return parser_peek(parser) == NULL ||
         parser_fail(parser, parser_column(parser), "a text of several words stands in quotes");
}

static gboolean
parse_sleep(Parser *parser, Command *command)
{
  return parser_duration(parser, TRUE, &command->duration) && parser_end(parser);
}

static gboolean
parse_alone(Parser *parser, Command *command)
{
  (void)command;
  return parser_end(parser);
}

static const struct {
  const char *name;
  Verb verb;
  ParserTake parse;
} verbs[] = {
    {"power", VERB_POWER, parse_power},
    {"boot", VERB_BOOT, parse_boot},
    {"wait", VERB_WAIT, parse_wait},
    {"load", VERB_LOAD, parse_load},
    {"measure", VERB_MEASURE, parse_measure},
    {"expect", VERB_EXPECT, parse_expect},
    {"set", VERB_SET, parse_set},
    {"get", VERB_GET, parse_get},
    {"pxe", VERB_PXE, parser_pxe},
    {"reserve", VERB_RESERVE, parser_reserve},
    {"release", VERB_RELEASE, parser_release},
    {"console", VERB_CONSOLE, parser_console},
    {"keys", VERB_KEYS, parser_keys},
    {"type", VERB_TYPE, parser_type},
    {"route", VERB_ROUTE, parser_route},
    {"mark", VERB_MARK, parse_mark},
    {"sleep", VERB_SLEEP, parse_sleep},
    {"stop", VERB_STOP, parse_alone},
    {"quit", VERB_QUIT, parse_alone},
};

static gboolean
fail_verb(Parser *parser, const Word *word)
{
  static const char *const script_words[] = {"layout", "foreach", "repeat", "with",
                                             "do",     "end",     NULL};
  g_autofree char *shown = words_shown(word->text);
  if (word->quoted)
    return parser_fail(parser, word->column, "%s: a command's name stands without quotes", shown);
  if (g_strv_contains(script_words, word->text))
    return parser_fail(parser, word->column, "%s belongs to scripts: it is no command", shown);
  const char *names[NAMES_MAX + 1] = {NULL};
  for (guint i = 0; command_verbs[i].name != NULL; i++)
    names[i] = command_verbs[i].name;
  const char *nearest = units_nearest_word(word->text, names);
  if (nearest != NULL)
    return parser_fail(parser, word->column, "unknown command %s; did you mean \"%s\"?", shown,
                       nearest);
  return parser_fail(parser, word->column, "unknown command %s", shown);
}

static gboolean
take_prefixes(Parser *parser, Command *command)
{
  for (;;) {
    guint column = parser_column(parser);
    gboolean *flag = NULL;
    if (parser_pass(parser, "try"))
      flag = &command->try_only;
    else if (parser_pass(parser, "plan"))
      flag = &command->plan_only;
    else
      return TRUE;
    if (*flag)
      return parser_fail(parser, column, "\"%s\" is given twice",
                         flag == &command->try_only ? "try" : "plan");
    *flag = TRUE;
  }
}

static gboolean
parse_verb(Parser *parser, Command *command)
{
  if (!take_prefixes(parser, command))
    return FALSE;
  const Word *word = parser_peek(parser);
  if (word == NULL)
    return parser_fail(parser, parser->end_column, "a command is missing");
  for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
    if (word_is(word, verbs[i].name)) {
      parser->at++;
      command->verb = verbs[i].verb;
      return verbs[i].parse(parser, command);
    }
  return fail_verb(parser, word);
}

Command *
command_parse_at(const char *text, guint *column, GError **error)
{
  *column = 0;
  g_autoptr(GArray) words = words_read(text, COMMAND_TEXT_MAX, column, error);
  if (words == NULL)
    return NULL;
  Parser parser = {words, 0, 1, column, error};
  if (words->len > 0)
    parser.end_column = words_at(words, words->len - 1)->end_column;
  for (guint i = 0; i < words->len; i++)
    if (words_at(words, i)->separator) {
      parser_fail(&parser, words_at(words, i)->column, "one command is due, and \";\" ends it");
      return NULL;
    }
  g_autoptr(Command) command = g_new0(Command, 1);
  command->at_least = -1;
  command->duration = -1;
  command->tolerance = -1;
  return parse_verb(&parser, command) ? g_steal_pointer(&command) : NULL;
}
