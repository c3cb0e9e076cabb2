#include "backends/vswitch/device_template.h"

#include <string.h>

#define MAX_WIDTH 16
#define MAX_ADDED 255

typedef enum { PIECE_BYTES, PIECE_PLAIN, PIECE_BYTE, PIECE_NIBBLE, PIECE_URL } PieceKind;

typedef struct {
  PieceKind kind;
  GString *bytes;  /* PIECE_BYTES */
  guint parameter; /* the others */
  int added;
  guint base, width; /* PIECE_PLAIN of a number */
  gboolean capitals;
} Piece;

struct DeviceTemplate {
  GArray *pieces; /* of Piece */
};

static void
piece_clear(gpointer data)
{
  Piece *piece = data;

  if (piece->bytes != NULL)
    g_string_free(piece->bytes, TRUE);
}

static void
add_byte(GArray *pieces, guint8 byte)
{
  Piece *last = pieces->len > 0 ? &g_array_index(pieces, Piece, pieces->len - 1) : NULL;

  if (last == NULL || last->kind != PIECE_BYTES) {
    Piece piece = {.kind = PIECE_BYTES, .bytes = g_string_new(NULL)};
    g_array_append_val(pieces, piece);
    last = &g_array_index(pieces, Piece, pieces->len - 1);
  }
  g_string_append_c(last->bytes, (char)byte);
}

/* P stands on the backslash; returns its last character, NULL when it is no escape. */
static const char *
read_escape(GArray *pieces, const char *p)
{
  static const char letters[] = "rnte\\", bytes[] = "\r\n\t\x1b\\";
  const char *letter = p[1] != '\0' ? strchr(letters, p[1]) : NULL;

  if (letter != NULL) {
    add_byte(pieces, (guint8)bytes[letter - letters]);
    return p + 1;
  }
  if (p[1] != 'x' || !g_ascii_isxdigit(p[2]) || !g_ascii_isxdigit(p[3]))
    return NULL;
  add_byte(pieces, (guint8)(g_ascii_xdigit_value(p[2]) << 4 | g_ascii_xdigit_value(p[3])));
  return p + 3;
}

/* ---- {NAME±N:FORM} ------------------------------------------------------------------------- */

static gboolean
read_added(Piece *piece, const char *text, GError **error)
{
  char *end;

  if (*text == '\0')
    return TRUE;
  if (!g_ascii_isdigit(text[1])) {
    g_set_error(error, DEVICE_ERROR, 0, "%s is no number", text);
    return FALSE;
  }
  guint64 n = g_ascii_strtoull(text + 1, &end, 10);
  if (*end != '\0' || n > MAX_ADDED) {
    g_set_error(error, DEVICE_ERROR, 0, "%s is no number of at most %d", text, MAX_ADDED);
    return FALSE;
  }
  piece->added = *text == '-' ? -(int)n : (int)n;
  return TRUE;
}

static gboolean
read_width(Piece *piece, const char *text)
{
  char *end;

  if (*text == '\0')
    return TRUE;
  if (!g_ascii_isdigit(*text))
    return FALSE;
  guint64 n = g_ascii_strtoull(text, &end, 10);
  piece->width = n <= MAX_WIDTH ? (guint)n : 0;
  return *end == '\0' && n >= 1 && n <= MAX_WIDTH;
}

static gboolean
read_form(Piece *piece, const char *form, DeviceKind kind, GError **error)
{
  static const char letters[] = "xXob";
  static const guint bases[] = {16, 16, 8, 2};
  const char *letter = *form != '\0' ? strchr(letters, *form) : NULL;
  gboolean number = kind == DEVICE_NUMBER;

  piece->kind = PIECE_PLAIN;
  piece->base = 10;
  if (number && strcmp(form, "byte") == 0) {
    piece->kind = PIECE_BYTE;
    return TRUE;
  }
  if (number && strcmp(form, "nibble") == 0) {
    piece->kind = PIECE_NIBBLE;
    return TRUE;
  }
  if (!number && strcmp(form, "url") == 0) {
    piece->kind = PIECE_URL;
    return TRUE;
  }
  if (number && letter != NULL) {
    piece->base = bases[letter - letters];
    piece->capitals = *letter == 'X';
  }
  if (number && read_width(piece, letter != NULL ? form + 1 : form))
    return TRUE;
  g_set_error(error, DEVICE_ERROR, 0, "\"%s\" is no form of a %s: known are %s", form,
              number ? "number" : "text", number ? "2, x2, X2, o3, b8, byte, nibble" : "url");
  return FALSE;
}

