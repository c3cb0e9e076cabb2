#include "core/complete.h"

#include "core/command_words.h"
#include "model/keyboard.h"

#include <string.h>

typedef enum {
  SLOT_END,
  SLOT_WORDS, /* one of those in the form's text */
  SLOT_SET,
  SLOT_BOOT, /* label of a boot, or nodes; a group needs its @ */
  SLOT_LOAD, /* label of a load */
  SLOT_RUN,  /* label of a boot or a load */
  SLOT_JOB,
  SLOT_SOURCES, /* one or more */
  SLOT_FIGURE,
  SLOT_PATH,
  SLOT_VALUE, /* of the path before it */
  SLOT_ENTRY,
  SLOT_KEYS, /* one or more */
  SLOT_STAGE,
  SLOT_SHOWN, /* a seat, `next` or `back` */
  SLOT_OWN,   /* a word of the operator's own */
} SlotKind;

typedef struct {
  SlotKind kind;
  const char *words; /* blanks between */
} Slot;

typedef struct {
  const char *verb, *first; /* first: the word behind the verb that tells forms apart; NULL */
  Slot slots[3];
  const char *options; /* blanks between; `|` between those that exclude one another */
} Form;

static const Form forms[] = {
    {"power",
     NULL,
     {{SLOT_WORDS, "status on off cycle reset"}, {SLOT_SET, NULL}},
     "soft|hard stagger including"},
    {"boot", NULL, {{SLOT_SET, NULL}}, "via entry cold|warm stagger as including"},
    {"wait", "boot", {{SLOT_BOOT, NULL}, {SLOT_STAGE, NULL}}, "at-least timeout"},
    {"wait", "load", {{SLOT_LOAD, NULL}}, "at-least timeout"},
    {"wait", "power", {{SLOT_SET, NULL}, {SLOT_WORDS, "on off"}}, "at-least timeout"},
    {"load", "start", {{SLOT_JOB, NULL}, {SLOT_WORDS, "on"}, {SLOT_SET, NULL}}, "cold|warm for as"},
    {"load", "stop", {{SLOT_LOAD, NULL}}, ""},
    {"load", "leave", {{SLOT_LOAD, NULL}}, ""},
    {"measure", NULL, {{SLOT_SOURCES, NULL}}, "for|during window as"},
    {"expect", NULL, {{SLOT_FIGURE, NULL}, {SLOT_WORDS, "< <= > >= within"}, {SLOT_OWN, NULL}}, ""},
    {"set", NULL, {{SLOT_PATH, NULL}, {SLOT_VALUE, NULL}}, ""},
    {"get", NULL, {{SLOT_PATH, NULL}}, ""},
    {"pxe", "show", {{SLOT_END, NULL}}, ""},
    {"pxe",
     "set",
     {{SLOT_WORDS, "default-entry timeout total-timeout title password theme"}, {SLOT_OWN, NULL}},
     ""},
    {"pxe", "undo", {{SLOT_END, NULL}}, ""},
    {"reserve", NULL, {{SLOT_SET, NULL}, {SLOT_WORDS, "until"}, {SLOT_OWN, NULL}}, ""},
    {"release", NULL, {{SLOT_SET, NULL}}, ""},
    {"console", NULL, {{SLOT_SET, NULL}}, "off"},
    {"keys", NULL, {{SLOT_SET, NULL}, {SLOT_KEYS, NULL}}, "including"},
    {"type", NULL, {{SLOT_SET, NULL}, {SLOT_OWN, NULL}}, "including"},
    {"route", NULL, {{SLOT_SHOWN, NULL}}, "including"},
    {"mark", NULL, {{SLOT_OWN, NULL}}, ""},
    {"sleep", NULL, {{SLOT_OWN, NULL}}, ""},
    {"stop", NULL, {{SLOT_END, NULL}}, ""},
    {"quit", NULL, {{SLOT_END, NULL}}, ""},
};

/* Options that take a word, and which; those not here stand alone. */
static const struct {
  const char *name;
  Slot slot;
} arguments[] = {
    {"via", {SLOT_WORDS, "pxe disk keys kexec"}},
    {"entry", {SLOT_ENTRY, NULL}},
    {"including", {SLOT_WORDS, "in-use"}},
    {"during", {SLOT_RUN, NULL}},
    {"as", {SLOT_OWN, NULL}},
    {"stagger", {SLOT_OWN, NULL}},
    {"for", {SLOT_OWN, NULL}},
    {"window", {SLOT_OWN, NULL}},
    {"timeout", {SLOT_OWN, NULL}},
    {"at-least", {SLOT_OWN, NULL}},
};

