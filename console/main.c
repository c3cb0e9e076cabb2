/* pult: a console for rooms of diskless machines. Finds the subcommand and hands over. */
#include <locale.h>
#include <string.h>

#include "main_check.h"
#include "main_console.h"
#include "main_device.h"
#include "main_hash.h"
#include "main_help.h"
#include "main_lab.h"
#include "main_match.h"
#include "main_nodeset.h"
#include "main_plain.h"
#include "main_replay.h"
#include "main_rerun.h"
#include "main_run.h"
#include "main_say.h"
#include "main_subcommand.h"
#include "model/units.h"

const Subcommand main_subcommands[] = {
    {"run", main_run, "run a script without a screen"},
    {"do", main_do, "carry out one line of commands"},
    {"check", main_check,
     "tell what is wrong with layouts, jobs, devices, stages, scripts, transcripts"},
    {"replay", main_replay, "show or verify a transcript"},
    {"rerun", main_rerun, "carry a transcript's commands out again and compare figures"},
    {"device", main_device, "say what a video switch takes and is sent"},
    {"hash", main_hash, "say which ports of a bond serve which seats"},
    {"match", main_match, "try what the lines of a log tell of the stages of boots"},
    {"nodeset", main_nodeset, "fold, expand or count node sets"},
    {"help", main_help, "tell about a command, a subcommand or the keys"},
    {NULL, NULL, NULL},
};

const Subcommand *
main_subcommand_find(const char *name)
{
  for (const Subcommand *sub = main_subcommands; sub->name != NULL; sub++)
    if (strcmp(name, sub->name) == 0)
      return sub;
  return NULL;
}

int
main_subcommand_run(const Subcommand *sub, int argc, char **argv)
{
  g_autofree char *name = g_strconcat("pult ", sub->name, NULL);
  g_set_prgname(name);
  return sub->run(argc, argv);
}

static int
console(const MainOptions *options)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Lab) lab = lab_open(options, NULL, NULL, TRUE, &error);
  if (lab == NULL)
    return main_fail(error);
  term_set_theme(options->theme);
  term_set_mouse(!options->no_mouse);
  int status = options->plain ? main_plain_session(lab->session, lab->real)
                              : main_console_session(lab->session, lab->jobs, lab->real,
                                                     options->speed, &error);
  /* Its screen is gone; what goes wrong in the end is said in the shell. */
  session_watch(lab->session, NULL, NULL, NULL);
  SessionRecord record;
  session_record_status(lab->session, &record);
  if (error != NULL || record.record_error != NULL)
    main_complain(error != NULL ? error->message : record.record_error);
  else if (record.record_path != NULL)
    printf("The transcript is %s\n", record.record_path);
  return main_finish_output(status);
}

static int
version(void)
{
  g_autofree char *backends = lab_backends();
  printf("pult %s\nbackends: %s\n", PULT_VERSION, backends);
  return main_finish_output(0);
}

static int
fail_unknown(const char *word)
{
  const char *words[G_N_ELEMENTS(main_subcommands)];
  for (gsize i = 0; i < G_N_ELEMENTS(main_subcommands); i++)
    words[i] = main_subcommands[i].name;
  const char *near = units_nearest_word(word, words);
  g_autofree char *message =
      main_subcommand_find(word) != NULL
          ? g_strdup_printf("a subcommand comes first, its options behind it: `pult %s …`", word)
      : near != NULL
          ? g_strdup_printf("there is no subcommand `%s`; is `%s` meant?", word, near)
          : g_strdup_printf("there is no subcommand `%s`; `pult --help` lists them", word);
  main_complain(message);
  return EXIT_USAGE;
}

/* For `pult --help`. */
static char *
summary(void)
{
  g_autoptr(GString) text = g_string_new("A console for rooms of diskless machines.\n\n"
                                         "Instead of the console:\n");
  for (const Subcommand *sub = main_subcommands; sub->name != NULL; sub++)
    g_string_append_printf(text, "  %-8s %s\n", sub->name, sub->about);
  g_string_append(text, "`pult SUBCOMMAND --help` has the options of each.");
  return g_string_free(g_steal_pointer(&text), FALSE);
}

int
main(int argc, char **argv)
{
  main_begin();
  setlocale(LC_CTYPE, "");
  const Subcommand *sub = argc > 1 ? main_subcommand_find(argv[1]) : NULL;
  if (sub != NULL)
    return main_subcommand_run(sub, argc - 1, argv + 1);
  g_autoptr(GError) error = NULL;
  g_auto(MainOptions) options = {0};
  g_autofree char *about = summary();
  if (!main_options_parse(&options, OPTIONS_CONSOLE, "[SUBCOMMAND …]", about, &argc, &argv, &error))
    return main_fail(error);
  if (options.version)
    return version();
  return argc > 1 ? fail_unknown(argv[1]) : console(&options);
}
