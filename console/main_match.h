#ifndef PULT_MAIN_MATCH_H
#define PULT_MAIN_MATCH_H

/* `pult match FILE… [--stages NAME,…]`: what the lines of a log tell of the stages of boots. */
int main_match(int argc, char **argv);

#endif
