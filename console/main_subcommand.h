/* What stands behind `pult`, in the order `pult --help` lists it. */
#ifndef PULT_MAIN_SUBCOMMAND_H
#define PULT_MAIN_SUBCOMMAND_H

typedef struct {
  const char *name;
  int (*run)(int argc, char **argv); /* ARGV[0] is NAME; the process's exit status */
  const char *about;
} Subcommand;

extern const Subcommand main_subcommands[]; /* ends with a NULL name */
/* NULL: there is none of that name. */
const Subcommand *main_subcommand_find(const char *name);
int main_subcommand_run(const Subcommand *sub, int argc, char **argv);

#endif
