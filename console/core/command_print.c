#include "core/command_parser.h"

#include <string.h>

void
command_print_argument(GString *out, const char *text)
{
  g_string_append_c(out, ' ');
  if (g_strv_contains(parser_reserved, text))
    g_string_append_printf(out, "\"%s\"", text);
  else
    words_print(out, text);
}

static void
print_option(GString *out, const char *word, const char *argument)
{
  if (argument == NULL)
    return;
  g_string_append_printf(out, " %s", word);
  command_print_argument(out, argument);
}

/* The largest unit up to seconds in which NANOSECONDS is 1 or more, no digit lost. */
static void
print_duration(GString *out, const char *word, gint64 nanoseconds)
{
  static const struct {
    const char *name;
    gint64 length;
    int decimals;
  } units[] = {{"s", 1000000000, 9}, {"ms", 1000000, 6}, {"us", 1000, 3}, {"ns", 1, 0}};
  guint i = 0;
  while (nanoseconds > 0 && nanoseconds < units[i].length)
    i++;
  g_string_append_printf(out, "%s %" G_GINT64_FORMAT, word, nanoseconds / units[i].length);
  gint64 rest = nanoseconds % units[i].length;
  if (rest > 0) {
    g_string_append_printf(out, ".%0*" G_GINT64_FORMAT, units[i].decimals, rest);
    gsize end = out->len;
    while (out->str[end - 1] == '0')
      end--;
    g_string_truncate(out, end);
  }
  g_string_append_printf(out, " %s", units[i].name);
}

static void
print_power(GString *out, const Command *command)
{
  static const char *const actions[] = {[POWER_STATUS] = "status",
                                        [POWER_TURN_ON] = "on",
                                        [POWER_TURN_OFF] = "off",
                                        [POWER_CYCLE] = "cycle",
                                        [POWER_RESET] = "reset"};
  g_string_append_printf(out, "power %s", actions[command->power]);
  command_print_argument(out, command->set);
  if (command->soft)
    g_string_append(out, " soft");
}

static void
print_boot(GString *out, const Command *command)
{
  g_string_append(out, "boot");
  command_print_argument(out, command->set);
  print_option(out, "via", command->via);
  print_option(out, "entry", command->entry);
  if (command->cold || command->warm)
    g_string_append(out, command->cold ? " cold" : " warm");
}

/* What power and boot end with, `as` before the last. */
static void
print_seats_options(GString *out, const Command *command)
{
  if (command->stagger > 0)
    print_duration(out, " stagger", command->stagger);
  print_option(out, "as", command->label);
  if (command->including_in_use)
    g_string_append(out, " including in-use");
}

static void
print_wait(GString *out, const Command *command)
{
  static const char *const kinds[] = {
      [WAIT_BOOT] = "boot", [WAIT_LOAD] = "load", [WAIT_POWER] = "power"};
  g_string_append_printf(out, "wait %s", kinds[command->wait]);
  command_print_argument(out, command->target);
  if (command->wait == WAIT_BOOT)
    g_string_append_printf(out, " %s", command->stage);
  if (command->wait == WAIT_POWER)
    g_string_append(out, command->power == POWER_TURN_ON ? " on" : " off");
  if (command->at_least >= 0)
    g_string_append_printf(out, " at-least %d", command->at_least);
  if (command->duration >= 0)
    print_duration(out, " timeout", command->duration);
}

static void
print_load(GString *out, const Command *command)
{
  g_string_append(out, command->load_leave  ? "load leave"
                       : command->load_stop ? "load stop"
                                            : "load start");
  command_print_argument(out, command->load_stop ? command->label : command->job);
  if (command->load_stop)
    return;
  print_option(out, "on", command->set);
  if (command->cache != CACHE_ANY)
    g_string_append(out, command->cache == CACHE_COLD ? " cold" : " warm");
  if (command->duration >= 0)
    print_duration(out, " for", command->duration);
  print_option(out, "as", command->label);
  for (guint i = 0; command->keys != NULL && command->keys[i] != NULL; i++) {
    g_string_append_printf(out, " %s=", command->keys[i]);
    if (*command->values[i] != 0)
      words_print(out, command->values[i]);
  }
}