typedef struct {
  const CoreState *state;
  const Layout *layout;
  const JobSet *jobs;
  const GArray *words;
  guint from, n;    /* the words of this command before the one being typed */
  const char *part; /* what of that is typed */
  GPtrArray *found;
} Completer;

static const char *
word(const Completer *completer, guint i)
{
  return words_at(completer->words, completer->from + i)->text;
}

static void
offer(Completer *completer, const char *candidate)
{
  if (!g_str_has_prefix(candidate, completer->part))
    return;
  for (guint i = 0; i < completer->found->len; i++) {
    if (g_str_equal(completer->found->pdata[i], candidate))
      return;
  }
  g_ptr_array_add(completer->found, g_strdup(candidate));
}

static void
offer_words(Completer *completer, const char *words)
{
  g_auto(GStrv) each = g_strsplit(words, " ", -1);
  for (guint i = 0; each[i]; i++) {
    if (*each[i])
      offer(completer, each[i]);
  }
}

/* ---- Names of the lab --------------------------------------------------------------------------
 */

static void
offer_nodes(Completer *completer)
{
  /* Names are unique, so that offer() need not compare thousands of them with one another. */
  for (NodeId id = 0; id < completer->layout->n_nodes; id++) {
    const LayoutNode *node = &completer->layout->nodes[id];
    if ((node->kind == NODE_CLIENT || node->kind == NODE_SERVER) &&
        g_str_has_prefix(node->name, completer->part))
      g_ptr_array_add(completer->found, g_strdup(node->name));
  }
}

static void
offer_group(Completer *completer, const char *name, gboolean bare)
{
  g_autofree char *with_sign = g_strconcat("@", name, NULL);
  if (bare && layout_find(completer->layout, name) == NODE_NONE)
    offer(completer, name);
  else
    offer(completer, with_sign);
  if (completer->part[0] == '@')
    offer(completer, with_sign);
}

static void
offer_set(Completer *completer, gboolean bare)
{
  for (guint i = 0; i < completer->layout->n_rooms; i++)
    offer_group(completer, completer->layout->rooms[i].name, bare);
  for (guint i = 0; i < completer->layout->n_blocks; i++)
    offer_group(completer, completer->layout->blocks[i].name, bare);
  offer_words(completer, "@all @on @off @unknown @failed @booting @inuse @free");
  offer_nodes(completer);
}

static void
offer_labels(Completer *completer, gboolean boots, gboolean loads)
{
  for (guint i = 0; boots && i < state_n_boots(completer->state); i++)
    if (*state_boot(completer->state, i)->label)
      offer(completer, state_boot(completer->state, i)->label);
  for (guint i = 0; loads && i < state_n_loads(completer->state); i++)
    if (*state_load(completer->state, i)->label)
      offer(completer, state_load(completer->state, i)->label);
}

static void
offer_format(Completer *completer, const char *format, const char *first, const char *second)
{
  g_autofree char *text = g_strdup_printf(format, first, second);
  offer(completer, text);
}

static void
offer_sources(Completer *completer)
{
  const Layout *layout = completer->layout;
  offer_words(completer, "bond seats server");
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutServer *server = layout->nodes[id].as_server;
    for (guint p = 0; server && p < server->n_ports; p++)
      offer_format(completer, "port:%s%s", server->ports[p].name, "");
    for (guint b = 0; server && b < server->n_bonds; b++)
      offer_format(completer, "bond:%s%s", server->bonds[b].name, "");
  }
  for (guint l = 0; l < layout->n_links; l++)
    offer_format(completer, "link:%s%s", layout->links[l].name, "");
}

static void
offer_paths(Completer *completer)
{
  const Layout *layout = completer->layout;
  for (NodeId id = 0; id < layout->n_nodes; id++) {
    const LayoutNode *node = &layout->nodes[id];
    const LayoutServer *server = node->as_server;
    for (guint b = 0; server && b < server->n_bonds; b++) {
      offer_format(completer, "%s/%s.policy", node->name, server->bonds[b].name);
      offer_format(completer, "%s/%s.era", node->name, server->bonds[b].name);
    }
    for (guint p = 0; server && p < server->n_ports; p++)
      offer_format(completer, "%s/%s.state", node->name, server->ports[p].name);
    if (server) {
      offer_format(completer, "%s.nfsd%s", node->name, "");
      offer_format(completer, "%s.transmit-ceiling%s", node->name, "");
      offer_format(completer, "%s.disk-rate%s", node->name, "");
    }
    /* Of clients only when one is begun, or the list would hold little else. */
    if (node->kind == NODE_CLIENT && *completer->part) {
      offer_format(completer, "%s/eth0.state%s", node->name, "");
      offer_format(completer, "%s.mac%s", node->name, "");
    }
  }
  for (guint l = 0; l < layout->n_links; l++)
    offer_format(completer, "link:%s.state%s", layout->links[l].name, "");
}

