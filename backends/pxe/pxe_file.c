#include "backends/pxe/pxe_file.h"

#include <string.h>

typedef struct {
  const char *name;
  PxeWord word;
} Keyword;

static const Keyword keywords[] = {
    {"default", PXE_DEFAULT},           {"ui", PXE_UI},
    {"ontimeout", PXE_ONTIMEOUT},       {"timeout", PXE_TIMEOUT},
    {"totaltimeout", PXE_TOTALTIMEOUT}, {"label", PXE_LABEL},
    {"include", PXE_INCLUDE},           {NULL, PXE_OTHER},
};

static const Keyword menu_keywords[] = {
    {"title", PXE_TITLE},
    {"default", PXE_MENU_DEFAULT},
    {"passwd", PXE_PASSWD},
    {"include", PXE_INCLUDE},
    {"begin", PXE_BEGIN},
    {"end", PXE_END},
    {"separator", PXE_SEPARATOR},
    {"background", PXE_BACKGROUND},
    {"color", PXE_LOOK},
    {"colour", PXE_LOOK},
    {"msgcolor", PXE_LOOK},
    {"msgcolour", PXE_LOOK},
    {"width", PXE_LOOK},
    {"margin", PXE_LOOK},
    {"passwordmargin", PXE_LOOK},
    {"rows", PXE_LOOK},
    {"tabmsgrow", PXE_LOOK},
    {"cmdlinerow", PXE_LOOK},
    {"endrow", PXE_LOOK},
    {"passwordrow", PXE_LOOK},
    {"timeoutrow", PXE_LOOK},
    {"helpmsgrow", PXE_LOOK},
    {"helpmsgendrow", PXE_LOOK},
    {"hshift", PXE_LOOK},
    {"vshift", PXE_LOOK},
    {"hiddenrow", PXE_LOOK},
    {"resolution", PXE_LOOK},
    {"clear", PXE_LOOK},
    {NULL, PXE_OTHER},
};

char *
pxe_printable(const char *text)
{
  GString *printable = g_string_new(NULL);
  for (const char *next; *text != '\0'; text = next) {
    gunichar c = g_utf8_get_char_validated(text, -1);
    gboolean fit = (gint32)c >= 0 && g_unichar_isprint(c);
    next = fit ? g_utf8_next_char(text) : text + 1;
    if (fit)
      g_string_append_len(printable, text, next - text);
    else
      g_string_append_printf(printable, "\\x%02x", (guchar)*text);
  }
  return g_string_free(printable, FALSE);
}

gboolean
pxe_fail(GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *printable = pxe_printable(text);
  g_set_error_literal(error, PXE_ERROR, 0, printable);
  return FALSE;
}

/* As pxelinux has it: anything up to the blank. */
static gboolean
is_blank(char c)
{
  return c != '\0' && (guchar)c <= ' ';
}

static const char *
skip_blanks(const char *text)
{
  while (is_blank(*text))
    text++;
  return text;
}

/* Behind NAME, which stands at TEXT as a word; else NULL. */
static const char *
behind(const char *text, const char *name)
{
  gsize length = strlen(name);
  if (g_ascii_strncasecmp(text, name, length) != 0)
    return NULL;
  return text[length] == '\0' || is_blank(text[length]) ? text + length : NULL;
}

static PxeWord
find(const Keyword *table, const char **text)
{
  for (; table->name != NULL; table++) {
    const char *rest = behind(*text, table->name);
    if (rest == NULL)
      continue;
    *text = skip_blanks(rest);
    return table->word;
  }
  return PXE_OTHER;
}

static void
read_line(PxeLine *line)
{
  const char *text = skip_blanks(line->text), *rest;
  if (*text == '\0' || *text == '#') {
    line->word = PXE_NOTHING;
  } else if ((rest = behind(text, "menu")) != NULL) {
    text = skip_blanks(rest);
    rest = behind(text, "master");
    const char *passwd = rest != NULL ? behind(skip_blanks(rest), "passwd") : NULL;
    if (passwd != NULL)
      text = skip_blanks(passwd);
    line->word = passwd != NULL ? PXE_MASTER_PASSWD : find(menu_keywords, &text);
  } else {
    line->word = find(keywords, &text);
  }
  gsize end = strlen(line->text);
  while (line->text + end > text && is_blank(line->text[end - 1]))
    end--;
  line->value = (guint)(text - line->text);
  line->end = (guint)end;
}

static void
clear_line(gpointer data)
{
  g_free(((PxeLine *)data)->text);
}

