/* `pult nodeset`: folds, expands and counts node sets as ClusterShell's `nodeset` does. */
#ifndef PULT_MAIN_NODESET_H
#define PULT_MAIN_NODESET_H

/* ARGV[0] is the subcommand's name. Prints to stdout, complaints to stderr. Returns the exit
 * status: 0, 1 when a set or the output is bad, 2 for a wrong command line. */
int main_nodeset(int argc, char **argv);

#endif