static void
offer_values(Completer *completer, const char *path)
{
  if (g_str_has_suffix(path, ".policy")) {
    for (int policy = BOND_LAYER2; policy <= BOND_VLAN_SRCMAC; policy++)
      offer(completer, bond_policy_name((BondPolicy)policy));
  } else if (g_str_has_suffix(path, ".era")) {
    for (int era = BOND_ERA_2_6_32; era <= BOND_ERA_5_18; era++)
      offer(completer, bond_era_name((BondEra)era));
  } else if (g_str_has_suffix(path, ".state")) {
    offer_words(completer, "up down");
  } else if (g_str_has_suffix(path, ".transmit-ceiling") || g_str_has_suffix(path, ".disk-rate")) {
    offer(completer, "none");
  }
}

static void
offer_figure(const char *label, const char *name, const Figure *figure, gpointer data)
{
  (void)figure;
  offer_format(data, "%s.%s", label, name);
}

static void
offer_figures(Completer *completer)
{
  g_autofree char *label = g_strndup(completer->part, strcspn(completer->part, "."));
  if (strchr(completer->part, '.'))
    figures_visit(state_figures(completer->state), label, offer_figure, completer);
  else
    offer_labels(completer, TRUE, TRUE);
}

/* ---- Forms -------------------------------------------------------------------------------------
 */

static void
offer_slot(Completer *completer, const Slot *slot)
{
  switch (slot->kind) {
  case SLOT_WORDS:
    offer_words(completer, slot->words);
    break;
  case SLOT_SET:
    offer_set(completer, TRUE);
    break;
  case SLOT_BOOT:
    offer_labels(completer, TRUE, FALSE);
    offer_set(completer, FALSE);
    break;
  case SLOT_LOAD:
    offer_labels(completer, FALSE, TRUE);
    break;
  case SLOT_RUN:
    offer_labels(completer, TRUE, TRUE);
    break;
  case SLOT_JOB:
    for (guint i = 0; completer->jobs && i < completer->jobs->n; i++)
      offer(completer, completer->jobs->jobs[i]->name);
    break;
  case SLOT_SOURCES:
    offer_sources(completer);
    break;
  case SLOT_FIGURE:
    offer_figures(completer);
    break;
  case SLOT_PATH:
    offer_paths(completer);
    break;
  case SLOT_VALUE:
    offer_values(completer, word(completer, completer->n - 1));
    break;
  case SLOT_KEYS:
    for (const char *const *key = keyboard_keys(); *key; key++)
      offer(completer, *key);
    break;
  case SLOT_STAGE:
    for (Stage stage = 1; stage < state_n_stages(completer->state); stage++)
      offer(completer, state_stage_name(completer->state, stage));
    break;
  case SLOT_SHOWN:
    offer_words(completer, "next back");
    offer_nodes(completer);
    break;
  case SLOT_ENTRY:
    if (completer->layout->boot_entry)
      offer(completer, completer->layout->boot_entry);
    break;
  case SLOT_END:
  case SLOT_OWN:
    break;
  }
}

static const Slot *
argument_of(const char *option)
{
  for (guint i = 0; i < G_N_ELEMENTS(arguments); i++) {
    if (g_str_equal(arguments[i].name, option))
      return &arguments[i].slot;
  }
  return NULL;
}

static gboolean
has_word(const char *words, const char *wanted)
{
  g_auto(GStrv) each = g_strsplit_set(words, " |", -1);
  return *wanted && g_strv_contains((const char *const *)each, wanted);
}

/* Behind the slots: the argument of the option before, or the options that are not there yet. */
static void
offer_options(Completer *completer, const Form *form, guint from)
{
  const char *last = completer->n > from ? word(completer, completer->n - 1) : "";
  const Slot *argument = has_word(form->options, last) ? argument_of(last) : NULL;
  if (argument) {
    offer_slot(completer, argument);
    return;
  }
  g_auto(GStrv) groups = g_strsplit(form->options, " ", -1);
  for (guint i = 0; groups[i]; i++) {
    gboolean there = FALSE;
    for (guint k = from; k < completer->n; k++)
      there = there || has_word(groups[i], word(completer, k));
    g_auto(GStrv) options = g_strsplit(groups[i], "|", -1);
    for (guint k = 0; options[k] && !there; k++) {
      if (*options[k])
        offer(completer, options[k]);
    }
  }
}

