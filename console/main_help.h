/* `pult help`: the commands of the `:` line and of scripts, the subcommands, the keys and views. */
#ifndef PULT_MAIN_HELP_H
#define PULT_MAIN_HELP_H

/* help                 the table of commands
 * help COMMAND         all about one; of a subcommand its `--help`
 * help bindings|views|commands|jobs|layouts|scripts|subcommands
 *                      a table of them: `  NAME  what it is`, at least two blanks between
 * help names views|…   their names alone, one a line, for the completion of a shell
 *
 * ARGV[0] is `help` itself. Prints to stdout; what is not known is told on stderr, with the nearest
 * word. The process's exit status: 0, 2 for usage, 3 when stdout could not be written. */
int main_help(int argc, char **argv);

#endif