static void
print_measure(GString *out, const Command *command)
{
  g_string_append(out, "measure");
  for (guint i = 0; command->sources[i] != NULL; i++)
    command_print_argument(out, command->sources[i]);
  if (command->duration >= 0)
    print_duration(out, " for", command->duration);
  print_option(out, "during", command->target);
  if (command->window != 1000000000)
    print_duration(out, " window", command->window);
  print_option(out, "as", command->label);
}

static void
print_expect(GString *out, const Command *command)
{
  static const char *const comparisons[] = {[COMPARE_LT] = "<",
                                            [COMPARE_LE] = "<=",
                                            [COMPARE_GT] = ">",
                                            [COMPARE_GE] = ">=",
                                            [COMPARE_WITHIN] = "within"};
  g_string_append_printf(out, "expect %s %s %s", command->figure, comparisons[command->comparison],
                         command->value_text);
  if (command->tolerance < 0)
    return;
  g_autofree char *digits = units_fixed(command->tolerance * 100, 6);
  gsize end = strlen(digits);
  while (digits[end - 1] == '0')
    end--;
  end -= digits[end - 1] == '.' ? 1 : 0;
  g_string_append_printf(out, " +-%.*s%%", (int)end, digits);
}

/* A number with its unit is two words again; anything else that is not one word has its quotes. */
static void
print_set(GString *out, const Command *command)
{
  g_string_append_printf(out, "set %s ", command->path);
  Quantity quantity;
  if (units_parse(command->text, &quantity, NULL))
    g_string_append(out, command->text);
  else
    words_print(out, command->text);
}

static void
print_reserve(GString *out, const Command *command)
{
  g_string_append(out, "reserve");
  command_print_argument(out, command->set);
  if (command->clock == NULL)
    print_duration(out, " until", command->duration);
  else
    g_string_append_printf(out, " until %s", command->clock);
  g_string_append_c(out, ' ');
  words_print(out, command->text);
}

static void
print_release(GString *out, const Command *command)
{
  g_string_append(out, "release");
  command_print_argument(out, command->set);
}

static void
print_console(GString *out, const Command *command)
{
  g_string_append(out, "console");
  command_print_argument(out, command->set);
  g_string_append(out, command->console_off ? " off" : "");
}

static void
print_mark(GString *out, const Command *command)
{
  g_string_append(out, "mark ");
  words_print(out, command->text);
}

static void
print_pxe(GString *out, const Command *command)
{
  static const char *const actions[] = {
      [MENU_SHOW] = "pxe show", [MENU_SET] = "pxe set ", [MENU_UNDO] = "pxe undo"};
  g_string_append(out, actions[command->menu]);
  if (command->menu != MENU_SET)
    return;
  if (command_setting_is_time(command->setting)) {
    print_duration(out, command->setting, command->duration);
    return;
  }
  g_string_append_printf(out, "%s ", command->setting);
  words_print(out, command->text);
}

static void
print_verb(GString *out, const Command *command)
{
  switch (command->verb) {
  case VERB_POWER:
    print_power(out, command);
    print_seats_options(out, command);
    break;
  case VERB_BOOT:
    print_boot(out, command);
    print_seats_options(out, command);
    break;
  case VERB_WAIT:
    print_wait(out, command);
    break;
  case VERB_LOAD:
    print_load(out, command);
    break;
  case VERB_MEASURE:
    print_measure(out, command);
    break;
  case VERB_EXPECT:
    print_expect(out, command);
    break;
  case VERB_SET:
    print_set(out, command);
    break;
  case VERB_GET:
    g_string_append_printf(out, "get %s", command->path);
    break;
  case VERB_RESERVE:
    print_reserve(out, command);
    break;
  case VERB_RELEASE:
    print_release(out, command);
    break;
  case VERB_CONSOLE:
    print_console(out, command);
    break;
  case VERB_KEYS:
  case VERB_TYPE:
  case VERB_ROUTE:
    command_print_keys(out, command);
    break;
  case VERB_MARK:
    print_mark(out, command);
    break;
  case VERB_SLEEP:
    print_duration(out, "sleep", command->duration);
    break;
  case VERB_PXE:
    print_pxe(out, command);
    break;
  case VERB_STOP:
  case VERB_QUIT:
    g_string_append(out, command->verb == VERB_STOP ? "stop" : "quit");
    break;
  }
}

char *
command_print(const Command *command)
{
  GString *out = g_string_new(command->try_only ? "try " : "");
  g_string_append(out, command->plan_only ? "plan " : "");
  print_verb(out, command);
  return g_string_free(out, FALSE);
}
