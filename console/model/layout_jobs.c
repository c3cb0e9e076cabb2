#include "model/layout_job.h"
#include "model/layout_private.h"

#include <string.h>

#define MAX_VALUE 4096
#define MAX_WORDS 4096

void
layout_job_word_free(gpointer data)
{
  LayoutJobWord *word = data;

  g_free(word->job);
  g_free(word->key);
  g_free(word->value);
  g_free(word);
}

static void
read_job(LayoutParser *parser, const YamlNode *name, const YamlNode *map)
{
  if (!yaml_check_map(name, map, parser->errors))
    return;
  for (guint i = 0; i < map->n; i++) {
    const YamlNode *key = map->keys[i], *value = map->items[i];
    LayoutJobWord *word = g_new0(LayoutJobWord, 1);
    word->job = g_strdup(name->text);
    word->key = g_strdup(key->text);
    word->line = key->line;
    word->column = key->column;
    word->job_line = name->line;
    word->job_column = name->column;
    if (value->kind != YAML_SCALAR)
      yaml_errors_add(parser->errors, value, "%s of a job wants a text", key->text);
    else if (parser->layout->jobs->len >= MAX_WORDS)
      yaml_errors_add(parser->errors, key, "more than %d words for jobs", MAX_WORDS);
    else if (yaml_read_line(value, MAX_VALUE, &word->value, parser->errors)) {
      g_ptr_array_add(parser->layout->jobs, word);
      continue;
    }
    layout_job_word_free(word);
  }
}

void
layout_read_jobs(LayoutParser *parser)
{
  const YamlNode *map = yaml_get_map(parser->root, "jobs", parser->errors);

  for (guint i = 0; map != NULL && i < map->n; i++)
    read_job(parser, map->keys[i], map->items[i]);
}

guint
layout_n_job_words(const Layout *layout)
{
  return layout->jobs->len;
}

const LayoutJobWord *
layout_job_word(const Layout *layout, guint i)
{
  return layout->jobs->pdata[i];
}

const char *
layout_job_value(const Layout *layout, const char *job, const char *key)
{
  for (guint i = 0; i < layout->jobs->len; i++) {
    const LayoutJobWord *word = layout->jobs->pdata[i];
    if (strcmp(word->job, job) == 0 && strcmp(word->key, key) == 0)
      return word->value;
  }
  return NULL;
}
