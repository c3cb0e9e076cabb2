/* `pult hash`: how many seats each port of a layout's bonds serves, under any policy and era. */
#ifndef PULT_MAIN_HASH_H
#define PULT_MAIN_HASH_H

int main_hash(int argc, char **argv);

#endif