static void
unknown_parameter(const Device *device, const char *name, GError **error)
{
  const char *known[DEVICE_MAX_PARAMETERS + 1] = {NULL};

  for (guint i = 0; i < device->n_parameters; i++)
    known[i] = device->parameters[i].name;
  const char *nearest = units_nearest_word(name, known);
  if (nearest != NULL)
    g_set_error(error, DEVICE_ERROR, 0, "there is no parameter {%s}: did you mean {%s}?", name,
                nearest);
  else
    g_set_error(error, DEVICE_ERROR, 0, "there is no parameter {%s}", name);
}

/* The parameter that WORD begins with, the longest: a name may have a hyphen of its own. */
static int
find_name(const Device *device, const char *word, gsize *length)
{
  int found = -1;

  *length = 0;
  for (guint i = 0; i < device->n_parameters; i++) {
    gsize n = strlen(device->parameters[i].name);
    if (n <= *length || strncmp(word, device->parameters[i].name, n) != 0 ||
        (word[n] != '\0' && word[n] != '+' && word[n] != '-'))
      continue;
    *length = n;
    found = (int)i;
  }
  return found;
}

static gboolean
read_place(const Device *device, GArray *pieces, const char *word, GError **error)
{
  g_auto(GStrv) parts = g_strsplit(word, ":", 2);
  const char *counted = parts[0] != NULL ? parts[0] : "";
  gsize length;
  int index = find_name(device, counted, &length);
  Piece piece = {.kind = PIECE_PLAIN, .base = 10};

  if (index < 0) {
    unknown_parameter(device, counted, error);
    return FALSE;
  }
  DeviceKind kind = device->parameters[index].kind;
  piece.parameter = (guint)index;
  if (!read_added(&piece, counted + length, error))
    return FALSE;
  if (kind != DEVICE_NUMBER && piece.added != 0) {
    g_set_error(error, DEVICE_ERROR, 0, "{%s} is no number to count from",
                device->parameters[index].name);
    return FALSE;
  }
  if (parts[0] != NULL && parts[1] != NULL && !read_form(&piece, parts[1], kind, error))
    return FALSE;
  g_array_append_val(pieces, piece);
  return TRUE;
}

/* P stands on the brace; returns the one that closes it. */
static const char *
read_brace(const Device *device, GArray *pieces, const char *p, GError **error)
{
  if (p[1] == '{') {
    add_byte(pieces, '{');
    return p + 1;
  }
  const char *end = strchr(p, '}');
  if (end == NULL) {
    g_set_error(error, DEVICE_ERROR, 0, "the brace is not closed; {{ is one");
    return NULL;
  }
  g_autofree char *word = g_strndup(p + 1, (gsize)(end - p - 1));
  return read_place(device, pieces, word, error) ? end : NULL;
}

/* Halves come in pairs, one right behind the other. */
static gboolean
check_nibbles(const GArray *pieces, GError **error)
{
  gboolean half = FALSE;

  for (guint i = 0; i < pieces->len; i++) {
    gboolean nibble = g_array_index(pieces, Piece, i).kind == PIECE_NIBBLE;
    if (half && !nibble)
      break;
    half = nibble && !half;
  }
  if (half)
    g_set_error(error, DEVICE_ERROR, 0, "half a byte is left over: nibbles come in pairs");
  return !half;
}

DeviceTemplate *
device_template_new(const Device *device, const char *text, GError **error)
{
  DeviceTemplate *template = g_new0(DeviceTemplate, 1);
  GError *problem = NULL;
  const char *p = text;

  template->pieces = g_array_new(FALSE, TRUE, sizeof(Piece));
  g_array_set_clear_func(template->pieces, piece_clear);
  for (; *p != '\0' && problem == NULL; p++) {
    const char *next = p;
    if (*p == '{')
      next = read_brace(device, template->pieces, p, &problem);
    else if (*p == '\\')
      next = read_escape(template->pieces, p);
    else
      add_byte(template->pieces, (guint8)*p);
    if (next == NULL && problem == NULL)
      g_set_error(&problem, DEVICE_ERROR, 0,
                  "no such escape: known are \\r \\n \\t \\e \\\\ \\xHH");
    if (problem == NULL)
      p = next;
    else
      g_prefix_error(&problem, "at %zu: ", (gsize)(p - text) + 1);
  }
  if (problem == NULL && check_nibbles(template->pieces, &problem))
    return template;
  g_propagate_error(error, problem);
  device_template_free(template);
  return NULL;
}