/* A TEXT reaches to its ENDTEXT, or the end of the file. */
static void
add_lines(PxeFile *file, const char *text, const char *end)
{
  gboolean inside = FALSE;
  gint n = 0;
  for (const char *next; text < end; text = next) {
    const char *newline = memchr(text, '\n', (gsize)(end - text));
    next = newline != NULL ? newline + 1 : end;
    PxeLine line = {.text = g_strndup(text, (gsize)(next - text)), .origin = n++};
    read_line(&line);
    const char *start = skip_blanks(line.text);
    if (inside || behind(start, "text") != NULL) {
      inside = behind(start, "endtext") == NULL;
      line.word = PXE_NOTHING;
    }
    g_array_append_val(file->lines, line);
  }
}

PxeFile *
pxe_file_new(const char *path, const char *text, gsize length, GError **error)
{
  if (length > PXE_FILE_MAX) {
    pxe_fail(error, "%s is longer than %d KiB", path, PXE_FILE_MAX / 1024);
    return NULL;
  }
  if (memchr(text, '\0', length) != NULL) {
    pxe_fail(error, "%s is no text: it holds a zero byte", path);
    return NULL;
  }
  PxeFile *file = g_new0(PxeFile, 1);
  file->path = g_strdup(path);
  file->lines = g_array_new(FALSE, FALSE, sizeof(PxeLine));
  g_array_set_clear_func(file->lines, clear_line);
  file->read = g_ptr_array_new_with_free_func(g_free);
  add_lines(file, text, text + length);
  for (guint i = 0; i < file->lines->len; i++)
    g_ptr_array_add(file->read, g_strdup(pxe_file_line(file, i)->text));
  for (guint i = 0; i < file->lines->len; i++) {
    const PxeLine *line = pxe_file_line(file, i);
    file->crlf = file->crlf || g_str_has_suffix(line->text, "\r\n");
    if (line->word != PXE_NOTHING) {
      file->lower = g_ascii_islower(*skip_blanks(line->text));
      break;
    }
  }
  return file;
}

void
pxe_file_free(PxeFile *file)
{
  if (file == NULL)
    return;
  g_free(file->path);
  g_array_unref(file->lines);
  g_ptr_array_unref(file->read);
  g_free(file);
}

PxeLine *
pxe_file_line(const PxeFile *file, guint n)
{
  return &g_array_index(file->lines, PxeLine, n);
}

char *
pxe_line_value(const PxeLine *line)
{
  return g_strndup(line->text + line->value, line->end - line->value);
}

char *
pxe_line_word(const PxeLine *line)
{
  char *value = pxe_line_value(line);
  for (char *c = value; *c != '\0'; c++)
    if (is_blank(*c))
      *c = '\0';
  return value;
}

void
pxe_file_change(PxeFile *file, guint n, const char *value)
{
  PxeLine *line = pxe_file_line(file, n);
  char *text = line->text;
  gboolean bare = line->value == 0 || !is_blank(text[line->value - 1]);
  line->text = g_strdup_printf("%.*s%s%s%s", (int)line->value, text, bare ? " " : "", value,
                               text + line->end);
  g_free(text);
  read_line(line);
}

void
pxe_file_insert(PxeFile *file, guint n, const char *indent, const char *statement,
                const char *value)
{
  const char *line_end = file->crlf ? "\r\n" : "\n";
  g_autofree char *lower = file->lower ? g_ascii_strdown(statement, -1) : g_strdup(statement);
  PxeLine line = {.origin = -1};
  PxeLine *last = n > 0 ? pxe_file_line(file, n - 1) : NULL;
  /* Behind a last line that has no end, there is none either. */
  gboolean open = last != NULL && !g_str_has_suffix(last->text, "\n");
  if (open) {
    char *text = last->text;
    last->text = g_strconcat(text, line_end, NULL);
    g_free(text);
  }
  line.text =
      g_strconcat(indent, lower, *value != '\0' ? " " : "", value, open ? "" : line_end, NULL);
  read_line(&line);
  g_array_insert_val(file->lines, n, line);
}

void
pxe_file_remove(PxeFile *file, guint n)
{
  g_array_remove_index(file->lines, n);
}

gboolean
pxe_file_changed(const PxeFile *file)
{
  if (file->lines->len != file->read->len)
    return TRUE;
  for (guint i = 0; i < file->lines->len; i++)
    if (!g_str_equal(pxe_file_line(file, i)->text, file->read->pdata[i]))
      return TRUE;
  return FALSE;
}

GString *
pxe_file_text(const PxeFile *file)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < file->lines->len; i++)
    g_string_append(text, pxe_file_line(file, i)->text);
  return text;
}
