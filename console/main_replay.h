/* `pult replay FILE`: in the console, as one screen of text, or verified. */
#ifndef PULT_MAIN_REPLAY_H
#define PULT_MAIN_REPLAY_H

int main_replay(int argc, char **argv);

#endif
