/* Sessions without a screen: `pult run SCRIPT` and `pult do COMMAND`. */
#ifndef PULT_MAIN_RUN_H
#define PULT_MAIN_RUN_H

int main_run(int argc, char **argv);
int main_do(int argc, char **argv);

#endif
