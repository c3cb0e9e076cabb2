/* `pult check FILE…`: layouts, jobs, scripts and transcripts. */
#ifndef PULT_MAIN_CHECK_H
#define PULT_MAIN_CHECK_H

int main_check(int argc, char **argv);

#endif
