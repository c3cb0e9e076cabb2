/* Milliseconds of CPU to fold and to expand node sets of the largest sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/nodeset.h"

typedef struct {
  const char *name;
  const char *text; /* NULL: fold names */
  guint n;
  char *(*make)(guint i, guint n, GRand *rand);
  double aim; /* ms; twice as much is the floor */
} Case;

static char *
make_row(guint i, guint n, GRand *rand)
{
  (void)rand;
  return g_strdup_printf("node%u", (i * 7919u) % n); /* 7919 is prime: all of them, shuffled */
}

static char *
make_random(guint i, guint n, GRand *rand)
{
  (void)i;
  return g_strdup_printf("r%dn%d", g_rand_int_range(rand, 0, (gint32)n / 50),
                         g_rand_int_range(rand, 0, 100));
}

/* No two in a box: the worst there is for several numbers. */
static char *
make_diagonal(guint i, guint n, GRand *rand)
{
  (void)n;
  (void)rand;
  return g_strdup_printf("r%un%u", i, i);
}

static void
fold_names(GPtrArray *names)
{
  g_autofree char *folded = nodeset_fold_names((const char *const *)names->pdata, names->len);
  g_assert(*folded);
}

static void
expand(const char *text)
{
  g_autoptr(Nodeset) set = nodeset_parse(text, NULL, NULL, NULL);
  g_assert(set && nodeset_name(set, nodeset_count(set) - 1));
}

static gboolean
run(const Case *c)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  for (guint i = 0; i < c->n; i++)
    g_ptr_array_add(names, c->make(i, c->n, rand));
  clock_t least = G_MAXLONG;
  for (guint round = 0; round < 5; round++) {
    clock_t start = clock();
    if (c->text)
      expand(c->text);
    else
      fold_names(names);
    clock_t took = clock() - start;
    least = MIN(least, took);
  }
  double ms = (double)least * 1000 / CLOCKS_PER_SEC;
  printf("nodeset %-38s %8.1f ms  (aim %.0f)%s\n", c->name, ms, c->aim,
         ms > 2 * c->aim ? "  TOO SLOW" : "");
  return ms <= 2 * c->aim;
}

int
main(void)
{
  static const Case cases[] = {
      {"fold 10,000 names, one number", NULL, 10000, make_row, 20},
      {"fold 10,000 names, two at random", NULL, 10000, make_random, 100},
      {"fold 10,000 names on a diagonal", NULL, 10000, make_diagonal, 500},
      {"expand a[00001-65536]", "a[00001-65536]", 0, NULL, 50},
      {"expand a[1-256]b[1-256]", "a[1-256]b[1-256]", 0, NULL, 50},
      {"expand a[1-256]b[1-255]!a7b7", "a[1-256]b[1-255]!a7b7", 0, NULL, 200},
  };
  gboolean fast = TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    fast = run(&cases[i]) && fast;
  return fast ? EXIT_SUCCESS : EXIT_FAILURE;
}