void
device_template_free(DeviceTemplate *template)
{
  if (template == NULL)
    return;
  g_array_unref(template->pieces);
  g_free(template);
}

gboolean
device_template_takes(const DeviceTemplate *template, guint parameter)
{
  for (guint i = 0; i < template->pieces->len; i++) {
    const Piece *piece = &g_array_index(template->pieces, Piece, i);
    if (piece->kind != PIECE_BYTES && piece->parameter == parameter)
      return TRUE;
  }
  return FALSE;
}

gboolean
device_template_begins(const DeviceTemplate *template, const char *text)
{
  const Piece *first =
      template->pieces->len > 0 ? &g_array_index(template->pieces, Piece, 0) : NULL;

  return first != NULL && first->kind == PIECE_BYTES && g_str_has_prefix(first->bytes->str, text);
}

gboolean
device_template_is_raw(const DeviceTemplate *template, const Device *device)
{
  for (guint i = 0; i < template->pieces->len; i++) {
    const Piece *piece = &g_array_index(template->pieces, Piece, i);
    if (piece->kind == PIECE_PLAIN && device->parameters[piece->parameter].kind != DEVICE_NUMBER)
      return TRUE;
  }
  return FALSE;
}

/* ---- Filling it in ------------------------------------------------------------------------- */

static void
append_number(GString *out, const Piece *piece, guint number)
{
  static const char small[] = "0123456789abcdef", large[] = "0123456789ABCDEF";
  char digits[64];
  guint n = 0;

  do {
    digits[n++] = (piece->capitals ? large : small)[number % piece->base];
    number /= piece->base;
  } while (number > 0);
  while (n < piece->width)
    digits[n++] = '0';
  while (n > 0)
    g_string_append_c(out, digits[--n]);
}

static gboolean
fits(const DeviceValues *values, const Piece *piece, gint64 number, GError **error)
{
  gint64 max = piece->kind == PIECE_BYTE ? 255 : piece->kind == PIECE_NIBBLE ? 15 : G_MAXUINT32;
  const DeviceParameter *parameter = &values->device->parameters[piece->parameter];

  if (number >= 0 && number <= max)
    return TRUE;
  g_set_error(error, DEVICE_ERROR, 0,
              "%s=%s does not fit what is sent: it would be %" G_GINT64_FORMAT
              " of 0 to %" G_GINT64_FORMAT,
              parameter->name, values->text[piece->parameter], number, max);
  return FALSE;
}

gboolean
device_template_fill(const DeviceTemplate *template, const DeviceValues *values, GString *out,
                     GError **error)
{
  int half = -1;

  for (guint i = 0; i < template->pieces->len; i++) {
    const Piece *piece = &g_array_index(template->pieces, Piece, i);
    if (piece->kind == PIECE_BYTES) {
      g_string_append_len(out, piece->bytes->str, (gssize)piece->bytes->len);
      continue;
    }
    const char *text = values->text[piece->parameter];
    g_assert(text != NULL);
    if (values->device->parameters[piece->parameter].kind != DEVICE_NUMBER) {
      if (piece->kind == PIECE_URL)
        g_string_append_uri_escaped(out, text, NULL, FALSE);
      else
        g_string_append(out, text);
      continue;
    }
    gint64 number = (gint64)values->number[piece->parameter] + piece->added;
    if (!fits(values, piece, number, error))
      return FALSE;
    if (piece->kind == PIECE_PLAIN)
      append_number(out, piece, (guint)number);
    else if (piece->kind == PIECE_BYTE)
      g_string_append_c(out, (char)number);
    else if (half < 0)
      half = (int)number;
    else {
      g_string_append_c(out, (char)(half << 4 | (int)number));
      half = -1;
    }
  }
  return TRUE;
}