/* A source is named once. */
static void
offer_other_sources(Completer *completer, guint from)
{
  offer_sources(completer);
  for (guint k = from; k < completer->n; k++) {
    for (guint i = completer->found->len; i > 0; i--) {
      if (!g_str_equal(completer->found->pdata[i - 1], word(completer, k)))
        continue;
      g_free(completer->found->pdata[i - 1]);
      g_ptr_array_remove_index(completer->found, i - 1);
    }
  }
}

/* FROM: words before the first slot. */
static void
offer_form(Completer *completer, const Form *form, guint from)
{
  for (guint s = 0; s < G_N_ELEMENTS(form->slots); s++) {
    const Slot *slot = &form->slots[s];
    if (slot->kind == SLOT_END)
      break;
    if (completer->n == from) {
      offer_slot(completer, slot);
      return;
    }
    guint first = from++;
    gboolean several = slot->kind == SLOT_SOURCES || slot->kind == SLOT_KEYS;
    while (several && from < completer->n && !has_word(form->options, word(completer, from)))
      from++;
    if (slot->kind == SLOT_SOURCES && from == completer->n)
      offer_other_sources(completer, first);
    else if (several && from == completer->n)
      offer_slot(completer, slot);
  }
  offer_options(completer, form, from);
}

static gboolean
is_prefix(const char *text)
{
  return g_str_equal(text, "plan") || g_str_equal(text, "try");
}

/* N words before are `plan` and `try`. */
static void
offer_verbs(Completer *completer, guint n)
{
  for (const VerbInfo *verb = command_verbs; verb->name; verb++) {
    gboolean known = is_prefix(verb->name);
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++)
      known = known || g_str_equal(forms[i].verb, verb->name);
    for (guint i = 0; i < n; i++) /* each once */
      known = known && !word_is(words_at(completer->words, completer->from - 1 - i), verb->name);
    if (known)
      offer(completer, verb->name);
  }
}

static void
offer_next(Completer *completer)
{
  guint prefixes = 0;
  for (; completer->n > 0 && is_prefix(word(completer, 0)); completer->n--) {
    completer->from++;
    prefixes++;
  }
  if (completer->n == 0) {
    offer_verbs(completer, prefixes);
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
    const Form *form = &forms[i];
    if (!g_str_equal(form->verb, word(completer, 0)))
      continue;
    if (!form->first)
      offer_form(completer, form, 1);
    else if (completer->n == 1)
      offer(completer, form->first);
    else if (g_str_equal(form->first, word(completer, 1)))
      offer_form(completer, form, 2);
  }
}

/* Of a node set only what stands behind its last operator is being typed; NULL within brackets and
 * behind them, where nothing is to be told. */
static const char *
last_operand(const char *typed)
{
  const char *part = typed;
  gboolean bracket = FALSE;
  for (const char *p = typed; *p; p++) {
    bracket = bracket ? *p != ']' : *p == '[';
    if (!bracket && strchr(",!&^", *p))
      part = p + 1;
  }
  return strchr(part, '[') ? NULL : part;
}

char **
complete_line(const CoreState *state, const JobSet *jobs, const char *text, gsize *start)
{
  guint column;
  gsize length = strlen(text);
  g_autoptr(GArray) words = words_read(text, COMMAND_LINE_MAX, &column, NULL);
  GPtrArray *found = g_ptr_array_new();
  Completer completer = {state, state_layout(state), jobs, words, 0, 0, "", found};
  *start = length;
  if (words) {
    guint n = words->len;
    const Word *last = n ? words_at(words, n - 1) : NULL;
    gboolean typing = last && last->end == length && !last->separator;
    for (guint i = 0; i < n; i++) {
      if (words_at(words, i)->separator)
        completer.from = i + 1;
    }
    completer.n = n - completer.from - (typing ? 1 : 0);
    const char *part = typing ? last_operand(text + last->start) : "";
    if (typing && part)
      *start = (gsize)(part - text);
    completer.part = part;
    if (part && !(typing && last->quoted))
      offer_next(&completer);
  }
  g_ptr_array_add(found, NULL);
  return (char **)g_ptr_array_free(found, FALSE);
}

char *
complete_common(char **words)
{
  gsize length = strlen(words[0]);
  for (guint i = 1; words[i]; i++) {
    gsize same = 0;
    while (same < length && words[i][same] == words[0][same])
      same++;
    length = same;
  }
  return g_strndup(words[0], length);
}
