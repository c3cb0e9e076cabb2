#include "main_nodeset.h"

#include "model/nodeset.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

/* One more than a node set's text may have, so that the parser gets to say so. */
#define WORD_MAX 65537

typedef struct {
  gboolean fold, expand, count;
  char *separator, *format;
  char **common, **without, **either; /* -i, -x, -X */
  char **sets;
} Options;

static void
options_clear(Options *options)
{
  g_free(options->separator);
  g_free(options->format);
  g_strfreev(options->common);
  g_strfreev(options->without);
  g_strfreev(options->either);
  g_strfreev(options->sets);
}

/* SET becomes SET OP each line of TEXT in turn, taken together. */
static gboolean
combine_text(Nodeset *set, char op, const char *text, GError **error)
{
  g_autoptr(Nodeset) all = nodeset_parse("", NULL, NULL, NULL);
  g_auto(GStrv) lines = g_strsplit_set(text, "\n\v\f\r\x1c\x1d\x1e", 0);
  for (char **line = lines; *line; line++) {
    g_autoptr(Nodeset) one = nodeset_parse(*line, NULL, NULL, error);
    if (!one || !nodeset_combine(all, ',', one, error))
      return FALSE;
  }
  return nodeset_combine(set, op, all, error);
}

/* The next word of FILE into WORD, FALSE at the end. A `#` begins a comment, even inside a word. */
static gboolean
read_word(FILE *file, GString *word)
{
  int c;
  g_string_truncate(word, 0);
  while (word->len < WORD_MAX && (c = getc(file)) != EOF) {
    if (c == '#')
      while (c != '\n' && c != EOF)
        c = getc(file);
    if (c != EOF && !g_ascii_isspace(c) && c != '\v')
      g_string_append_c(word, (char)c);
    else if (word->len > 0)
      break;
  }
  return word->len > 0;
}

/* An empty input leaves SET alone whatever OP is, as in ClusterShell. */
static gboolean
combine_stdin(Nodeset *set, char op, GError **error)
{
  g_autoptr(Nodeset) all = nodeset_parse("", NULL, NULL, NULL);
  g_autoptr(GString) word = g_string_new(NULL);
  while (read_word(stdin, word)) {
    g_autoptr(Nodeset) one = nodeset_parse(word->str, NULL, NULL, error);
    if (!one || !nodeset_combine(all, ',', one, error))
      return FALSE;
  }
  if (ferror(stdin)) {
    g_set_error(error, NODESET_ERROR, 0, "standard input: %s", g_strerror(errno));
    return FALSE;
  }
  return nodeset_count(all) == 0 || nodeset_combine(set, op, all, error);
}

static gboolean
combine(Nodeset *set, char op, const char *text, GError **error)
{
  return g_str_equal(text, "-") ? combine_stdin(set, op, error)
                                : combine_text(set, op, text, error);
}

static gboolean
combine_each(Nodeset *set, char op, char **texts, GError **error)
{
  for (char **text = texts; text && *text; text++)
    if (!combine(set, op, *text, error))
      return FALSE;
  return TRUE;
}

/* Behind the first set, -i, -x, -X and their long forms are operators between sets. */
static char
operator_of(const char *word)
{
  static const struct {
    const char *brief, *full;
    char op;
  } table[] = {{"-i", "--intersection", '&'}, {"-x", "--exclude", '!'}, {"-X", "--xor", '^'}};
  for (gsize i = 0; i < G_N_ELEMENTS(table); i++)
    if (g_str_equal(word, table[i].brief) || g_str_equal(word, table[i].full))
      return table[i].op;
  return '\0';
}

static gboolean
combine_words(Nodeset *set, char **words, GError **error)
{
  for (; words && *words; words++) {
    char op = operator_of(*words);
    if (op && !words[1]) {
      g_set_error(error, NODESET_ERROR, 0, "a node set is missing after %s", *words);
      return FALSE;
    }
    if (!combine(set, op ? op : ',', op ? *++words : *words, error))
      return FALSE;
  }
  return TRUE;
}

/* Options before the first set are applied before it, which is ClusterShell's order. */
static Nodeset *
compute(const Options *options, GError **error)
{
  g_autoptr(Nodeset) set = nodeset_parse("", NULL, NULL, NULL);
  if ((options->sets || combine_stdin(set, ',', error)) &&
      combine_each(set, '&', options->common, error) &&
      combine_each(set, '!', options->without, error) &&
      combine_each(set, '^', options->either, error) && combine_words(set, options->sets, error))
    return g_steal_pointer(&set);
  return NULL;
}

