/* `pult rerun FILE`: a transcript's commands once more, and its figures beside those of before. */
#ifndef PULT_MAIN_RERUN_H
#define PULT_MAIN_RERUN_H

int main_rerun(int argc, char **argv);

#endif
