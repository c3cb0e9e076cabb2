#include <string.h>

#include "backends/ssh/ssh_menu.h"

/* What a line of the input has. */
#define BASE64_COLUMNS 76

/* Arguments: what it does (set, undo), the record of it, how long that is; then of each file its
 * path, its sha256 as it was and as it is to be, and its length then.
 *
 * A link stays one: what it leads to is written. A copy comes first, for its owner and mode.
 * Everything is there, whole and on the disk before the first name is changed; a connection that
 * ends before leaves all as it was, one that ends behind it changes nothing any more. */
static const char writer[] =
    "trap '' HUP PIPE; "
    "temps= kind=$1 record=$2 length=$3; "
    "shift 3; "
    "say() { printf '%s\\n' \"$1\" >&2; exit 1; }; "
    "clean() { printf '%s\\n' \"$temps\" |"
    " while IFS= read -r temp; do [ -z \"$temp\" ] || rm -f \"$temp\"; done; }; "
    "trap clean EXIT; "
    "sum() { sha256sum <\"$1\" | cut -c 1-64; }; "
    "to_disk() { sync \"$1\" 2>/dev/null || sync; }; "
    "temp() {"
    " made=$(mktemp \"$1.pult-XXXXXX\") || say \"nothing can be written beside $1\";"
    " temps=\"$temps\n$made\"; }; "
    "take() {"
    " while IFS= read -r line && [ \"$line\" != . ]; do printf '%s\\n' \"$line\"; done |"
    " base64 -d >\"$1\" && [ \"$(wc -c <\"$1\")\" -eq \"$2\" ] ||"
    " say 'it did not arrive whole'; }; "
    "copy() {"
    " temp \"$2\"; cp -p \"$1\" \"$made\" || say \"$1 cannot be copied\";"
    " [ \"$(stat -c %u:%g:%a \"$1\")\" = \"$(stat -c %u:%g:%a \"$made\")\" ] ||"
    " say \"the owner and mode of $1 cannot be kept\"; }; "
    "n=$(($# / 4)) i=0; "
    "while [ $i -lt $n ]; do"
    " path=$1 was=$2 now=$3 size=$4 old=; shift 4; i=$((i + 1));"
    " real=$(readlink -f \"$path\") && [ -f \"$real\" ] || say \"$path is no file any more\";"
    " if [ $kind = set ]; then copy \"$real\" \"$path\"; old=$made; to_disk \"$old\"; fi;"
    " copy \"$real\" \"$real\"; new=$made;"
    " [ \"$(sum \"$new\")\" = $was ] || exit 41;"
    " mode=$(stat -c %a \"$real\"); chmod u+w \"$new\";"
    " take \"$new\" $size; chmod $mode \"$new\";"
    " [ \"$(sum \"$new\")\" = $now ] || say 'it did not arrive as it was sent';"
    " to_disk \"$new\";"
    " set -- \"$@\" \"$path\" \"$real\" \"$new\" \"$old\" $was; "
    "done; "
    "if [ $kind = set ]; then"
    " temp \"$record\"; undo=$made; take \"$undo\" $length; to_disk \"$undo\"; "
    "fi; "
    "i=0; "
    "while [ $i -lt $n ]; do"
    " [ \"$(sum \"$2\")\" = $5 ] || exit 41;"
    " set -- \"$@\" \"$1\" \"$2\" \"$3\" \"$4\" $5; shift 5; i=$((i + 1)); "
    "done; "
    "i=0; "
    "while [ $i -lt $n ]; do"
    " [ -z \"$4\" ] || mv -f \"$4\" \"$1.pult-old\" || exit 1;"
    " set -- \"$@\" \"$1\" \"$2\" \"$3\" \"$4\" $5; shift 5; i=$((i + 1)); "
    "done; "
    "[ $kind != set ] || mv -f \"$undo\" \"$record\" || exit 1; "
    "while [ $# -gt 0 ]; do"
    " mv -f \"$3\" \"$2\" || exit 1; to_disk \"${2%/*}\";"
    " [ $kind != undo ] || rm -f \"$1.pult-old\"; shift 5; "
    "done; "
    "[ $kind != undo ] || rm -f \"$record\"";

static void
add_word(GString *line, const char *word)
{
  g_autofree char *quoted = g_shell_quote(word);
  g_string_append_printf(line, " %s", quoted);
}

char *
ssh_menu_write_line(const PxeEdit *edit, const char *root)
{
  g_autoptr(GString) line = g_string_new("exec sh -c");
  g_autofree char *undo = pxe_edit_undo_path(edit), *record = g_build_filename(root, undo, NULL);
  GString *undo_text = pxe_edit_undo_text(edit);
  guint n;
  const PxeWrite *writes = pxe_edit_writes(edit, &n);
  add_word(line, writer);
  g_string_append(line, " pult");
  add_word(line, pxe_edit_is_undo(edit) ? "undo" : "set");
  add_word(line, record);
  g_string_append_printf(line, " %" G_GSIZE_FORMAT, undo_text->len);
  g_string_free(undo_text, TRUE);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_build_filename(root, writes[i].path, NULL);
    add_word(line, path);
    g_string_append_printf(line, " %s %s %" G_GSIZE_FORMAT, writes[i].was, writes[i].now,
                           writes[i].text->len);
  }
  return g_strdup(line->str);
}

static void
add_file(GString *input, const GString *text)
{
  g_autofree char *base64 = g_base64_encode((const guchar *)text->str, text->len);
  for (const char *p = base64; *p != '\0'; p += strnlen(p, BASE64_COLUMNS))
    g_string_append_printf(input, "%.*s\n", BASE64_COLUMNS, p);
  g_string_append(input, ".\n");
}

GString *
ssh_menu_write_input(const PxeEdit *edit)
{
  GString *input = g_string_new(NULL), *undo_text = pxe_edit_undo_text(edit);
  guint n;
  const PxeWrite *writes = pxe_edit_writes(edit, &n);
  for (guint i = 0; i < n; i++)
    add_file(input, writes[i].text);
  if (!pxe_edit_is_undo(edit))
    add_file(input, undo_text);
  g_string_free(undo_text, TRUE);
  return input;
}