/* \n, \t and the like; other backslashes stand for themselves. */
static char *
read_separator(const char *text)
{
  static const char letters[] = "nt\\'\"rabfv", meant[] = "\n\t\\'\"\r\a\b\f\v";
  GString *separator = g_string_new(NULL);
  for (const char *p = text; *p; p++) {
    const char *letter = *p == '\\' && p[1] ? strchr(letters, p[1]) : NULL;
    g_string_append_c(separator, letter ? meant[letter - letters] : *p);
    p += letter != NULL;
  }
  return g_string_free(separator, FALSE);
}

/* FORMAT with TEXT for its %s. */
static char *
apply_format(const char *format, const char *text)
{
  GString *out = g_string_new(NULL);
  for (const char *p = format; *p; p++) {
    if (*p != '%')
      g_string_append_c(out, *p);
    else if (*++p == '%')
      g_string_append_c(out, '%');
    else
      g_string_append(out, text);
  }
  return g_string_free(out, FALSE);
}

static gboolean
check_format(const char *format, GError **error)
{
  guint n = 0;
  for (const char *p = format; *p; p++) {
    if (*p != '%')
      continue;
    p++;
    if (*p == 's')
      n++;
    else if (*p != '%')
      n = 2;
    if (n > 1)
      break;
  }
  if (n == 1)
    return TRUE;
  g_set_error(error, NODESET_ERROR, 0,
              "-O \"%s\": a format has one %%s for the name, and %%%% for a percent sign", format);
  return FALSE;
}

static char *
show(const Nodeset *set, const Options *options)
{
  const char *format = options->format ? options->format : "%s";
  if (options->count) {
    g_autofree char *count = g_strdup_printf("%u", nodeset_count(set));
    return apply_format(format, count);
  }
  if (options->fold && g_str_equal(format, "%s"))
    return nodeset_fold(set);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < nodeset_count(set); i++)
    g_ptr_array_add(names, apply_format(format, nodeset_name(set, i)));
  if (options->fold)
    return nodeset_fold_names((const char *const *)names->pdata, names->len);
  g_autofree char *separator = read_separator(options->separator ? options->separator : " ");
  g_ptr_array_add(names, NULL);
  return g_strjoinv(separator, (char **)names->pdata);
}

static gboolean
run(const Options *options, GError **error)
{
  g_autoptr(Nodeset) set = compute(options, error);
  if (!set || (options->format && !check_format(options->format, error)))
    return FALSE;
  g_autofree char *text = show(set, options);
  if (puts(text) != EOF && fflush(stdout) == 0)
    return TRUE;
  g_set_error(error, NODESET_ERROR, 0, "standard output: %s", g_strerror(errno));
  return FALSE;
}

static gboolean
read_options(Options *options, int argc, char **argv, GError **error)
{
  const GOptionEntry entries[] = {
      {"fold", 'f', 0, G_OPTION_ARG_NONE, &options->fold, "Print one folded node set", NULL},
      {"expand", 'e', 0, G_OPTION_ARG_NONE, &options->expand, "Print all names", NULL},
      {"count", 'c', 0, G_OPTION_ARG_NONE, &options->count, "Print how many there are", NULL},
      {"separator", 'S', 0, G_OPTION_ARG_FILENAME, &options->separator,
       "What stands between expanded names (a blank)", "TEXT"},
      {"output-format", 'O', 0, G_OPTION_ARG_FILENAME, &options->format,
       "How a name is printed (%s)", "FORMAT"},
      {"intersection", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->common,
       "Keep what SET has too", "SET"},
      {"exclude", 'x', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->without, "Leave out SET", "SET"},
      {"xor", 'X', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->either,
       "Keep what only one of both has", "SET"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->sets, NULL, NULL},
      G_OPTION_ENTRY_NULL};
  g_autoptr(GOptionContext) context = g_option_context_new("SET [[-i|-x|-X] SET]…");
  g_option_context_set_summary(context, "Folds, expands or counts node sets, as ClusterShell's "
                                        "nodeset does. Without SET, or for -,\nthey are read from "
                                        "standard input.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_set_strict_posix(context, TRUE);
  if (!g_option_context_parse(context, &argc, &argv, error))
    return FALSE;
  if (options->fold + options->expand + options->count == 1)
    return TRUE;
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "give one of -f, -e and -c");
  return FALSE;
}

int
main_nodeset(int argc, char **argv)
{
  Options options = {0};
  g_autoptr(GError) error = NULL;
  int status = 0;
  if (!read_options(&options, argc, argv, &error))
    status = 2;
  else if (!run(&options, &error))
    status = 1;
  if (error)
    fprintf(stderr, "pult nodeset: %s\n", error->message);
  options_clear(&options);
  return status;
}
